import os
import resource
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from impact.errors import UsageError
from impact.git.clone_trees import CloneTrees, open_clone_trees
from impact.git.working_tree import read_working_tree
from impact.source.models import MAX_SOURCE_BYTES, BlobVersion, SourceProblem, TreeCommit
from impact.testing.clones import ODD, building, git, lines, needs_git

pytestmark = [pytest.mark.slow, needs_git]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("trees") / "clone"
    with building(path) as builder:
        builder.commit("Begin (#1)", {"a.py": lines(30), "old.py": lines(20), "logo.png": b"\0one"})
        builder.commit("Change (#2)\n\nWhy.", {"a.py": lines(31), "link": b"a.py"}, modes={"link": "120000"})
        builder.commit("Move (#3)", {"new.py": lines(21), "old.py": None})
        builder.commit("Odd (#4)", dict.fromkeys(ODD, b"retries = 1\n"))
        builder.commit("Large (#5)", {"large.py": b"x" * (MAX_SOURCE_BYTES + 1), "latin.py": b"\xe4"})
    return path


@pytest.fixture
def trees(folder: Path) -> Iterator[CloneTrees]:
    with open_clone_trees(folder) as opened:
        yield opened


def _read_all(trees: CloneTrees) -> list[TreeCommit]:
    return list(trees.iterate_commits(trees.list_line()))


class TestCommits:
    def test_the_line_is_read_oldest_first(self, trees: CloneTrees) -> None:
        line = trees.list_line()
        assert [commit.parent for commit in line] == ["", *(commit.sha for commit in line[:-1])]
        assert [each.message for each in _read_all(trees)][:2] == ["Begin (#1)", "Change (#2)\n\nWhy."]

    def test_lines_of_a_commit_are_looked_for_by_their_text(self, trees: CloneTrees) -> None:
        first, *_, last = [commit.sha for commit in trees.list_line()]
        assert trees.find_lines(first, ["line 29", "no such line"]) == [("a.py", "line 29")]
        odd = trees.find_lines(last, ["retries"])
        assert odd is not None
        assert sorted(odd) == sorted((path, "retries = 1") for path in ODD)
        assert trees.find_lines(first, ["--no such line"]) == []
        assert trees.find_lines("0" * 40, ["line 29"]) is None

    def test_each_change_has_its_contents_and_lines(self, trees: CloneTrees) -> None:
        _, change, move, *_ = _read_all(trees)
        # the link is no regular file
        assert (change.lines, change.paths) == (1, ("a.py",))
        (moved,) = move.changes
        assert moved.old
        assert moved.new
        assert (moved.old.path, moved.new.path, moved.added, moved.deleted) == ("old.py", "new.py", 1, 0)
        assert trees.read_file(moved.old).text.encode() == lines(20)
        assert trees.read_file(moved.new).text.encode() == lines(21)

    def test_the_changes_of_a_commit_lead_from_its_parent_to_it(self, trees: CloneTrees) -> None:
        files: dict[str, str] = {}
        for commit in _read_all(trees):
            for change in commit.changes:
                if change.old:
                    del files[change.old.path]
            files |= {change.new.path: change.new.blob for change in commit.changes if change.new}
            assert files == trees.list_files(commit.sha)

    def test_a_commit_is_known_by_a_short_hash(self, trees: CloneTrees) -> None:
        sha = trees.list_line()[1].sha
        assert trees.find_commit(sha[:8]) == sha
        assert trees.find_commit("f" * 40) == trees.find_commit("main") == trees.find_commit("--all") == ""


class TestFiles:
    def test_a_file_has_its_text_or_its_problem(self, trees: CloneTrees) -> None:
        files = trees.list_files(trees.list_line()[-1].sha)
        assert set(files) == {"a.py", "new.py", "logo.png", "large.py", "latin.py", *ODD}
        problems = {path: trees.read_file(BlobVersion(path, blob)).problem for path, blob in files.items()}
        assert {path: problem for path, problem in problems.items() if problem} == {
            "logo.png": SourceProblem.BINARY,
            "large.py": SourceProblem.TOO_LARGE,
            "latin.py": SourceProblem.NOT_UTF8,
        }
        # the process goes on behind a content that is too large; the same content may have several paths
        assert {trees.read_file(BlobVersion(path, files[path])).path for path in ODD} == set(ODD)

    @pytest.mark.parametrize("blob", ["0" * 40, "", "HEAD", "a b", "\n"])
    def test_a_content_that_git_lacks_is_unavailable(self, trees: CloneTrees, blob: str) -> None:
        assert trees.read_file(BlobVersion("x.py", blob)).problem is SourceProblem.UNAVAILABLE
        path, known = next(iter(trees.list_files(trees.list_line()[0].sha).items()))
        assert trees.read_file(BlobVersion(path, known)).text

    def test_a_missing_content_costs_its_own_commit_alone(self, tmp_path: Path) -> None:
        with building(tmp_path / "clone") as builder:
            for number in range(4):
                builder.commit(f"Part {number}", {"a.py": lines(9 + number), f"b{number}.py": lines(2)})
        folder = tmp_path / "clone"
        gone = git(folder, "rev-parse", "main~2:a.py")
        (folder / ".git/objects" / gone[:2] / gone[2:]).unlink()
        with open_clone_trees(folder) as trees:
            commits = _read_all(trees)
            assert [each.message for each in commits] == [f"Part {number}" for number in range(4)]
            assert [each.lines for each in commits] == [11, 0, 0, 3]
            assert trees.read_file(BlobVersion("a.py", gone)).problem is SourceProblem.UNAVAILABLE

    def test_a_process_with_a_thousand_files_open_reads_on(self, trees: CloneTrees) -> None:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard != resource.RLIM_INFINITY and hard < 4_096:
            pytest.skip("a process may open too few files here")
        path, blob = next(iter(trees.list_files(trees.list_line()[0].sha).items()))
        with ExitStack() as stack:
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 4_096), hard))
            stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
            for _ in range(1_100):
                stack.callback(os.close, os.open(os.devnull, os.O_RDONLY))
            assert trees.read_file(BlobVersion(path, blob)).text


def test_what_is_no_clone_ends_in_a_sentence(tmp_path: Path) -> None:
    with open_clone_trees(tmp_path) as trees, pytest.raises(UsageError, match="not a git clone"):
        trees.read_facts()


def test_a_folder_of_any_depth_is_read(tmp_path: Path) -> None:
    # git and editors make no such folder; somebody who means harm does
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1_900):
        os.mkdir("a", dir_fd=here)
        inner = os.open("a", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(os.open("deep.py", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)
    (tmp_path / "b.py").write_text("")
    files = [file.path for file in read_working_tree(tmp_path)]
    assert files == ["b.py", f"{'a/' * 1_900}deep.py"]
    # what pytest removes folders with goes down by calls of itself
    for depth in range(1_900, 0, -1):
        folder = tmp_path / ("a/" * depth)
        (folder / "deep.py").unlink(missing_ok=True)
        folder.rmdir()
