"""TOML as tables, and the lines that its keys stand on."""

from __future__ import annotations

import tomllib
from typing import TypeAlias

# characters in which lines are looked for: each search reads all of them
_MAX_SEARCHED = 20_000
# dots in one line: the parser takes the square of the parts of a key
_MAX_DOTS = 1_000
Table: TypeAlias = dict[str, object]


def parse_toml(text: str) -> Table | None:
    """Return a TOML file as a table; None if it is none, or has a line with very many dots."""
    if any(line.count(".") > _MAX_DOTS for line in text.split("\n")):
        return None
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, ValueError, RecursionError):
        return None


def read_table(table: Table, *keys: str) -> Table:
    """Return a table within a table; an empty one if it is missing or something else."""
    for key in keys:
        inner = table.get(key)
        if not isinstance(inner, dict):
            return {}
        table = inner
    return table


def read_strings(value: object) -> list[str]:
    """Return the strings of a list; none of anything else."""
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def find_key_line(text: str, *words: str) -> int:
    """Return the first line with all the words, or 1: the parser keeps no lines."""
    for number, line in enumerate(text[:_MAX_SEARCHED].split("\n"), 1):
        if all(word in line for word in words):
            return number
    return 1
