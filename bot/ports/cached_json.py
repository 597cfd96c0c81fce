"""Reads back what was kept as JSON."""

from __future__ import annotations

from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

T = TypeVar("T")


def read_back(shape: TypeAdapter[T], kept: str | None) -> T | None:
    """The value; None where nothing was kept, or an older version kept it in another shape."""
    try:
        return None if kept is None else shape.validate_json(kept)
    except ValidationError:
        return None
