"""The package stands by itself: it names no bot that was made with it, and imports none."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "localslack"
FILES = sorted(path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
SOURCES = [path for path in FILES if path.suffix == ".py"]
NAMES = ("prdigest", "vllm", "C0DIGEST")


def test_all_of_it_is_looked_at() -> None:
    assert {".py", ".html", ".js", ".css", ".svg"} <= {path.suffix for path in FILES}
    assert len(SOURCES) > 50


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_it_names_no_bot(path: Path) -> None:
    text = path.read_text(encoding="utf-8").lower()
    assert [name for name in NAMES if name.lower() in text] == []


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_it_imports_no_bot_and_no_tests(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    plain = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    named = [str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert [name for name in (*plain, *named) if re.match(r"(bot|handlers|tests)\b", name)] == []


def test_no_folder_has_more_modules_than_a_newcomer_can_look_through() -> None:
    folders = {path.parent for path in SOURCES}
    crowded = {
        str(folder): len(list(folder.glob("*.py"))) for folder in folders if len(list(folder.glob("*.py"))) > 15
    }
    assert crowded == {}
