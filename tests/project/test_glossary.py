"""``docs/glossary.md`` has each term once, and every name in it exists."""

from __future__ import annotations

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


@pytest.mark.parametrize(
    "name", ["bot.features.merges.risk.Nothing", "bot.clock.Clock.nothing", "bot.nothing.Clock"]
)
def test_a_name_that_is_gone_is_noticed(name: str) -> None:
    with pytest.raises((AttributeError, ModuleNotFoundError)):
        find_definition(name)
