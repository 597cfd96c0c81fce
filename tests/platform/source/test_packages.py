"""The source of pinned packages as tools: which versions may be read, and what is said of what can't be."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zipfile import ZIP_STORED as STORED

import pytest

from bot.features.questions.reading import ReadingSession
from bot.platform.models.prompts import MAX_RESULT_LENGTH
from bot.platform.packages.index import PackageIndex
from bot.platform.source.reading import MAX_USES, CodeSources
from bot.platform.source.tools import TREE_TOOLS, list_missing_tools
from bot.settings.values import PackageIndexAddress
from tests.features.questions.archives import call_tool, run_tool, shelf
from tests.helpers.builders import pull
from tests.helpers.doubles import FileTree
from tests.helpers.package_index import PackageServer, make_wheel

WHEEL = make_wheel(
    {
        "fast_engine/__init__.py": "from .ops import run\n",
        "fast_engine/ops.py": "def run(x):\n    return walk(x)\n\n\ndef walk(x):\n    return x\n",
        "fast_engine/ops.pyi": "def run(x: int) -> int: ...\n",
        "fast_engine/_C.abi3.so": b"\x7fELF",
        "fast_engine/latin.py": b"run = '\xe9'\n",
        "fast_engine-2.1.dist-info/METADATA": "Name: fast-engine\nVersion: 2.1\n",
        "fast_engine-2.1.dist-info/RECORD": "",
    }
)
NO_QUOTES = "These lines are not of the repository: they can't be quoted, so name the package and the file."
REQUIREMENTS = {
    "requirements/cuda.txt": "# fast-engine==9.9\nFast_Engine[cuda] == 2.1 ; python_version > '3.10'  # ==8.8\n",
    "requirements/wild.txt": "wild==1.*\nloose>=1.0\nnot-fast-engine==7.0\nfast-engine-extra==6.0\n",
    "uv.lock": '[[package]]\nname = "locked"\nversion = "3.0"\n\n[[package]]\nname = "other"\n\nversion = "4.0"\n',
    "Dockerfile": "RUN pip install twice==1.0\n",
    "docker/Dockerfile.rocm": "RUN pip install 'twice==2.0'\n",
}


@pytest.fixture
def server() -> Iterator[PackageServer]:
    with PackageServer() as running:
        running.add("fast_engine-2.1-py3-none-any.whl", WHEEL)
        running.add("twice-2.0-py3-none-any.whl", make_wheel({"twice.py": "two = 2\n"}))
        yield running


@pytest.fixture
def session(server: PackageServer, tmp_path: Path) -> ReadingSession:
    return open_session(PackageIndex(PackageIndexAddress(f"{server.url}/simple"), tmp_path), REQUIREMENTS)


def open_session(index: PackageIndex | None, files: dict[str, str]) -> ReadingSession:
    there, search = shelf(pull(7)), SimpleNamespace(list_paths=lambda *_: (*files,))
    mirror: Any = search
    there.code = CodeSources(FileTree({**files}), mirror, index)
    return there.toolbox()


def search(session: ReadingSession, name: str, package: str = "fast-engine", **arguments: Any) -> str:
    return run_tool(session, "search_package", number=7, package=package, name=name, **arguments)


def refuse(session: ReadingSession, package: str, **arguments: Any) -> str:
    output = call_tool(session, "search_package", {"number": 7, "package": package, "name": "x", **arguments})
    assert output.is_error, output.text
    return output.text


def test_lines_with_a_name_are_found_and_what_is_not_read_comes_first(session: ReadingSession) -> None:
    assert search(session, "run").split("\n") == [
        "Not read of fast-engine 2.1: 2 compiled or data; 1 damaged, or no UTF-8.",
        NO_QUOTES,
        "3 lines have 'run' in the 5 text files of fast-engine 2.1:",
        "fast_engine/__init__.py:1: from .ops import run",
        "fast_engine/ops.py:1: def run(x):",
        "fast_engine/ops.pyi:1: def run(x: int) -> int: ...",
    ]
    assert session.provenance.sources == "searched fast-engine 2.1 for run"
    assert session.provenance.gaps == "3 files of fast-engine 2.1"
    assert "\n0 lines have 'nothing' in the 5 text files" in search(session, "nothing")
    assert "\n2 lines have 'wal' in" in search(session, "wal", part=True)


def test_a_file_is_read_by_lines_or_around_a_name(session: ReadingSession) -> None:
    def read(path: str, **arguments: Any) -> str:
        return run_tool(session, "read_package", number=7, package="FAST.engine", path=path, **arguments)

    assert read("fast_engine/ops.py", first=5).split("\n") == [
        f"fast_engine/ops.py of fast-engine 2.1, 6 lines; lines 5 to 6. {NO_QUOTES}",
        "5: def walk(x):",
        "6:     return x",
    ]
    assert "\n5: def walk(x):" in read("fast_engine/ops.py", around="walk")
    assert "\n2: Version: 2.1" in read("fast_engine-2.1.dist-info/METADATA")
    assert (
        read("fast_engine/latin.py")
        == "fast_engine/latin.py of fast-engine 2.1 could not be read: it is not UTF-8."
    )
    assert read("ops.py") == (
        "'ops.py' is not among the text files of fast-engine 2.1. 2 other files of it can't be read. There are: "
        "fast_engine/ops.py"
    )
    assert "not among the text files" in read("../../etc/passwd")


@pytest.mark.parametrize("package", ["wild", "loose", "other", "nothing", "fast", "..", "a/../../b", "\u202egnp"])
def test_only_what_the_tree_pins_may_be_read(package: str, session: ReadingSession, server: PackageServer) -> None:
    assert "is not pinned to a version in the tree at the merge commit of #7" in refuse(session, package)
    assert server.paths == []


def test_of_several_versions_one_is_named(session: ReadingSession, server: PackageServer) -> None:
    listed = "'twice': 1.0 (Dockerfile:1), 2.0 (docker/Dockerfile.rocm:1)."
    assert refuse(session, "twice").endswith(listed)
    assert refuse(session, "twice", version="3.0").endswith(listed)
    assert refuse(session, "twice", version="latest").endswith(listed)
    assert server.paths == []
    assert "twice.py:1: two = 2" in search(session, "two", package="twice", version="2.0.0")
    assert refuse(session, "twice", version="1.0") == "The package index has no wheel of twice 1.0."
    assert refuse(session, "locked") == "The package index has no wheel of locked 3.0."


def test_lists_that_could_not_be_read_are_said() -> None:
    session = open_session(PackageIndex(PackageIndexAddress("https://packages.example.com"), Path("/")), {})
    tree: Any = SimpleNamespace(list_paths=lambda *_: ("requirements/gone.txt",))
    session.app.__dict__["code"] = CodeSources(FileTree({}), tree, session.app.code.packages)
    text = refuse(session, "numpy")
    assert "is not pinned" in text
    assert "requirements/gone.txt" in text


def test_without_an_index_there_are_no_such_tools(session: ReadingSession) -> None:
    mirror: Any = SimpleNamespace(list_paths=lambda *_: ())
    assert list_missing_tools(CodeSources()) == TREE_TOOLS
    assert list_missing_tools(CodeSources(None, mirror)) == {"search_package", "read_package"}
    assert list_missing_tools(session.app.code) == set()
    without = open_session(None, REQUIREMENTS)
    assert refuse(without, "fast-engine").startswith("There is no tool 'search_package'")


def test_many_lines_are_bounded(server: PackageServer, tmp_path: Path) -> None:
    server.add(
        "long-1.0-py3-none-any.whl",
        make_wheel({"long.py": "".join(f"use = '{n}{'x' * 900}'\n" for n in range(400))}, STORED),
    )
    index = PackageIndex(PackageIndexAddress(f"{server.url}/simple"), tmp_path)
    session = open_session(index, {"requirements.txt": "long==1.0\n"})
    text = search(session, "use", package="long")
    assert "400 lines have 'use'" in text
    assert len(text) <= MAX_RESULT_LENGTH + 200
    assert text.count("long.py:") <= MAX_USES
    assert "[cut: " in text
