"""Files and searches from a mirror of a repository whose names and contents are made to hurt."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.errors import SourceUnavailable, UsageError
from bot.platform.git.mirror import GitMirror
from bot.platform.git.reading import MirrorReader
from impact.source.models import MAX_SOURCE_BYTES, DiffSide, SourceFile, SourceProblem
from impact.testing.clones import ODD, building, git, lines, needs_git
from tests.helpers.git_server import TOKEN, GitServer
from tests.platform.git.conftest import ENGINE

pytestmark = [needs_git, pytest.mark.slow]

COMMIT = "0123456789012345678901234567890123456789"
LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize 12\n" % (b"a" * 64)
LONG_LINE = b"x = '" + b"a " * 500_000 + b"retries" + b" b" * 1_000 + b"'\n"
WILD = [":(glob)*.py", ":!a.py", "*.py", "[a].py", "a\\b.py", "-n.py", "HEAD", "--", "..py", "ghp.py"]
SECRET = f"ghp_{'a1B2' * 9}"
FILES: dict[str, bytes | None] = {
    "a.py": b"retries = 1\n",
    "deep/er/b.py": b"\xef\xbb\xbfretries = 2\r\nmore_retries = 3\n",
    "link.py": b"/etc/passwd",
    "sub": COMMIT.encode(),
    "lfs.bin": LFS,
    "binary.bin": b"retries\0",
    "latin.py": b"retries = '\xe9'\n",
    "long.py": LONG_LINE,
    "largest.py": b"#" * MAX_SOURCE_BYTES,
    "too_large.py": b"#" * (MAX_SOURCE_BYTES + 1),
    "empty.py": b"",
    "same.py": b"retries = 1\n",
    "late.py": b"#" * 9_000 + b"\nretries = '\0'\n",
    "run.sh": b"echo retries\n",
    "secret.py": b"retries = '" + SECRET.encode() + b"'\n",
    ".gitattributes": b"*.py binary diff=trap\n",
    ".gitmodules": b'[submodule "sub"]\n\tpath = sub\n\turl = https://example.org/x.git\n',
    **dict.fromkeys((*ODD, *WILD), b"retries = 1\n"),
}
MODES = {"link.py": "120000", "sub": "160000", "run.sh": "100755"}
TEXT = [*ODD, *WILD, "a.py", "deep/er/b.py", "largest.py", "empty.py", "same.py", "run.sh"]
# a path that is no UTF-8, as GitHub sends it
_AS_SHOWN = "latin-\N{REPLACEMENT CHARACTER}.py"
PROBLEMS = {
    "link.py": SourceProblem.SYMLINK,
    "sub": SourceProblem.SUBMODULE,
    "lfs.bin": SourceProblem.LFS_POINTER,
    "binary.bin": SourceProblem.BINARY,
    "late.py": SourceProblem.BINARY,
    "latin.py": SourceProblem.NOT_UTF8,
    "too_large.py": SourceProblem.TOO_LARGE,
    "long.py": SourceProblem.TOO_LARGE,
    "deep": SourceProblem.FOLDER,
    "deep/er": SourceProblem.FOLDER,
    "nothing.py": SourceProblem.MISSING,
    "a.py/b": SourceProblem.MISSING,
    "deep/er/": SourceProblem.MISSING,
    "/a.py": SourceProblem.MISSING,
    "./a.py": SourceProblem.MISSING,
    "deep/../a.py": SourceProblem.MISSING,
    "../a.py": SourceProblem.MISSING,
    "a.py\0": SourceProblem.MISSING,
    "latin-\udce9.py": SourceProblem.MISSING,
    _AS_SHOWN: SourceProblem.MISSING,
    "": SourceProblem.MISSING,
    ".": SourceProblem.MISSING,
    ":(top)a.py": SourceProblem.MISSING,
    "*": SourceProblem.MISSING,
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("hostile")
    with building(folder / "made") as builder:
        builder.commit("Begin (#1)", {"a.py": b"old = 1\n", "gone.py": lines(3)})
        side = builder.commit("Beside", {"side.py": lines(2), "a.py": b"old = 2\n"}, branch="side", start=1)
        builder.commit("All\nof it (#2)", FILES, modes=MODES)
        builder.commit("Merge pull request #3", {"side.py": lines(2)}, merged=[side])
        builder.commit(b"\xe9 \x1b[31m (#4)", {b"latin-\xe9.py": b"retries = 4\n", b"gone.py": None})
    git(folder, "clone", "-q", "--bare", str(folder / "made"), str(folder / "served" / "octo" / "engine.git"))
    with GitServer(folder / "served") as server:
        mirror = GitMirror(folder / "mirrors", server.url, lambda: TOKEN, lambda: datetime.now(UTC))
        mirror.update(ENGINE)
    yield folder / "mirrors"
    # reading changed nothing
    assert git(folder / "mirrors" / "octo" / "engine.git", "fsck", "--no-dangling") == ""


@pytest.fixture
def commit(root: Path) -> str:
    return git(root / "octo" / "engine.git", "rev-parse", "default")


@pytest.fixture
def files(root: Path) -> MirrorReader:
    return MirrorReader(root)


@pytest.fixture
def search(root: Path) -> MirrorReader:
    return MirrorReader(root)


class TestFiles:
    def test_all_are_read_together_or_named_with_the_problem(self, files: MirrorReader, commit: str) -> None:
        source_files = files.read_files(ENGINE, commit, [*TEXT, *PROBLEMS])
        assert list(source_files) == [*TEXT, *PROBLEMS]
        assert {path: file.problem for path, file in source_files.items() if file.problem} == PROBLEMS
        assert {path for path, file in source_files.items() if file.path != path} == set()
        expected = {path: (FILES[path] or b"").removeprefix(b"\xef\xbb\xbf").decode() for path in TEXT}
        assert {path: source_files[path].text for path in TEXT} == expected

    @pytest.mark.parametrize("path", [*TEXT, *PROBLEMS])
    def test_each_is_the_same_alone(self, files: MirrorReader, commit: str, path: str) -> None:
        assert files.read_files(ENGINE, commit, [path, path]) == {
            path: files.read_files(ENGINE, commit, [*TEXT, *PROBLEMS])[path]
        }

    def test_a_folder_and_a_file_in_it_are_two_things(self, files: MirrorReader, commit: str) -> None:
        source_files = files.read_files(ENGINE, commit, ["deep/er/b.py", "deep", "deep/er"])
        assert source_files["deep"].problem == source_files["deep/er"].problem == SourceProblem.FOLDER
        assert source_files["deep/er/b.py"].text.startswith("retries = 2")

    def test_the_old_side_is_the_first_parent(self, files: MirrorReader, root: Path, commit: str) -> None:
        merge = git(root / "octo" / "engine.git", "rev-parse", f"{commit}^1")
        second = git(root / "octo" / "engine.git", "rev-parse", f"{merge}^1")
        old = files.read_files(ENGINE, merge, ["side.py", "a.py"], DiffSide.OLD)
        assert (old["side.py"].problem, old["a.py"].text) == (SourceProblem.MISSING, "retries = 1\n")
        assert files.read_files(ENGINE, second, ["a.py"], DiffSide.OLD)["a.py"].text == "old = 1\n"
        first = git(root / "octo" / "engine.git", "rev-parse", f"{second}^1")
        none = files.read_files(ENGINE, first.upper(), ["a.py"], DiffSide.OLD)
        assert none == {"a.py": SourceFile("a.py", problem=SourceProblem.MISSING)}
        with pytest.raises(SourceUnavailable):
            files.read_files(ENGINE, "0" * 40, ["a.py"], DiffSide.OLD)

    def test_a_secret_is_not_shown(self, files: MirrorReader, commit: str) -> None:
        assert files.read_files(ENGINE, commit, ["secret.py"])["secret.py"].text == "retries = '[redacted]'\n"

    def test_very_many_paths_fit_into_commands(self, files: MirrorReader, commit: str) -> None:
        paths = [f"{'long/' * 40}{number}.py" for number in range(3_000)]
        source_files = dict(files.read_files(ENGINE, commit, [*paths, "a.py"]))
        assert source_files.pop("a.py").text == "retries = 1\n"
        assert {file.problem for file in source_files.values()} == {SourceProblem.MISSING}

    def test_nothing_is_asked_for_nothing(self, files: MirrorReader, commit: str) -> None:
        assert files.read_files(ENGINE, commit, []) == {}

    def test_without_git_there_is_no_file(self, root: Path, commit: str) -> None:
        with pytest.raises(SourceUnavailable, match="the git program is missing"):
            MirrorReader(root, "nosuchgit").read_files(ENGINE, commit, ["a.py"])

    def test_the_case_of_the_name_does_not_matter(self, files: MirrorReader, commit: str) -> None:
        other = type(ENGINE)("octo", "ENGINE")
        assert files.read_files(other, commit, ["a.py"]) == {"a.py": SourceFile("a.py", "retries = 1\n")}

    def test_a_name_that_leads_out_of_the_folder_is_none(self, files: MirrorReader, commit: str) -> None:
        for name in ("..", ".", "a/b"):
            with pytest.raises(UsageError):
                files.read_files(type(ENGINE)("octo", name), commit, ["a.py"])


class TestUses:
    def test_every_file_is_searched_whatever_attributes_say(self, search: MirrorReader, commit: str) -> None:
        source_uses = search.find_uses(ENGINE, commit, "retries", 100)
        assert source_uses.is_complete
        shown = {path.replace("\n", "\ufffd").replace("\t", "\ufffd") for path in (*ODD, *WILD)}
        assert {use.path for use in source_uses.uses} == shown - {"tab\ufffdbed.py"} | {
            "a.py", "deep/er/b.py", "latin.py", "long.py", "same.py", "late.py", "run.sh", "secret.py",
            "latin-\ufffd.py", "tab\tbed.py",
        }  # fmt: skip

    def test_only_whole_words_are_found(self, search: MirrorReader, commit: str) -> None:
        uses = search.find_uses(ENGINE, commit, "retries", 100).uses
        assert [(use.line, use.text) for use in uses if use.path == "deep/er/b.py"] == [(1, "\ufeffretries = 2")]
        both = search.find_any(ENGINE, commit, ("more_retries", "retries"), 100).uses
        assert {(use.path, use.line) for use in uses} < {(use.path, use.line) for use in both}
        assert search.find_uses(ENGINE, commit, "more_retries", 9).uses[0].line == 2
        assert search.find_uses(ENGINE, commit, "more_retr", 9).uses == ()

    def test_a_long_line_is_cut_around_the_name(self, search: MirrorReader, commit: str) -> None:
        (use,) = (use for use in search.find_uses(ENGINE, commit, "retries", 100).uses if use.path == "long.py")
        assert "a a retries b b" in use.text
        assert len(use.text) <= 302
        assert (use.text[0], use.text[-1]) == ("…", "…")

    def test_a_secret_is_not_shown(self, search: MirrorReader, commit: str) -> None:
        uses = search.find_uses(ENGINE, commit, "retries", 100).uses
        assert [use.text for use in uses if use.path == "secret.py"] == ["retries = '[redacted]'"]

    def test_what_is_more_than_the_limit_is_said(self, search: MirrorReader, commit: str) -> None:
        source_uses = search.find_uses(ENGINE, commit, "retries", 3)
        assert (len(source_uses.uses), source_uses.is_complete) == (3, False)

    @pytest.mark.parametrize("name", ["-e", "--open-files-in-pager=touch x", "a|b", ".*", "nothing", "retr ies"])
    def test_a_name_is_no_option_and_no_pattern(self, search: MirrorReader, commit: str, name: str) -> None:
        source_uses = search.find_uses(ENGINE, commit, name, 9)
        assert (source_uses.uses, source_uses.is_complete) == ((), True)

    @pytest.mark.parametrize("name", ["", "  ", "a\nb", "a\0b", "a" * 201, "\udce9"])
    def test_what_is_no_name_is_refused(self, search: MirrorReader, commit: str, name: str) -> None:
        with pytest.raises(UsageError, match="is not a name to search for"):
            search.find_uses(ENGINE, commit, name, 9)

    def test_a_search_that_takes_too_long_says_what_it_has(self, root: Path, commit: str, tmp_path: Path) -> None:
        slow = tmp_path / "git"
        slow.write_text('#!/bin/sh\ngit "$@"\nsleep 30\n')
        slow.chmod(0o700)
        source_uses = MirrorReader(root, str(slow), 1.0).find_uses(ENGINE, commit, "retries", 100)
        assert (len(source_uses.uses) > 20, source_uses.is_complete) == (True, False)


class TestChanges:
    def test_the_last_changes_of_a_path_come_newest_first(self, search: MirrorReader, commit: str) -> None:
        changes = search.list_changes(ENGINE, commit, "a.py", 9)
        assert [change.title for change in changes] == ["All of it (#2)", "Begin (#1)"]
        assert changes[0].committed_at > changes[1].committed_at
        assert changes[0].committed_at.tzinfo is UTC
        assert search.list_changes(ENGINE, commit, "a.py", 1) == changes[:1]
        assert search.list_changes(ENGINE, changes[1].commit, "a.py", 9) == changes[1:]

    def test_a_merge_is_one_change(self, search: MirrorReader, commit: str) -> None:
        assert [each.title for each in search.list_changes(ENGINE, commit, "side.py", 9)] == [
            "Merge pull request #3"
        ]

    def test_a_folder_has_changes_and_a_pattern_none(self, search: MirrorReader, commit: str) -> None:
        assert [each.title for each in search.list_changes(ENGINE, commit, "deep", 9)] == ["All of it (#2)"]
        assert search.list_changes(ENGINE, commit, "*.p?", 9) == ()
        assert len(search.list_changes(ENGINE, commit, ":(glob)*.py", 9)) == 1
        assert len(search.list_changes(ENGINE, commit, "--", 9)) == 1

    def test_a_title_is_safe_to_show(self, search: MirrorReader, commit: str) -> None:
        assert search.list_changes(ENGINE, commit, "gone.py", 1)[0].title == "\ufffd [31m (#4)"

    @pytest.mark.parametrize("path", ["", "/a.py", "../a.py", "a\0", "\udce9"])
    def test_what_is_no_path_is_refused(self, search: MirrorReader, commit: str, path: str) -> None:
        with pytest.raises(UsageError, match="is not a path"):
            search.list_changes(ENGINE, commit, path, 9)
