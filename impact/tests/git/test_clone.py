import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest

from impact.git.clone_trees import CloneTrees, parse_commits
from impact.repository import Repository
from impact.source.models import TreeCommit
from impact.testing.clones import BEGIN, ODD, building, git, lines, needs_git

pytestmark = needs_git


def read(folder: Path, branch: str | None = None) -> list[TreeCommit]:
    trees = CloneTrees(folder, branch)
    return list(trees.read_commits(trees.list_line()))


Row = tuple[str | None, str | None, int, int]


def rows(commit: TreeCommit) -> list[Row]:
    """The path before and after, and the added and deleted lines of each file."""
    return [
        (each.old.path if each.old else None, each.new.path if each.new else None, each.added, each.deleted)
        for each in commit.changes
    ]


class TestCommits:
    def test_files_are_as_github_tells_of_them(self, made_clones: Path) -> None:
        told = {commit.message.partition("\n")[0]: rows(commit) for commit in read(made_clones)}
        assert told["Begin"] == [
            (None, "a.py", 10, 0),
            (None, "gone.py", 3, 0),
            (None, "logo.png", 0, 0),
            (None, "old.py", 20, 0),
        ]
        assert told["Change (#1)"] == [
            ("a.py", "a.py", 2, 0),
            ("logo.png", "logo.png", 0, 0),
            (None, "new.py", 4, 0),
        ]
        assert sorted(told["Move (#2)"]) == [("gone.py", None, 0, 3), ("old.py", "deep/new.py", 0, 0)]
        assert told["Move and change (#3)"] == [("a.py", "b.py", 0, 1)]
        assert told["Nothing (#6)"] == []

    def test_a_merge_is_what_it_brings_to_the_branch(self, made_clones: Path) -> None:
        told = {commit.message.partition("\n")[0]: rows(commit) for commit in read(made_clones)}
        assert told["Merge pull request #5 from octo/beside"] == [(None, "c.py", 2, 0)]
        assert "Beside" not in told

    @pytest.mark.parametrize(
        ("subject", "is_seen"),
        [
            ("Merge branch 'main' into mine", True),
            ("Merge branch 'main' of github.com:octo/engine", True),
            ("Merge remote-tracking branch 'origin/main'", True),
            ("Merge branch 'mine'", False),
            ("Bring up to date\n\nMerge branch 'main' into mine", False),
        ],
    )
    def test_what_was_merged_while_somebody_worked_on_a_copy_is_there(
        self, tmp_path: Path, subject: str, *, is_seen: bool
    ) -> None:
        with building(tmp_path / "copies") as builder:
            start = builder.commit("Begin", {"a.py": lines(1)})
            theirs = builder.commit("Merged meanwhile (#1)", {"b.py": lines(2)}, branch="there", start=start)
            theirs = builder.commit("Other", {"d.py": lines(1)}, branch="there", start=theirs)
            theirs = builder.commit("Merge branch 'main' into x", branch="there", start=start, merged=[theirs])
            builder.commit("Own work", {"c.py": lines(3)})
            builder.commit(subject, {"b.py": lines(2), "d.py": lines(1)}, merged=[theirs])
            builder.commit("Goes on (#2)", {"c.py": lines(4)})
        told = {commit.message: rows(commit) for commit in read(tmp_path / "copies")}
        assert told["Goes on (#2)"] == [("c.py", "c.py", 1, 0)]
        assert told.get("Merged meanwhile (#1)", []) == [(None, "b.py", 2, 0)] * is_seen
        assert next(iter(told)) == "Begin"

    def test_odd_paths_stay_what_they_are(self, made_clones: Path) -> None:
        told = {commit.message.partition("\n")[0]: rows(commit) for commit in read(made_clones)}
        assert sorted(told["Odd (#7)"]) == [(None, path, 2, 0) for path in sorted(ODD)]
        assert sorted(told["Odd go (#9)"]) == [(path, None, 0, 2) for path in sorted(ODD)]

    def test_what_is_no_utf_8_is_shown_all_the_same(self, made_clones: Path) -> None:
        commit = read(made_clones)[-2]
        assert commit.message == "Latin \ufffd (#8)"
        assert rows(commit) == [(None, "latin-\ufffd.py", 1, 0)]

    def test_they_come_oldest_first_with_time_author_and_message(self, made_clones: Path) -> None:
        commits = read(made_clones)
        times = [commit.committed_at for commit in commits]
        assert (len(commits), times) == (10, sorted(times))
        assert (commits[1].author, commits[1].message) == ("Ada", "Change (#1)\n\nWhy.\n\nTwice.")
        assert commits[-1].sha == git(made_clones, "rev-parse", "HEAD")

    def test_who_stops_reading_leaves_no_process(self, made_clones: Path) -> None:
        trees = CloneTrees(made_clones)
        reading = trees.read_commits(trees.list_line())
        assert next(reading).message == "Begin"
        # an open process or pipe would be a warning, which is an error
        del reading

    def test_one_with_a_wrong_clock_hides_nothing(self, tmp_path: Path) -> None:
        folder = tmp_path / "clocks"
        with building(folder) as builder:
            builder.commit("First (#1)", {"a": b"1"}, at=BEGIN)
            builder.commit("Wrong (#2)", {"a": b"2"}, at=datetime(1999, 1, 1, tzinfo=UTC))
            builder.commit("Third (#3)", {"a": b"3"}, at=BEGIN.replace(year=2026))
        assert [commit.message for commit in read(folder)] == ["First (#1)", "Wrong (#2)", "Third (#3)"]

    def test_a_long_message_is_cut(self, tmp_path: Path) -> None:
        with building(tmp_path / "long") as builder:
            builder.commit("Long (#1)\n\n" + "word " * 100_000, {"a": b"1"})
        (commit,) = read(tmp_path / "long")
        assert commit.message.startswith("Long (#1)\n\nword")
        assert len(commit.message) <= 20_000

    @pytest.mark.parametrize("size", [1, 2, 7, 1 << 16])
    def test_records_are_the_same_in_any_pieces(self, size: int) -> None:
        record = b"%s\x001700000000\x00Ada\x00%s\x00%s"
        changes = b"\n:1001 1002 a b M\x00:x\n.py\x00:1001 1002 a b R100\x00old\x00new\x00"
        files = changes + b"1\t2\t:x\n.py\x00-\t-\t\x00old\x00new\x00"
        output = record % (b"a" * 40, b"One (#1)\n", files) + record % (b"b" * 40, b":000 M\t\t\n", b"\n")
        first, second = parse_commits(output[at : at + size] for at in range(0, len(output), size))
        assert rows(first) == [(":x\n.py", ":x\n.py", 1, 2), ("old", "new", 0, 0)]
        assert (second.sha, second.message, second.changes) == ("b" * 40, ":000 M", ())

    @pytest.mark.parametrize(("seconds", "year"), [(b"", 1970), (b"-5", 1970), (b"9" * 20, 9999)])
    def test_a_damaged_time_stops_nothing(self, seconds: bytes, year: int) -> None:
        (commit,) = parse_commits([b"%s\x00%s\x00Ada\x00One (#1)\n\x00" % (b"a" * 40, seconds)])
        assert (commit.committed_at.year, commit.message) == (year, "One (#1)")


class TestHostileSettings:
    @pytest.mark.slow
    def test_nothing_that_the_clone_or_the_environment_sets_has_an_effect(
        self, made_clones: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        plain = read(made_clones)
        folder, trap, sprung = tmp_path / "copy", tmp_path / "trap", tmp_path / "sprung"
        git(tmp_path, "clone", "-q", "--no-checkout", str(made_clones), str(folder))
        trap.write_text(f"#!/bin/sh\ntouch {sprung}\ncat\n")
        trap.chmod(trap.stat().st_mode | stat.S_IXUSR)
        for name in ("diff.external", "core.pager", "core.fsmonitor", "diff.trap.command", "diff.trap.textconv"):
            git(folder, "config", name, str(trap))
        for name, value in {
            "alias.diff-tree": f"!{trap}",
            "core.attributesFile": str(tmp_path / "attributes"),
            "core.bigFileThreshold": "1",
            "core.hooksPath": str(tmp_path),
            "diff.renames": "false",
            "diff.noprefix": "true",
            "diff.orderFile": "/dev/null",
            "color.ui": "always",
            "format.pretty": "oneline",
            "i18n.logOutputEncoding": "UTF-16",
            "log.showSignature": "true",
        }.items():
            git(folder, "config", name, value)
        (folder / ".git" / "info" / "attributes").write_text("*.py diff=trap\n")
        (folder / ".git" / "info" / "grafts").write_text(f"{plain[3].sha}\n")
        (tmp_path / "attributes").write_text("a.py -diff\n")
        for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_OBJECT_DIRECTORY"):
            monkeypatch.setenv(name, str(trap))
        assert read(folder) == plain
        assert not sprung.exists()


class TestFacts:
    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("url", "expected"),
        [
            ("https://github.com/octo/engine.git", "octo/engine"),
            ("https://github.com/octo/engine", "octo/engine"),
            ("https://user:secret@github.com/octo/engine.git/", "octo/engine"),
            ("git@github.com:octo/engine.git", "octo/engine"),
            ("ssh://git@github.com/octo/engine", "octo/engine"),
            ("https://gitlab.com/octo/engine", None),
            ("https://github.com.example.org/octo/engine", None),
            ("https://github.com/octo", None),
            ("https://github.com/octo/..", None),
            ("/srv/github.com/octo/engine", None),
        ],
    )
    def test_the_origin_names_the_repository(
        self, made_clones: Path, tmp_path: Path, url: str, expected: str | None
    ) -> None:
        git(tmp_path, "clone", "-q", "--bare", str(made_clones), "bare")
        git(tmp_path / "bare", "config", "remote.origin.url", url)
        facts = CloneTrees(tmp_path / "bare").read_facts()
        assert facts.repository == (Repository.parse(expected) if expected else None)
        assert (facts.branch, facts.is_shallow) == ("main", False)

    @pytest.mark.slow
    def test_the_default_branch_is_that_of_the_origin(self, made_clones: Path, tmp_path: Path) -> None:
        git(tmp_path, "clone", "-q", "--no-checkout", str(made_clones), "mine")
        mine = tmp_path / "mine"
        git(mine, "update-ref", "refs/heads/work", "origin/beside")
        git(mine, "symbolic-ref", "HEAD", "refs/heads/work")
        assert CloneTrees(mine).read_facts().branch == "main"
        assert len(read(mine)) == 10
        assert [commit.message for commit in read(mine, "work")][-1] == "Beside"
        assert [commit.message for commit in read(mine, "beside")][-1] == "Beside"

    def test_a_worktree_is_a_clone(self, made_clones: Path, tmp_path: Path) -> None:
        git(tmp_path, "clone", "-q", "--bare", str(made_clones), "bare")
        git(tmp_path / "bare", "worktree", "add", "--no-checkout", "-q", str(tmp_path / "tree"), "beside")
        assert read(tmp_path / "tree")[-1].message == "Beside"

    def test_a_shallow_clone_says_so_and_leaves_out_what_it_can_not_tell(
        self, made_clones: Path, tmp_path: Path
    ) -> None:
        git(tmp_path, "clone", "-q", "--no-checkout", "--depth=3", f"file://{made_clones}", "shallow")
        assert CloneTrees(tmp_path / "shallow").read_facts().is_shallow
        assert [commit.message for commit in read(tmp_path / "shallow")] == ["Latin \ufffd (#8)", "Odd go (#9)"]
