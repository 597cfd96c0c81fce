"""Tables of figures for a terminal, in plain ASCII, and the same figures as JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any


def align_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the rows as lines with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows]


def replace_non_ascii(line: str) -> str:
    """Return the line with a question mark for each sign outside ASCII, as in the names of branches and paths."""
    return "".join(char if " " <= char <= "~" else "?" for char in line).rstrip()


def replace_undefined(value: Any) -> Any:
    """Return the value with None for each number that is not finite, which JSON can't have."""
    if isinstance(value, dict):
        return {key: replace_undefined(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [replace_undefined(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
