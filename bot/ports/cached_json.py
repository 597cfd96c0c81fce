"""Reading of values that were stored as JSON."""

from __future__ import annotations

from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

T = TypeVar("T")


def load_or_none(shape: TypeAdapter[T], kept: str | None) -> T | None:
    """Return the stored value, None if there is none or an older version stored it in another shape."""
    try:
        return None if kept is None else shape.validate_json(kept)
    except ValidationError:
        return None
