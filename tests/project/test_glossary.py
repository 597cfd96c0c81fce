"""``docs/glossary.md`` has each term once, and every name in it exists."""

from __future__ import annotations

import ast
import importlib
import re
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.helpers.tables import check_rows

ROWS = [
    tuple(cell.strip() for cell in line.strip("|").split("|"))
    for line in (Path(__file__).parents[2] / "docs" / "glossary.md").read_text().splitlines()
    if re.match(r"\| (?!term\b)\w", line)
]


def split_name(name: str) -> tuple[str, list[str]]:
    """Return the module of a dotted name, and the parts behind it."""
    parts, rest = name.split("."), list[str]()
    while not is_module(".".join(parts)):
        rest.insert(0, parts.pop())
    return ".".join(parts), rest


def find_definition(name: str) -> object:
    """Return what a dotted name stands for: a module, or something that it defines. Raises AttributeError."""
    module, rest = split_name(name)
    value: object = importlib.import_module(module)
    for part in rest:
        # a field without a default is no attribute of its class
        fields = getattr(value, "__dataclass_fields__", {})
        value = fields[part] if part in fields else getattr(value, part)
    return value


def is_defined(name: str) -> bool:
    """Return whether a dotted name is a module, or begins with what that module itself defines, not imports."""
    module, rest = split_name(name)
    if not rest:
        return True
    source = Path(importlib.import_module(module).__file__ or "").read_text(encoding="utf-8")
    return any(rest[0] in list_targets(node) for node in ast.parse(source).body)


def list_targets(node: ast.stmt) -> list[str]:
    """Return the names that a statement of a module defines."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return [node.name]
    if isinstance(node, ast.AnnAssign):
        return [ast.unparse(node.target)]
    return [ast.unparse(each) for each in node.targets] if isinstance(node, ast.Assign) else []


def is_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def test_each_term_has_one_meaning_and_one_definition() -> None:
    assert len(ROWS) > 100
    assert {len(row) for row in ROWS} == {3}
    assert [term for term, count in Counter(row[0].lower() for row in ROWS).items() if count > 1] == []


@check_rows([row[2].strip("`") for row in ROWS])
def test_the_definition_exists(name: str) -> None:
    assert find_definition(name) is not None
    assert is_defined(name)


@pytest.mark.parametrize(
    ("name", "is_own"),
    [
        ("bot.services.questions.archive.CodeSources", False),
        ("bot.services.source.code_sources.CodeSources", True),
        ("bot.ports.PullRequests", False),
        ("bot.domain.subscriptions.due_items.DueItem", True),
        ("bot.adapters.embedded", True),
    ],
)
def test_an_import_is_no_definition(name: str, is_own: bool) -> None:
    assert is_defined(name) is is_own


@pytest.mark.parametrize("name", ["bot.domain.risk.rules.Nothing", "bot.clock.Clock.nothing", "bot.nothing.Clock"])
def test_a_name_that_is_gone_is_noticed(name: str) -> None:
    with pytest.raises((AttributeError, ModuleNotFoundError)):
        find_definition(name)
