"""The tools over files, from GitHub over HTTP and from a git mirror: only what they show may be quoted."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from github import Auth

from bot.errors import GitHubUnavailable
from bot.features.questions.reading import ReadingSession
from bot.features.questions.rules import Citation
from bot.platform.git.mirror import GitMirror
from bot.platform.git.reading import MirrorReader
from bot.platform.github.caches import SourceFileCache
from bot.platform.github.client import GitHubClient
from bot.platform.github.source_files import GitHubSourceFiles
from bot.platform.models.prompts import MAX_RESULT_LENGTH
from bot.platform.pulls.models import ChangedFile, PullRequest
from bot.platform.source.excerpts import MAX_EXCERPT_LINES
from bot.platform.source.reading import MAX_FILE_LENGTH, MAX_USES, CodeSources
from impact.testing.clones import building, git, needs_git
from tests.emulators.github.trees import SUBMODULE, SYMLINK, Entry, FixedTree, TreeCommit
from tests.features.questions.archives import call_tool, inside, run_tool, shelf
from tests.helpers.builders import REPOSITORY, pull
from tests.helpers.doubles import FileTree, MemoryStore
from tests.helpers.git_server import TOKEN, GitServer
from tests.helpers.worlds import REPO, ScriptedGitHub

RETRY = """import os

DEFAULT_TIMEOUT = 10


def wait_for(worker):
    timeout = 30 * SECOND
    retries = five
    return worker.join(timeout)


def stop_worker(worker):
    return wait_for(worker)
"""
PATCH = """@@ -6,3 +6,4 @@ DEFAULT_TIMEOUT = 10
 def wait_for(worker):
-    timeout = 10 * SECOND
+    timeout = 30 * SECOND
+    retries = five
     return worker.join(timeout)"""
CALLER = "from engine.retry import wait_for\n\n\ndef run(worker):\n    wait_for(worker)\n"
CHANGE = ChangedFile("engine/retry.py", "modified", 2, 1, PATCH)
SEVEN = pull(7, title="Wait longer", files=(CHANGE,))
LONG = "".join(f"line_number = {n}\n" for n in range(1, 1_001))
SECRET = f"ghp_{'a1B2' * 9}"
KEY = "MIIEpAIBAAKCAQEA7bq3" + "Zx9" * 14
PEM = (
    f"before = 1\n-----BEGIN RSA PRIVATE KEY-----\n{KEY}\n{KEY[::-1]}\n-----END RSA PRIVATE KEY-----\nafter = 2\n"
)
TREE: dict[str, Entry] = {
    "engine/retry.py": Entry(RETRY.encode()),
    "engine/run.py": Entry(CALLER.encode()),
    "long.py": Entry(LONG.encode()),
    "wide.py": Entry(b"x = 1\ny = '" + b"a" * 50_000 + b"'\nz = 3\n"),
    "huge.py": Entry(b"#" * 1_000_000),
    "logo.png": Entry(b"\x89PNG\r\n\x1a\n\0"),
    "latin.py": Entry(b"caf\xe9 = 1\n"),
    "link.py": Entry(b"/etc/passwd", SYMLINK),
    "sub": Entry(mode=SUBMODULE),
    "secret.py": Entry(f"token = '{SECRET}'\n".encode()),
    "id.pem": Entry(PEM.encode()),
}


@pytest.fixture
def github() -> Iterator[ScriptedGitHub]:
    with ScriptedGitHub() as emulator:
        emulator.add_commit(REPO, TreeCommit(str(SEVEN.merge_commit), FixedTree(TREE)))
        yield emulator


def over_github(github: ScriptedGitHub, *pulls: PullRequest) -> ReadingSession:
    there = shelf(*(pulls or (SEVEN,)))
    files = GitHubSourceFiles(GitHubClient(github.url, Auth.Token(github.token)))
    there.code = CodeSources(SourceFileCache(files, MemoryStore()))
    return there.toolbox()


def with_tree(tree: FileTree, *pulls: PullRequest) -> ReadingSession:
    there = shelf(*(pulls or (SEVEN,)))
    there.code = CodeSources(tree)
    return there.toolbox()


def cite(session: ReadingSession, quote: str, path: str = "engine/retry.py", **more: Any) -> str:
    """The address of a quote, empty if it does not hold."""
    evidence_match = session.find_evidence(Citation("7", path, quote, **more))
    return evidence_match[1].build_url(evidence_match[0]) if evidence_match else ""


# a part of a file


def test_a_file_is_read_at_the_merge_commit_with_what_was_added(github: ScriptedGitHub) -> None:
    session = over_github(github)
    text = run_tool(session, "read_file", number=7, path="engine/retry.py", first=6, last=9)
    assert text.split("\n") == [
        (
            "engine/retry.py at the merge commit of #7, 13 lines; lines 6 to 9."
            " Those with + were added by #7, the others are unchanged."
        ),
        "6:  def wait_for(worker):",
        "7: +    timeout = 30 * SECOND",
        "8: +    retries = five",
        "9:      return worker.join(timeout)",
    ]
    assert session.provenance.sources == "parts of engine/retry.py after #7"
    run_tool(session, "read_file", number=7, path="engine/retry.py")
    assert github.queries == 1, "what was read is read once"


def test_a_file_that_the_pull_request_left_alone_can_be_read(github: ScriptedGitHub) -> None:
    text = run_tool(over_github(github), "read_file", number=7, path="engine/run.py")
    assert "#7 added none of the file's lines." in text
    assert text.endswith("5:      wait_for(worker)")


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ({}, (1, 200)),
        ({"first": 900}, (900, 1_000)),
        ({"first": 11, "last": 900}, (11, 210)),
        ({"first": 11, "last": 12}, (11, 12)),
        ({"first": 1_001}, None),
        ({"first": 5, "last": 4}, None),
    ],
    ids=str,
)
def test_at_most_200_lines_are_shown(
    arguments: dict[str, int], shown: tuple[int, int] | None, github: ScriptedGitHub
) -> None:
    head, *lines = run_tool(over_github(github), "read_file", number=7, path="long.py", **arguments).split("\n")
    numbers = [int(line.partition(":")[0]) for line in lines]
    assert numbers == (list(range(shown[0], shown[1] + 1)) if shown else [])
    assert len(numbers) <= MAX_EXCERPT_LINES
    assert "1,000 lines" in head


def test_around_a_name_its_function_is_shown(github: ScriptedGitHub) -> None:
    text = run_tool(over_github(github), "read_file", number=7, path="engine/retry.py", around="wait_for")
    assert "2 lines have 'wait_for'." in text
    assert [line.partition(":")[0] for line in text.split("\n")[1:]] == ["6", "7", "8", "9", "…", "12", "13"]
    inside = run_tool(over_github(github), "read_file", number=7, path="engine/retry.py", around="wait")
    assert "2 lines have 'wait' inside of words." in inside
    call = run_tool(over_github(github), "read_file", number=7, path="engine/retry.py", around="wait_for(")
    assert "2 lines have 'wait_for('." in call
    nothing = run_tool(over_github(github), "read_file", number=7, path="engine/retry.py", around="await")
    assert "0 lines have 'await'." in nothing
    assert "\n" not in nothing


def test_of_many_places_the_others_are_counted(github: ScriptedGitHub) -> None:
    text = run_tool(over_github(github), "read_file", number=7, path="long.py", around="line_number")
    assert "1,000 lines have 'line_number', not shown: " in text
    assert len(text.split("\n")) <= 2 * MAX_EXCERPT_LINES


def test_a_line_without_end_is_cut(github: ScriptedGitHub) -> None:
    text = run_tool(over_github(github), "read_file", number=7, path="wide.py")
    assert "3:  z = 3" in text
    assert len(text) < MAX_FILE_LENGTH


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("nowhere.py", "the file doesn't exist"),
        ("engine", "it is a folder"),
        ("huge.py", "it is too large"),
        ("logo.png", "it is binary"),
        ("latin.py", "it is not UTF-8"),
        ("link.py", "it is a symbolic link"),
        ("sub", "it is a submodule"),
        ("../../etc/passwd", "the file doesn't exist"),
        ("/etc/passwd", "the file doesn't exist"),
    ],
)
def test_a_file_that_can_not_be_read_is_told_in_a_sentence(
    path: str, problem: str, github: ScriptedGitHub
) -> None:
    session = over_github(github)
    text = run_tool(session, "read_file", number=7, path=path)
    at = "at the merge commit of #7"
    is_missing = problem == "the file doesn't exist"
    assert text == (
        f"{path} is not in the tree {at}." if is_missing else f"{path} {at} could not be read: {problem}."
    )
    assert session.provenance.gaps == f"{path} after #7 ({problem})"
    assert session.provenance.sources == ""


@pytest.mark.parametrize("first", [1, 2, 3, 4])
def test_no_credential_comes_out_of_a_file(first: int, github: ScriptedGitHub) -> None:
    session = over_github(github)
    assert SECRET not in run_tool(session, "read_file", number=7, path="secret.py")
    text = run_tool(session, "read_file", number=7, path="id.pem", first=first)
    assert KEY not in text
    assert KEY[::-1] not in text
    assert "after = 2" in text


def test_of_an_open_pull_request_the_head_is_read() -> None:
    opened = replace(SEVEN, merge_commit=None, merged_at=None, state="OPEN")
    tree = FileTree({"engine/retry.py": RETRY})
    assert "at the head commit of #7" in run_tool(
        with_tree(tree, opened), "read_file", number=7, path="engine/retry.py"
    )
    assert [commit for commit, *_ in tree.asked] == [SEVEN.head_commit]


@pytest.mark.parametrize("name", ["read_file", "find_uses"])
def test_where_files_can_not_be_read_the_model_hears_it(name: str) -> None:
    arguments = {"read_file": {"path": "a.py"}, "find_uses": {"name": "a"}}[name]
    without = call_tool(shelf(SEVEN).toolbox(), name, {"number": 7, **arguments})
    assert "could not be read" in inside(without)
    away = call_tool(with_tree(FileTree(error=GitHubUnavailable("away"))), name, {"number": 7, **arguments})
    assert away.is_error
    assert away.text.startswith("GitHub is not responding")


@pytest.mark.parametrize(
    ("change", "is_known"),
    [
        (CHANGE, True),
        (replace(CHANGE, patch=None), False),
        (replace(CHANGE, unread=3), False),
        (replace(CHANGE, patch=PATCH.replace("five", "six")), False),
    ],
    ids=["known", "no patch", "cut", "changed since"],
)
def test_a_line_is_only_called_unchanged_where_that_is_known(change: ChangedFile, is_known: bool) -> None:
    session = with_tree(FileTree({"engine/retry.py": RETRY}), replace(SEVEN, files=(change,)))
    text = run_tool(session, "read_file", number=7, path="engine/retry.py")
    assert ("Which of them #7 changed is not known." in text) is not is_known
    evidence_match = session.find_evidence(Citation("7", "engine/retry.py", "DEFAULT_TIMEOUT = 10"))
    assert evidence_match
    assert evidence_match[1].is_change is not is_known


# what may be quoted


def test_an_unchanged_line_that_a_tool_read_is_evidence(github: ScriptedGitHub) -> None:
    session = over_github(github)
    assert cite(session, "return wait_for(worker)") == "", "it is not in the diff, and nobody has read the file"
    run_tool(session, "read_file", number=7, path="engine/retry.py", first=12)
    address = f"https://github.com/octo/engine/blob/{SEVEN.merge_commit}/engine/retry.py#L13"
    assert cite(session, "return wait_for(worker)") == address
    assert cite(session, "DEFAULT_TIMEOUT = 10") == "", "that line was not shown"
    assert cite(session, "return wait_for(worker)", "engine/run.py") == ""
    assert cite(session, "return wait_for(workers)") == ""
    evidence_match = session.find_evidence(Citation("7", "engine/retry.py", "return wait_for(worker)"))
    assert evidence_match
    assert not evidence_match[1].is_change


def test_what_an_earlier_answer_quoted_must_be_read_again(github: ScriptedGitHub) -> None:
    earlier, now = over_github(github), over_github(github)
    run_tool(earlier, "read_file", number=7, path="engine/retry.py")
    assert cite(earlier, "return wait_for(worker)")
    assert cite(now, "return wait_for(worker)") == ""
    assert cite(now, "timeout = 30 * SECOND"), "the diff is at hand"
    run_tool(now, "find_uses", number=7, name="wait_for")
    assert cite(now, "return wait_for(worker)")


def test_a_changed_line_keeps_its_place_in_the_diff(github: ScriptedGitHub) -> None:
    session = over_github(github)
    run_tool(session, "read_file", number=7, path="engine/retry.py")
    assert cite(session, "timeout = 30 * SECOND").endswith("/engine/retry.py#L7")
    assert "/pull/7/files#diff-" in cite(session, "timeout = 10 * SECOND"), "that line is gone from the file"


def test_an_unchanged_line_is_linked_where_it_stands_after_other_merges() -> None:
    moved = "# added by another\n# and one more\n" + RETRY
    session = with_tree(FileTree({"engine/retry.py": moved}))
    assert cite(session, "return worker.join(timeout)").endswith("#L9"), "by the diff alone"
    run_tool(session, "read_file", number=7, path="engine/retry.py")
    assert cite(session, "return worker.join(timeout)").endswith("#L11")


def test_of_the_same_line_twice_the_one_that_is_named_is_linked() -> None:
    session = with_tree(FileTree({"a.py": "check_limit(job)\nrun(job)\ncheck_limit(job)\n"}))
    run_tool(session, "read_file", number=7, path="a.py")
    assert [cite(session, "check_limit(job)", "a.py", line=line)[-3:] for line in (0, 1, 3, 9)] == [
        "#L1",
        "#L1",
        "#L3",
        "#L1",
    ]


def test_of_other_repositories_no_file_is_read(github: ScriptedGitHub) -> None:
    session = over_github(github)
    for arguments in ({"path": "a.py"}, {"name": "a"}):
        name = "read_file" if "path" in arguments else "find_uses"
        output = call_tool(session, name, {"number": 7, "repository": "secret/plans", **arguments})
        assert output.is_error
        assert output.text.endswith("ask about octo/engine, octo/tools.")
    assert github.queries == 0


# uses of a name


def test_without_a_mirror_the_changed_files_are_searched_and_that_is_said(github: ScriptedGitHub) -> None:
    gone = ChangedFile("gone.py", "removed", 0, 3)
    there = replace(SEVEN, files=(CHANGE, ChangedFile("logo.png", "added", 0, 0), gone), changed_files=3)
    session = over_github(github, there)
    assert run_tool(session, "find_uses", number=7, name="wait_for").split("\n") == [
        (
            "The rest of the tree could not be read (there is no mirror of the repository): "
            "'wait_for' may be used there too."
        ),
        "logo.png at the merge commit of #7 could not be read: it is binary.",
        "2 lines have 'wait_for' in the 1 changed file that can be read at the merge commit of #7:",
        "engine/retry.py:6: def wait_for(worker):",
        "engine/retry.py:13:     return wait_for(worker)",
    ]
    assert session.provenance.sources == "searched the 1 changed file that can be read after #7 for wait_for"
    assert session.provenance.gaps == "logo.png after #7 (it is binary)"
    assert "0 lines have 'timeouts' in the 1" in run_tool(session, "find_uses", number=7, name="timeouts")
    inside = run_tool(session, "find_uses", number=7, name="DEFAULT_", part=True)
    assert "1 line has 'DEFAULT_' in the 1" in inside
    assert github.queries == 1


def test_uses_are_bounded_and_counted() -> None:
    many = "".join(f"use(name, {n})\n" for n in range(1_000)) + "name = " + "x" * 5_000 + "\n"
    session = with_tree(FileTree({"engine/retry.py": many}))
    text = run_tool(session, "find_uses", number=7, name="name")
    assert "\n1,001 lines have 'name'" in text
    assert text.count("engine/retry.py:") == MAX_USES
    assert "[cut: 901 lines not shown]" in text
    assert cite(session, "use(name, 99)")
    assert not cite(session, "use(name, 100)"), "what was cut was not read"


def test_what_has_no_room_was_not_read() -> None:
    wide = "".join(f"use(name, line_{n}_of_many, '{'x' * 250}')\n" for n in range(90))
    session = with_tree(FileTree({"engine/retry.py": wide}))
    text = run_tool(session, "find_uses", number=7, name="name")
    shown = text.count("engine/retry.py:")
    assert shown < 90
    assert f"[cut: {90 - shown} lines not shown]" in text
    assert len(text) <= MAX_RESULT_LENGTH + 500
    assert [bool(cite(session, f"use(name, line_{n}_of_many,")) for n in (shown - 1, shown)] == [True, False]


@pytest.mark.parametrize("name", ["  ", "\n"])
def test_nothing_is_no_name(name: str, github: ScriptedGitHub) -> None:
    output = call_tool(over_github(github), "find_uses", {"number": 7, "name": name})
    assert (output.is_error, output.text) == (True, "Which name? Give it as it stands in the code.")


@pytest.mark.slow
@needs_git
def test_with_a_mirror_all_files_are_searched(tmp_path: Path) -> None:
    files: dict[str, bytes | None] = {"engine/retry.py": RETRY.encode(), "engine/run.py": CALLER.encode()}
    files |= {
        "Dockerfile": b"FROM scratch\nARG FLASH_ATTN_VERSION=2.8.1\n",
        "pyproject.toml": b'[project]\ndependencies = ["flash-attn>=2.7"]\n',
        "requirements/cuda.txt": b"# flash-attn is fast\nflash-attn==2.8.1\n",
        "uv.lock": b'[[package]]\nname = "flash-attn"\nversion = "2.8.1"\n',
    }
    with building(tmp_path / "made") as builder:
        commit = builder.sha(builder.commit("Wait longer (#7)", files))
    source = tmp_path / "served" / REPOSITORY.owner / f"{REPOSITORY.name}.git"
    git(tmp_path, "clone", "-q", "--bare", str(tmp_path / "made"), str(source))
    with GitServer(tmp_path / "served") as server:
        GitMirror(tmp_path / "mirrors", server.url, lambda: TOKEN, lambda: datetime.now(UTC)).update(REPOSITORY)
    reader = MirrorReader(tmp_path / "mirrors")
    there = shelf(replace(SEVEN, merge_commit=commit), pull(8, files=(CHANGE,)))
    there.code = CodeSources(reader, reader)
    session = there.toolbox()
    assert run_tool(session, "find_uses", number=7, name="wait_for").split("\n") == [
        "4 lines have 'wait_for' in all files at the merge commit of #7:",
        "engine/retry.py:6: def wait_for(worker):",
        "engine/retry.py:13:     return wait_for(worker)",
        "engine/run.py:1: from engine.retry import wait_for",
        "engine/run.py:5:     wait_for(worker)",
    ]
    assert cite(session, "from engine.retry import wait_for", "engine/run.py").endswith("/engine/run.py#L1")
    assert call_tool(session, "find_uses", {"number": 7, "name": "a\nb"}).is_error
    assert run_tool(session, "find_requirements", number=7, package="Flash_Attn").split("\n") == [
        "5 lines have 'Flash_Attn' in the 4 lists of requirements at the merge commit of #7:",
        "Dockerfile:2: ARG FLASH_ATTN_VERSION=2.8.1",
        'pyproject.toml:2: dependencies = ["flash-attn>=2.7"]',
        "requirements/cuda.txt:2: flash-attn==2.8.1",
        'uv.lock:2: name = "flash-attn"',
        'uv.lock:3: version = "2.8.1"',
    ]
    none = run_tool(session, "find_requirements", number=7, package="numpy")
    assert none.startswith("0 lines have 'numpy' in the 4 lists of requirements")
    away = call_tool(session, "find_requirements", {"number": 8, "package": "numpy"})
    assert (away.is_error, "could not be read" in away.text) == (True, True)
    unknown = run_tool(session, "find_uses", number=8, name="wait_for")
    lacking = f"The rest of the tree could not be read (The mirror of {REPOSITORY} does not have that commit)"
    assert unknown.startswith(lacking)
    nothing = run_tool(session, "find_uses", number=7, name="wait_fo")
    assert nothing == (
        "'wait_fo' is not in the tree at the merge commit of #7: all text files were searched for the whole word."
    )
    part = run_tool(session, "find_uses", number=7, name="wait_fo", part=True)
    assert part.startswith("4 lines have 'wait_fo' in all files")
    assert run_tool(session, "find_uses", number=7, name="wait_for(").startswith("3 lines have")
    assert run_tool(session, "find_uses", number=7, name="ait_for(").startswith("'ait_for(' is not in the tree")
