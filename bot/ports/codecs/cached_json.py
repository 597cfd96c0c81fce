"""Reading of values that were stored as JSON."""

from __future__ import annotations

from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

T = TypeVar("T")


def load_or_none(shape: TypeAdapter[T], stored: str | None) -> T | None:
    """Return a stored value.

    Return None if there is none, or if it has another shape.
    """
    try:
        return None if stored is None else shape.validate_json(stored)
    except ValidationError:
        return None
