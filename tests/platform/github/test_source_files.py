import codecs
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from github import Auth
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.errors import (
    ConfigurationError,
    GitHubAccessDenied,
    GitHubUnavailable,
    PrdigestError,
    RateLimited,
    RepositoryNotFound,
    SourceUnavailable,
)
from bot.platform.cleaning import clean_code
from bot.platform.github.client import GitHubClient
from bot.platform.github.source_files import MAX_PATHS, GitHubSourceFiles
from impact.repository import Repository
from impact.source.models import LFS_POINTER_START, MAX_SOURCE_BYTES, DiffSide, SourceFile, SourceProblem
from impact.source.reading import build_source_file
from impact.testing.clones import ODD, git, git_bytes, needs_git
from tests.emulators.github.server import FailureKind
from tests.emulators.github.server import pull as record
from tests.emulators.github.store import sha
from tests.emulators.github.trees import (
    EXECUTABLE,
    FILE,
    SUBMODULE,
    SYMLINK,
    Entry,
    FixedTree,
    TreeCommit,
    read_commit,
)
from tests.helpers.builders import REPOSITORY
from tests.helpers.checks import is_one_sentence
from tests.helpers.worlds import REPO, ScriptedGitHub

COMMIT, PARENT = sha("commit"), sha("parent")
POINTER = f"{LFS_POINTER_START}v1\noid sha256:{'0' * 64}\nsize 12345\n".encode()
MARK = codecs.BOM_UTF8
BYTES: dict[str, bytes] = {
    "plain.py": b"x = 1\n",
    "empty.py": b"",
    "open.py": b"no line feed at the end",
    "lines.py": b"a\r\nb\rc\n\n\n",
    "other.py": "größer = '…'  # 日本 🎉\n".encode(),
    "mark.py": MARK + b"x = 1\n",
    "mark alone": MARK,
    "two marks": MARK + MARK + b"x",
    "controls.py": b"a\x0cb\x1b[31m\x7f\n",
    "secret.py": b"token = 'ghp_" + b"a1B2" * 9 + b"'\n",
    "latin.py": b"caf\xe9\n",
    "half.py": b"x = '\xed\xa0\x80'\n",
    "cut.py": b"x = '\xe2\x80\n",
    "utf-16.txt": "\ufeffx = 1\n".encode("utf-16-le"),
    "utf-32.txt": "\ufeffx = 1\n".encode("utf-32-be"),
    "japanese.txt": "日本語の文書".encode("shift-jis"),
    "program": b"\x7fELF\0\1\xff",
    "late.bin": b"x = 1\n" * 10_000 + b"\0",
    "paper.pdf": b"%PDF-1.4\n",
    "figure.ps": b"%!PS-Adobe-3.0\n\0",
    "photo.jpg": b"\xff\xd8\xff\xe0abc",
    "model.bin": POINTER,
    "largest.py": b"x" * MAX_SOURCE_BYTES,
    "too large.py": b"x" * (MAX_SOURCE_BYTES + 1),
    "cut by GitHub.py": b"x" * 512_001,
    "1 MB line.js": b"x" * 1_000_000,
    "large.bin": b"\0" * 1_000_000,
    **dict.fromkeys(ODD, b"odd\n"),
}
ENTRIES = {
    **{path: Entry(data) for path, data in BYTES.items()},
    "run.sh": Entry(b"echo\n", EXECUTABLE),
    "link": Entry(b"plain.py", SYMLINK),
    "link out": Entry(b"/etc/passwd", SYMLINK),
    "vendored": Entry(mode=SUBMODULE),
    "src/a.py": Entry(b"a = 1\n"),
}
PROBLEMS = {
    "link": SourceProblem.SYMLINK,
    "link out": SourceProblem.SYMLINK,
    "link/x.py": SourceProblem.MISSING,
    "vendored": SourceProblem.SUBMODULE,
    "vendored/x.py": SourceProblem.MISSING,
    "src": SourceProblem.FOLDER,
    "plain.py/x.py": SourceProblem.MISSING,
    "nothing.py": SourceProblem.MISSING,
    "PLAIN.py": SourceProblem.MISSING,
}
# what git has no file at, whatever a server makes of it
NO_PATHS = [
    "",
    ".",
    "..",
    "/",
    "/plain.py",
    "src/",
    "./plain.py",
    "src//a.py",
    "src/../plain.py",
    "a\0b",
    "\ud800",
]


def source(github: ScriptedGitHub, token: str = "ghp_test") -> GitHubSourceFiles:  # noqa: S107
    return GitHubSourceFiles(GitHubClient(github.url, Auth.Token(token)))


def with_files(github: ScriptedGitHub, files: Mapping[str, bytes | Entry]) -> GitHubSourceFiles:
    before = TreeCommit(PARENT, FixedTree({"plain.py": Entry(b"before\n"), "gone.py": Entry(b"gone\n")}))
    entries = {path: each if isinstance(each, Entry) else Entry(each) for path, each in files.items()}
    github.add_commit(REPO, TreeCommit(COMMIT, FixedTree(entries), before))
    return source(github)


def read(github: ScriptedGitHub, *paths: str) -> dict[str, SourceFile]:
    return dict(with_files(github, ENTRIES).read_files(REPOSITORY, COMMIT, paths))


def read_one(github: ScriptedGitHub, data: bytes) -> SourceFile:
    return with_files(github, {"a": data}).read_files(REPOSITORY, COMMIT, ["a"])["a"]


# --- the same as git


@pytest.mark.slow
@pytest.mark.parametrize("path", BYTES)
def test_a_file_is_what_its_bytes_are(github: ScriptedGitHub, path: str) -> None:
    assert read(github, path) == {path: build_source_file(path, BYTES[path], clean_code)}


@pytest.mark.parametrize("path", PROBLEMS)
def test_what_is_no_file_is_named(github: ScriptedGitHub, path: str) -> None:
    assert read(github, path) == {path: SourceFile(path, problem=PROBLEMS[path])}


def test_a_script_is_a_file(github: ScriptedGitHub) -> None:
    assert read(github, "run.sh")["run.sh"].text == "echo\n"


@pytest.mark.parametrize("path", NO_PATHS)
def test_what_is_no_path_is_missing_and_not_asked_for(github: ScriptedGitHub, path: str) -> None:
    assert read(github, path) == {path: SourceFile(path, problem=SourceProblem.MISSING)}
    assert github.calls == []


@given(st.lists(st.one_of(st.binary(max_size=40), st.text(max_size=40).map(str.encode)), min_size=1, max_size=30))
@settings(max_examples=30)
@pytest.mark.slow
def test_any_bytes_become_the_same_by_github(contents: list[bytes]) -> None:
    starts = (b"", MARK, codecs.BOM_UTF16_LE, codecs.BOM_UTF32_BE, b"GIF89a")
    files = {str(n): starts[n % len(starts)] + data for n, data in enumerate(contents)}
    with ScriptedGitHub() as github:
        source_files = with_files(github, files).read_files(REPOSITORY, COMMIT, list(files))
    assert source_files == {path: build_source_file(path, data, clean_code) for path, data in files.items()}


@pytest.fixture(scope="module")
def clone() -> Iterator[Path]:
    """A real repository with the files of the table, and one commit before them."""
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder)
        git(clone, "init", "-q", "-b", "main")
        write_commit(clone, {"plain.py": Entry(b"before\n"), "src/gone.py": Entry(b"gone\n")})
        write_commit(clone, ENTRIES)
        yield clone


def write_commit(clone: Path, entries: Mapping[str, Entry]) -> None:
    lines = []
    for number, (path, entry) in enumerate(entries.items()):
        (clone / f".git/{number}").write_bytes(entry.data)
        oid = COMMIT if entry.mode == SUBMODULE else git(clone, "hash-object", "-w", f".git/{number}")
        lines.append(f"{entry.mode:06o} {oid}\t{path}\0".encode())
    (clone / ".git/entries").write_bytes(b"".join(lines))
    git(clone, "read-tree", "--empty")
    with (clone / ".git/entries").open("rb") as given_entries:
        git(clone, "update-index", "-z", "--index-info", standard_input=given_entries)
    git(clone, "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-q", "-m", "Change")


def expect(clone: Path, commit: str, path: str) -> SourceFile:
    line = git(clone, "--literal-pathspecs", "ls-tree", "-z", commit, "--", path)
    if not line:
        return SourceFile(path, problem=SourceProblem.MISSING)
    mode, _, oid = line.partition("\t")[0].split()
    if int(mode, 8) in (FILE, EXECUTABLE):
        return build_source_file(path, git_bytes(clone, "cat-file", "blob", oid), clean_code)
    return SourceFile(path, problem=PROBLEMS[path])


@needs_git
@pytest.mark.parametrize("side", DiffSide)
@pytest.mark.slow
def test_a_real_repository_is_read_as_git_reads_it(github: ScriptedGitHub, clone: Path, side: DiffSide) -> None:
    commit = read_commit(clone, "main")
    github.add_commit(REPO, commit)
    paths = [*ENTRIES, *PROBLEMS, "src/gone.py"]
    revision = "main" if side is DiffSide.NEW else "main^"
    source_files = source(github).read_files(REPOSITORY, commit.oid, paths, side)
    assert source_files == {path: expect(clone, revision, path) for path in paths}
    assert {file.problem for file in source_files.values()} > {None, SourceProblem.MISSING}


# --- calls


def test_a_pull_request_of_30_files_costs_one_call(github: ScriptedGitHub) -> None:
    files = {f"src/part_{n}.py": b"x = %d\n" % n for n in range(30)}
    source_files = with_files(github, files).read_files(REPOSITORY, COMMIT, list(files))
    assert [file.text for file in source_files.values()] == [f"x = {n}\n" for n in range(30)]
    assert [call.path for call in github.calls] == ["/graphql"]


@pytest.mark.slow
@pytest.mark.parametrize(("count", "calls"), [(0, 0), (1, 1), (MAX_PATHS, 1), (MAX_PATHS + 1, 2), (284, 6)])
def test_so_many_paths_take_so_many_calls(github: ScriptedGitHub, count: int, calls: int) -> None:
    files = {f"{n}.py": b"x = %d\n" % n for n in range(count)}
    source_files = with_files(github, files).read_files(REPOSITORY, COMMIT, list(files))
    assert {path: file.text for path, file in source_files.items()} == {
        f"{n}.py": f"x = {n}\n" for n in range(count)
    }
    assert github.queries == calls


def test_a_path_that_stands_twice_is_asked_for_once(github: ScriptedGitHub) -> None:
    source_files = read(github, *["plain.py", "src/a.py"] * MAX_PATHS)
    assert list(source_files) == ["plain.py", "src/a.py"]
    assert github.queries == 1


def test_no_path_is_part_of_the_query(github: ScriptedGitHub) -> None:
    path = '") { oid } viewer { login } x: file(path: "'
    read(github, path, "src/a.py")
    body = github.calls[0].json()
    assert (body["variables"]["p0"], body["variables"]["p1"]) == (path, "src/a.py")
    assert "viewer" not in body["query"]
    assert "src/a.py" not in body["query"]


# --- commits


def test_the_old_side_is_the_first_parent(github: ScriptedGitHub) -> None:
    reader = with_files(github, ENTRIES)
    old = reader.read_files(REPOSITORY, COMMIT, ["plain.py", "gone.py", "src/a.py"], DiffSide.OLD)
    assert [file.text for file in old.values()] == ["before\n", "gone\n", ""]
    assert old["src/a.py"].problem is SourceProblem.MISSING
    assert github.queries == 1


def test_before_the_first_commit_every_file_is_missing(github: ScriptedGitHub) -> None:
    github.add_commit(REPO, TreeCommit(COMMIT, FixedTree(ENTRIES)))
    old = source(github).read_files(REPOSITORY, COMMIT, ["plain.py", "src"], DiffSide.OLD)
    assert {file.problem for file in old.values()} == {SourceProblem.MISSING}


@pytest.mark.parametrize("side", DiffSide)
def test_an_unknown_commit_is_named(github: ScriptedGitHub, side: DiffSide) -> None:
    reader = with_files(github, ENTRIES)
    with pytest.raises(SourceUnavailable, match=f"{sha('x')}.*octo/engine") as caught:
        reader.read_files(REPOSITORY, sha("x"), ["plain.py"], side)
    assert is_one_sentence(str(caught.value))


@pytest.mark.parametrize("commit", ["", "main", "HEAD^", COMMIT[:12], f"{COMMIT}^", f"{COMMIT}\n", "x" * 9_999])
def test_what_is_no_full_hash_is_not_asked_for(github: ScriptedGitHub, commit: str) -> None:
    with pytest.raises(SourceUnavailable) as caught:
        with_files(github, ENTRIES).read_files(REPOSITORY, commit, ["plain.py"])
    assert is_one_sentence(str(caught.value))
    assert github.calls == []


def test_the_case_of_a_hash_does_not_count(github: ScriptedGitHub) -> None:
    assert with_files(github, ENTRIES).read_files(REPOSITORY, COMMIT.upper(), ["plain.py"])["plain.py"].text


def test_an_object_that_is_no_commit_is_none(github: ScriptedGitHub) -> None:
    github.after = lambda _answered, body: body["data"]["repository"].update(object={"__typename": "Tag"})
    with pytest.raises(SourceUnavailable):
        read(github, "plain.py")


# --- failures


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("401", GitHubAccessDenied),
        ("404", ConfigurationError),
        ("429-bare", RateLimited),
        ("primary", RateLimited),
        ("graphql-rate-limited", RateLimited),
        ("502", GitHubUnavailable),
        ("timeout-502-html", GitHubUnavailable),
        ("hang_up", GitHubUnavailable),
    ],
)
def test_a_failure_becomes_an_error_of_the_domain(
    github: ScriptedGitHub, kind: FailureKind, error: type[PrdigestError]
) -> None:
    github.fail_next(kind, 99)
    github.retry_after = 3_600 if kind == "primary" else 0
    with pytest.raises(error) as caught:
        read(github, "plain.py")
    assert type(caught.value) is error
    assert is_one_sentence(str(caught.value))


@pytest.mark.parametrize("kind", ["502", "secondary", "hang_up"])
def test_a_failure_that_passes_is_waited_out(github: ScriptedGitHub, kind: FailureKind) -> None:
    github.fail_next(kind, 2)
    github.retry_after = 0
    assert read(github, "plain.py")["plain.py"].text == "x = 1\n"


def test_an_unknown_repository_is_named(github: ScriptedGitHub) -> None:
    with pytest.raises(RepositoryNotFound, match="octo/nothing"):
        source(github).read_files(Repository("octo", "nothing"), COMMIT, ["plain.py"])


Error = dict[str, Any]
PLACE = ["repository", "object", "f1", "object", "text"]
BROKEN: Error = {"message": "Something went wrong while executing your query", "path": PLACE}


def fail_field(github: ScriptedGitHub, times: int, *errors: Error, empty: tuple[str, ...] = ("f1",)) -> None:
    """Let so many answers lack fields, and hold these errors."""

    def spoil(answered: int, body: dict[str, Any]) -> None:
        if answered <= times:
            body["data"]["repository"]["object"].update(dict.fromkeys(empty))
            body["errors"] = list(errors)

    github.after = spoil


def test_a_file_that_github_could_not_read_is_asked_for_again(github: ScriptedGitHub) -> None:
    fail_field(github, 1, BROKEN)
    source_files = read(github, "plain.py", "src/a.py", "run.sh")
    assert [file.text for file in source_files.values()] == ["x = 1\n", "a = 1\n", "echo\n"]
    assert list(source_files) == ["plain.py", "src/a.py", "run.sh"]
    variables = [call.json()["variables"] for call in github.calls]
    assert [set(each.values()) & set(source_files) for each in variables] == [set(source_files), {"src/a.py"}]


def test_a_file_that_github_can_not_read_is_named_and_the_others_are_there(github: ScriptedGitHub) -> None:
    again = {**BROKEN, "path": ["repository", "object", "f0"]}
    fail_field(github, 2, BROKEN, again, empty=("f0", "f1"))
    source_files = read(github, "plain.py", "src/a.py", "run.sh")
    assert [file.problem for file in source_files.values()] == [SourceProblem.UNAVAILABLE] * 2 + [None]
    assert github.queries == 2


def test_a_text_that_is_lost_below_its_field_is_no_missing_file(github: ScriptedGitHub) -> None:
    def lose(answered: int, body: dict[str, Any]) -> None:
        if answered == 1:
            body["data"]["repository"]["object"]["f1"]["object"].update(text=None, isBinary=None)
            body["errors"] = [BROKEN]

    github.after = lose
    assert read(github, "plain.py", "src/a.py")["src/a.py"].text == "a = 1\n"


def test_that_a_file_was_not_found_is_an_answer(github: ScriptedGitHub) -> None:
    fail_field(github, 9, {**BROKEN, "type": "NOT_FOUND"})
    assert read(github, "plain.py", "src/a.py")["src/a.py"].problem is SourceProblem.MISSING
    assert github.queries == 1


@pytest.mark.parametrize("place", [None, "f1", [], ["repository", "object"], [["f1"], {}, 1]])
def test_what_is_absent_for_an_unknown_reason_is_not_missing(github: ScriptedGitHub, place: Any) -> None:
    """GitHub's limits on resources give "partial results with errors"."""
    fail_field(github, 1, {"type": "RESOURCE_LIMITS_EXCEEDED", "message": "Too much.", "path": place})
    source_files = read(github, "plain.py", "src/a.py")
    assert [file.text for file in source_files.values()] == ["x = 1\n", "a = 1\n"]
    assert github.queries == 2


def test_a_rate_limit_within_an_answer_is_one(github: ScriptedGitHub) -> None:
    fail_field(github, 1, {"type": "RATE_LIMITED", "message": "No more.", "path": PLACE})
    with pytest.raises(RateLimited):
        read(github, "plain.py", "src/a.py")


@pytest.mark.parametrize(
    ("error", "expected"),
    [({"type": "FORBIDDEN"}, GitHubAccessDenied), ({"message": "Something went wrong"}, GitHubUnavailable)],
)
def test_a_commit_that_could_not_be_looked_up_is_not_unknown(
    github: ScriptedGitHub, error: Error, expected: type[PrdigestError]
) -> None:
    def spoil(_answered: int, body: dict[str, Any]) -> None:
        body["data"]["repository"]["object"] = None
        body["errors"] = [{"message": "No.", "path": ["repository", "object"], **error}]

    github.after = spoil
    with pytest.raises(expected):
        read(github, "plain.py")


# --- answers that are not true


def change_blob(**fields: Any) -> Callable[[int, dict[str, Any]], None]:
    def spoil(_answered: int, body: dict[str, Any]) -> None:
        body["data"]["repository"]["object"]["f0"]["object"].update(fields)

    return spoil


def test_a_byte_order_mark_may_be_missing_from_the_text(github: ScriptedGitHub) -> None:
    github.after = change_blob(text="x = 1\n")
    assert read_one(github, MARK + b"x = 1\n").text == "x = 1\n"


@pytest.mark.parametrize("text", ["x = 2\n", "x = 1", "\ufffd = 1\n", "\ud800", ""])
def test_a_text_that_is_not_that_of_the_blob_is_not_shown(github: ScriptedGitHub, text: str) -> None:
    github.after = change_blob(text=text)
    assert read_one(github, b"x = 1\n") == SourceFile("a", problem=SourceProblem.NOT_UTF8)


def test_a_text_of_the_same_size_in_another_encoding_is_noticed(github: ScriptedGitHub) -> None:
    """A lone surrogate has three bytes, and so has what stands in its place."""
    data = b"x = '\xed\xa0\x80'\n"
    github.after = change_blob(text="x = '\ufffd'\n")
    assert len("x = '\ufffd'\n".encode()) == len(data)
    assert read_one(github, data).problem is SourceProblem.NOT_UTF8


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"text": None, "isBinary": None}, SourceProblem.NOT_UTF8),
        ({"text": None, "isBinary": True}, SourceProblem.BINARY),
        ({"text": None, "isBinary": False}, SourceProblem.UNAVAILABLE),
        ({"text": 7, "isBinary": []}, SourceProblem.UNAVAILABLE),
        ({"oid": None}, SourceProblem.NOT_UTF8),
        ({"oid": {"a": 1}}, SourceProblem.NOT_UTF8),
        ({"isTruncated": True}, SourceProblem.TOO_LARGE),
        ({"byteSize": MAX_SOURCE_BYTES + 1}, SourceProblem.TOO_LARGE),
        ({"__typename": "Tree"}, SourceProblem.UNAVAILABLE),
    ],
)
def test_a_blob_without_a_usable_text_is_named(
    github: ScriptedGitHub, fields: dict[str, Any], problem: SourceProblem
) -> None:
    github.after = change_blob(**fields)
    assert read_one(github, b"x = 1\n").problem is problem


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["f0", "object", "text", "oid", "mode", "nodes"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(JSON, JSON, st.sampled_from(DiffSide))
@settings(max_examples=40)
@pytest.mark.slow
def test_a_record_of_any_shape_breaks_nothing(value: Any, errors: Any, side: DiffSide) -> None:
    def spoil(_answered: int, body: dict[str, Any]) -> None:
        commit = body["data"]["repository"]["object"]
        commit["f0" if side is DiffSide.NEW else "parents"] = json.loads(json.dumps(value))
        body["errors"] = errors

    with ScriptedGitHub() as github:
        github.after = spoil
        reader = with_files(github, ENTRIES)
        try:
            source_files = reader.read_files(REPOSITORY, COMMIT, ["plain.py"], side)
        except PrdigestError:
            return
    assert source_files["plain.py"].problem is not None
    assert source_files["plain.py"].text == ""


def test_the_merge_of_a_replay_day_is_unknown(github: ScriptedGitHub) -> None:
    github.add(REPO, record(1))
    with pytest.raises(SourceUnavailable):
        source(github).read_files(REPOSITORY, str(record(1).merge_commit_sha), ["plain.py"])
