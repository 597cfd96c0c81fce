"""Patches of a clone's merges as GitHub sends them, and files and searches in the clone itself."""

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.errors import SourceUnavailable
from bot.platform.pulls.diff import MAX_PATCH_LINES, split_hunks
from bot.platform.pulls.models import PullRequest
from evals.commits import sort_commits
from evals.reading.clone import CloneReader, load_files
from impact.git.clone_trees import CloneTrees
from impact.repository import Repository
from impact.source.models import DiffSide, SourceProblem
from impact.testing.clones import ENVIRONMENT, ODD, Builder, building, git, lines, needs_git

pytestmark = needs_git

ENGINE = Repository("octo", "engine")
# a line that looks like the begin of a file's part, and a file without a newline at its end
TRICKY = b"diff --git a/x b/x\n@@ -1 +1 @@\n\nsame\nold\nlast"
SECRET = f"ghp_{'a1B2' * 9}"
# settings of a clone that would change what git writes, or start a program
HOSTILE = {
    "diff.external": "touch trapped",
    "diff.noprefix": "true",
    "diff.mnemonicPrefix": "true",
    "diff.suppressBlankEmpty": "true",
    "diff.context": "0",
    "diff.trap.textconv": "touch trapped",
    "color.ui": "always",
    "core.fsmonitor": "touch trapped",
    "core.pager": "touch trapped",
    "core.quotePath": "true",
    "grep.column": "true",
    "grep.patternType": "perl",
    "log.follow": "true",
    "log.showSignature": "true",
}


def _write(builder: Builder) -> None:
    builder.commit(
        "Begin (#1)", {"a.py": lines(30), "tricky.txt": TRICKY, "logo.png": b"\0one", "old.py": lines(20)}
    )
    builder.commit(
        "Change (#2)\n\nWhy it changes.\n\nCo-authored-by: Ada <ada@example.org>",
        {
            "a.py": lines(30).replace(b"line 7\n", b"line seven\n").replace(b"line 20\n", b""),
            "tricky.txt": TRICKY.replace(b"old", b"new") + b"\n",
            "logo.png": b"\0two",
            "new.py": f"token = '{SECRET}'\n".encode(),
        },
    )
    builder.commit("Move (#3)", moved={"old.py": "deep/new.py"})
    builder.commit("Move and change (#4)", {"late.py": lines(21), "deep/new.py": None})
    builder.commit("Odd (#5)", dict.fromkeys(ODD, b"retries = 1\n"))
    builder.commit("Odd again (#6)", dict.fromkeys(ODD, b"retries = 2\n"))
    builder.commit("Large (#7)", {"large.py": lines(MAX_PATCH_LINES + 500), "z.py": lines(1)})
    # a file becomes a link, between two that only change
    builder.commit(
        "Link (#8)", {"a.py": lines(31), "late.py": b"a.py", "z.py": lines(2)}, modes={"late.py": "120000"}
    )
    builder.commit("Attributes (#9)", {".gitattributes": b"*.py diff=trap\n", "a.py": lines(32)})


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("changes") / "clone"
    with building(folder) as builder:
        _write(builder)
    for name, value in HOSTILE.items():
        git(folder, "config", name, value)
    yield folder
    assert sorted(path.name for path in folder.iterdir()) == [".git"]


@pytest.fixture(scope="module")
def merges(clone: Path) -> dict[int, PullRequest]:
    trees = CloneTrees(clone)
    listed = sort_commits(trees.read_commits(trees.list_line()), ENGINE, "main").pulls
    reader = CloneReader(clone)
    return {pull.number: load_files(reader, pull) for pull in listed}


def patches(pull: PullRequest) -> dict[str, str | None]:
    return {file.path: file.patch for file in pull.files or ()}


class TestPatches:
    def test_a_changed_file(self, merges: dict[int, PullRequest]) -> None:
        file_patches = patches(merges[2])
        assert file_patches["a.py"] == (
            "@@ -5,7 +5,7 @@ line 3\n line 4\n line 5\n line 6\n-line 7\n+line seven\n line 8\n line 9\n line 10\n"
            "@@ -18,7 +18,6 @@ line 16\n line 17\n line 18\n line 19\n-line 20\n line 21\n line 22\n line 23"
        )

    def test_lines_that_look_like_headers_and_a_missing_newline(self, merges: dict[int, PullRequest]) -> None:
        assert patches(merges[2])["tricky.txt"] == (
            "@@ -2,5 +2,5 @@ diff --git a/x b/x\n @@ -1 +1 @@\n \n same\n-old\n-last\n"
            "\\ No newline at end of file\n+new\n+last"
        )
        assert "+diff --git a/x b/x" in str(patches(merges[1])["tricky.txt"])

    def test_binary_moved_and_removed_files(self, merges: dict[int, PullRequest]) -> None:
        assert patches(merges[2])["logo.png"] is None
        assert [(file.path, file.previous_path, file.patch) for file in merges[3].files or ()] == [
            ("deep/new.py", "old.py", None)
        ]
        assert patches(merges[4])["late.py"] == "@@ -18,3 +18,4 @@ line 16\n line 17\n line 18\n line 19\n+line 20"

    def test_the_first_commit(self, merges: dict[int, PullRequest]) -> None:
        assert str(patches(merges[1])["a.py"]).startswith("@@ -0,0 +1,30 @@\n+line 0\n")

    def test_each_path_has_its_own_patch(self, merges: dict[int, PullRequest]) -> None:
        assert len(patches(merges[6])) == len(ODD)
        assert set(patches(merges[6]).values()) == {"@@ -1 +1 @@\n-retries = 1\n+retries = 2"}
        # what became a link has two parts in git's diff
        after = patches(merges[8])
        assert after["z.py"] == "@@ -1 +1,2 @@\n line 0\n+line 1"
        assert after["a.py"] == (
            "@@ -5,7 +5,7 @@ line 3\n line 4\n line 5\n line 6\n-line seven\n+line 7\n line 8\n line 9\n line 10\n"
            "@@ -18,6 +18,7 @@ line 16\n line 17\n line 18\n line 19\n+line 20\n line 21\n line 22\n line 23\n"
            "@@ -27,3 +28,4 @@ line 26\n line 27\n line 28\n line 29\n+line 30"
        )

    def test_limits_and_credentials_are_those_of_github_files(self, merges: dict[int, PullRequest]) -> None:
        large = next(file for file in merges[7].files or () if file.path == "large.py")
        shown = sum(len(part) for _, part in split_hunks(large.patch or ""))
        assert (large.additions, shown + large.unread) == (MAX_PATCH_LINES + 500, MAX_PATCH_LINES + 500)
        assert large.unread >= 500
        assert SECRET not in str(patches(merges[2])["new.py"])

    def test_the_description_is_what_the_message_says(self, merges: dict[int, PullRequest]) -> None:
        assert [merges[number].body for number in (1, 2)] == ["", "Why it changes."]

    @pytest.mark.slow
    def test_a_commit_that_is_not_there(self, clone: Path, merges: dict[int, PullRequest]) -> None:
        for commit, words in (("0" * 40, "does not have that commit"), ("HEAD", "without its whole hash")):
            with pytest.raises(SourceUnavailable, match=words):
                load_files(CloneReader(clone), replace(merges[2], merge_commit=commit))
        with pytest.raises(SourceUnavailable, match="can't be read"):
            load_files(CloneReader(clone / "nowhere"), merges[2])


class TestFilesAndSearch:
    def test_files_are_read_at_their_commit(self, clone: Path, merges: dict[int, PullRequest]) -> None:
        files = CloneReader(clone)
        commit = merges[2].commit
        after = files.read_files(ENGINE, commit, ["a.py", "gone.py", *ODD])
        before = files.read_files(ENGINE, commit, ["a.py"], DiffSide.OLD)
        assert "line seven" in after["a.py"].text
        assert "line seven" not in before["a.py"].text
        assert after["gone.py"].problem is SourceProblem.MISSING
        odd = files.read_files(ENGINE, merges[6].commit, ODD)
        assert {file.text for file in odd.values()} == {"retries = 2\n"}

    @pytest.mark.slow
    def test_uses_and_changes_are_those_up_to_the_commit(
        self, clone: Path, merges: dict[int, PullRequest]
    ) -> None:
        search = CloneReader(clone)
        assert search.find_uses(ENGINE, merges[3].commit, "seven", 9).uses[0].text == "line seven"
        assert not search.find_uses(ENGINE, merges[3].commit, "retries", 9).uses
        assert len(search.find_uses(ENGINE, merges[5].commit, "retries", 99).uses) == len(ODD)
        titles = [change.title for change in search.list_changes(ENGINE, merges[3].commit, "a.py", 9)]
        assert titles == ["Change (#2)", "Begin (#1)"]
        # the history is that of the path, as GitHub tells it
        late = search.list_changes(ENGINE, merges[4].commit, "late.py", 9)
        assert [change.title for change in late] == ["Move and change (#4)"]

    def test_a_clone_that_lacks_contents_is_not_searched(
        self, tmp_path: Path, merges: dict[int, PullRequest], clone: Path
    ) -> None:
        partial = tmp_path / "partial.git"
        git(clone, "config", "uploadpack.allowFilter", "true")
        line = ["git", "clone", "-q", "--bare", "--filter=blob:none", f"file://{clone}", str(partial)]
        subprocess.run(line, env=ENVIRONMENT, check=True, capture_output=True)
        with pytest.raises(SourceUnavailable, match="can't be read"):
            CloneReader(partial).read_files(ENGINE, merges[2].commit, ["a.py"])
