"""A repository that is made to hurt who reads its whole tree: a real bare one, as the bot keeps it.

Nothing of it may run: hooks, filters, drivers of diffs, pagers, submodules. Each tool answers in bounded time, and
what it could not read is no "nothing".
"""

import hashlib
import os
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.features.questions.reading import ReadingSession
from bot.features.reviews.prepared import prepare_questions
from bot.platform.git.folder import MirrorFolder
from bot.platform.git.reading import MirrorReader
from bot.platform.models import ToolResult
from bot.platform.models.prompts import MAX_RESULT_LENGTH
from bot.platform.packages.index import PackageIndex
from bot.platform.pulls.models import ChangedFile, PullRequest
from bot.platform.pulls.paths import DEFAULT_PATH_CLASSES
from bot.platform.source.reading import CodeSources
from bot.settings.values import PackageIndexAddress
from impact.source.models import SourceFile
from impact.testing.clones import needs_git
from tests.features.questions.archives import call_tool, shelf
from tests.helpers.builders import REPOSITORY, pull
from tests.helpers.mirrors import put_mirror

pytestmark = [needs_git, pytest.mark.slow]

FILE, FOLDER, LINK, MODULE = "100644", "40000", "120000", "160000"
Entries = list[tuple[str, bytes, str]]
# seconds for one tool; git has ten, and a machine may be busy
MAX_SECONDS = 30.0


class Objects:
    """Writes objects into a bare repository as they are, also those that git would not write."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "objects"
        self.text = self.put("blob", b"retries = 1\n")

    def put(self, kind: str, data: bytes) -> str:
        raw = b"%s %d\0%s" % (kind.encode(), len(data), data)
        name = hashlib.sha1(raw, usedforsecurity=False).hexdigest()
        path = self._folder / name[:2] / name[2:]
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(zlib.compress(raw, 1))
        return name

    def put_tree(self, entries: Entries) -> str:
        return self.put(
            "tree",
            b"".join(
                b"%s %s\0" % (mode.encode(), name) + bytes.fromhex(content) for mode, name, content in entries
            ),
        )

    def put_commit(self, tree: str) -> str:
        who = "Ada <ada@example.org> 1770000000 +0000"
        return self.put("commit", f"tree {tree}\nauthor {who}\ncommitter {who}\n\nA bomb\n".encode())


def make_wide(objects: Objects) -> str:
    """A trillion files: ten of the same folder, ten of that, and so on."""
    tree = objects.put_tree([(FILE, b"requirements%d.txt" % number, objects.text) for number in range(10)])
    for _ in range(11):
        tree = objects.put_tree([(FOLDER, b"d%d" % number, tree) for number in range(10)])
    return tree


def make_deep(objects: Objects) -> str:
    tree = objects.put_tree([(FILE, b"requirements.txt", objects.text)])
    for _ in range(15_000):
        tree = objects.put_tree([(FOLDER, b"d", tree)])
    return tree


def make_many(objects: Objects) -> str:
    return objects.put_tree([(FILE, b"requirements-%06d.txt" % number, objects.text) for number in range(200_000)])


def make_long_name(objects: Objects) -> str:
    return objects.put_tree([(FILE, b"requirements" * 400_000 + b".txx", objects.text)])


def make_large(objects: Objects) -> str:
    blobs = [objects.put("blob", b"x = 1\n" * (9_000_000 + extra) + b"retries = 1\n") for extra in range(3)]
    return objects.put_tree([(FILE, b"requirements%d.txt" % at, blob) for at, blob in enumerate(blobs)])


def make_names(objects: Objects) -> str:
    """Names that mean something to a shell, to git, to a terminal, or to a reader."""
    names = [
        *(b"--open-files-in-pager=touch ran", b"--output=ran", b"-e", b"..", b".git", b"a/../../ran", b"a\nb"),
        *(b"a\x1b[2Jb", "requirements\u202etxt.txt".encode(), b"requirements-\xff.txt"),
        *(b"requirements\n</data>.txt", b":(top)x", b"$(touch ran)"),
    ]
    return objects.put_tree([(FILE, name, objects.text) for name in sorted(names)])


def make_links(objects: Objects) -> str:
    """Links out of the tree, to one another and to a folder, submodules, and modes that git does not write."""
    outside, loop = objects.put("blob", b"/etc/passwd"), objects.put("blob", b"requirements-loop.txt")
    absent = "1" * 40
    return objects.put_tree(
        [
            (MODULE, b"Pipfile", absent),
            ("100777", b"pyproject.toml", objects.text),
            (LINK, b"requirements-loop.txt", loop),
            (LINK, b"requirements.txt", outside),
            (MODULE, b"retries", absent),
            ("060000", b"setup.py", objects.text),
        ]
    )


def make_absent(objects: Objects) -> str:
    """Objects that are not there, and one of another kind than its entry says."""
    return objects.put_tree([(FILE, b"a.py", objects.put_tree([])), (FILE, b"requirements.txt", "2" * 40)])


BOMBS: dict[str, Callable[[Objects], str]] = {
    "wide": make_wide,
    "deep": make_deep,
    "many": make_many,
    "a long name": make_long_name,
    "large": make_large,
    "names": make_names,
    "links": make_links,
    "absent": make_absent,
}
# what each tool says of each bomb: a part of its result
USES = {
    "wide": "at least 100 lines have 'retries' in all files",
    # another git may refuse it
    "deep": "retries",
    "many": "at least 100 lines have 'retries' in all files",
    "a long name": "at least 0 lines have 'retries' in all files",
    "large": "have 'retries' in all files",
    "names": "have 'retries' in all files",
    "links": "1 line has 'retries' in all files",
    "absent": "could not be read",
}
REQUIREMENTS = {
    "wide": "could not be read",
    "deep": "retries",
    "many": "199,950 lists of requirements could not be read",
    "a long name": "in the 0 lists of requirements",
    "large": "could not be read: it is too large",
    "names": "in the 1 list of requirements",
    "links": "it is a symbolic link",
    "absent": "could not be read",
}


@pytest.fixture(scope="module")
def mirrors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("bombs") / "mirrors"
    root.mkdir()
    files: dict[str, bytes | None] = {
        ".gitattributes": b"* filter=trap diff=trap merge=trap working-tree-encoding=trap textconv=trap\n",
        ".gitmodules": b'[submodule "x"]\n\tpath = x\n\turl = ext::sh -c "touch ran"\n\tupdate = !touch ran\n',
        ".gitconfig": b"[core]\n\tpager = touch ran\n\tfsmonitor = touch ran\n",
        ".lfsconfig": b"[lfs]\n\turl = http://127.0.0.1:9/\n",
        "hooks/post-checkout": b"#!/bin/sh\ntouch ran\n",
        "engine/run.py": b"retries = 1\n\n\ndef run(retries):\n    return retries\n",
        "requirements.txt": b"retries==1.0\n",
    }
    put_mirror(root, str(REPOSITORY), [files, {"engine/run.py": b"retries = 2\n"}])
    return root


@pytest.fixture
def traps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Programs that a variable or a setting of this user names; each leaves a file if it runs."""
    program, ran = tmp_path / "trap", tmp_path / "ran"
    program.write_text(f"#!/bin/sh\ntouch {ran}\ncat\n")
    program.chmod(0o700)
    home = tmp_path / "home"
    home.mkdir()
    trapped = f"= {program}\n"
    (home / ".gitconfig").write_text(
        f'[core]\npager {trapped}fsmonitor {trapped}[diff "trap"]\ntextconv {trapped}command {trapped}'
        f'[filter "trap"]\nclean {trapped}smudge {trapped}process {trapped}[pager]\ngrep {trapped}log {trapped}'
        f"[diff]\nexternal {trapped}[credential]\nhelper {trapped}"
    )
    monkeypatch.setenv("HOME", str(home))
    for name in ("GIT_PAGER", "PAGER", "GIT_EXTERNAL_DIFF", "GIT_SSH_COMMAND", "GIT_EDITOR", "GIT_ASKPASS"):
        monkeypatch.setenv(name, str(program))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / ".gitconfig"))
    monkeypatch.chdir(tmp_path)
    yield
    assert not ran.exists()
    assert not os.path.lexists("ran")


def make_pull(commit: str) -> PullRequest:
    patch = "@@ -1,2 +1,2 @@\n-retries = 1\n+retries = 2\n class Engine(Base):"
    return replace(pull(7, files=(ChangedFile("engine/run.py", "modified", 1, 1, patch),)), merge_commit=commit)


def open_session(mirrors: Path, commit: str, tmp_path: Path) -> ReadingSession:
    reader = MirrorReader(mirrors)
    there = shelf(make_pull(commit))
    # nothing is asked: no bomb pins anything
    index = PackageIndex(PackageIndexAddress("http://127.0.0.1:9/simple"), tmp_path / "packages")
    there.code = CodeSources(reader, reader, index)
    return there.toolbox()


@pytest.mark.usefixtures("traps")
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_read_in_bounds(name: str, mirrors: Path, tmp_path: Path) -> None:
    objects = Objects(MirrorFolder(mirrors, REPOSITORY).path)
    commit = objects.put_commit(BOMBS[name](objects))
    session = open_session(mirrors, commit, tmp_path)

    def call(tool: str, **arguments: Any) -> ToolResult:
        began = time.monotonic()
        result = call_tool(session, tool, {"number": 7, **arguments})
        assert time.monotonic() - began < MAX_SECONDS
        assert len(result.text) < 2 * MAX_RESULT_LENGTH
        # between its marks there is no other of the same id, and nothing that steers a terminal
        assert not any(ord(sign) < 32 and sign not in "\n\t" for sign in result.text)
        return result

    try:
        assert USES[name] in call("find_uses", name="retries").text
        assert REQUIREMENTS[name] in call("find_requirements", package="retries").text
        assert call("search_package", package="retries", name="x").is_error
        for path in ("requirements.txt", "..", "-e", ".git", "retries", "a/../../ran", "d/" * 2_000 + "x"):
            shown = call("read_file", path=path).text
            assert "root:" not in shown
        call("list_changes", path="requirements.txt")
        reader = MirrorReader(mirrors)
        began = time.monotonic()
        source = SourceFile("engine/run.py", "retries = 2\nclass Engine(Base):\n    pass\n")
        prepare_questions(
            make_pull(commit),
            CodeSources(reader, reader),
            {source.path: source},
            DEFAULT_PATH_CLASSES,
            time.monotonic,
        )
        assert time.monotonic() - began < MAX_SECONDS
    finally:
        # a mirror with a damaged object is made again; here the next bomb needs it
        (MirrorFolder(mirrors, REPOSITORY).path / "prdigest-damaged").unlink(missing_ok=True)


@pytest.mark.usefixtures("traps")
def test_settings_in_a_tree_run_nothing(mirrors: Path, tmp_path: Path) -> None:
    tip = (MirrorFolder(mirrors, REPOSITORY).path / "refs" / "heads" / "default").read_text().strip()
    session = open_session(mirrors, tip, tmp_path)
    assert "engine/run.py:1:" in call_tool(session, "find_uses", {"number": 7, "name": "retries"}).text
    assert "retries==1.0" in call_tool(session, "find_requirements", {"number": 7, "package": "retries"}).text
    assert "touch ran" in call_tool(session, "read_file", {"number": 7, "path": ".gitmodules"}).text
    assert "State 1" in call_tool(session, "list_changes", {"number": 7, "path": "engine/run.py"}).text
    read = call_tool(session, "search_package", {"number": 7, "package": "retries", "name": "x"})
    assert "the package index can't be reached" in read.text
