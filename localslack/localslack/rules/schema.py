"""Checks of single values, and of objects whose keys are all known."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Check = Callable[[Any], bool]


def accept_anything(_: object) -> bool:
    return True


def string(maximum: int = 3_000, minimum: int = 1) -> Check:
    return lambda value: isinstance(value, str) and minimum <= len(value) <= maximum


def integer(minimum: int = 0, maximum: int = 2**53) -> Check:
    return lambda value: type(value) is int and minimum <= value <= maximum


def one_of(*accepted: str) -> Check:
    return lambda value: isinstance(value, str) and value in accepted


def is_boolean(value: object) -> bool:
    return isinstance(value, bool)


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_link_url(value: object) -> bool:
    return isinstance(value, str) and len(value) <= 3_000 and re.match(r"(https?://|mailto:)\S", value) is not None


def items(check: Check, minimum: int, maximum: int) -> Check:
    return lambda value: (
        isinstance(value, list) and minimum <= len(value) <= maximum and all(check(item) for item in value)
    )


@dataclass(frozen=True)
class Shape:
    """An object whose keys are all known; ``rule`` is what no single key can say."""

    required: dict[str, Check]
    optional: dict[str, Check]
    rule: Check = accept_anything

    def __call__(self, value: object) -> bool:
        if not isinstance(value, dict) or not self.required.keys() <= value.keys():
            return False
        known = self.required | self.optional
        return all(key in known and known[key](part) for key, part in value.items()) and self.rule(value)


def shape(required: dict[str, Check], rule: Check = accept_anything, **optional: Check) -> Shape:
    return Shape(required, optional, rule)


def one_of_types(shapes: dict[str, Shape]) -> Check:
    """Return a check of objects that say what they are in ``type``."""
    with_type = {
        kind: Shape({"type": accept_anything, **s.required}, s.optional, s.rule) for kind, s in shapes.items()
    }

    def check(value: object) -> bool:
        kind = value.get("type") if isinstance(value, dict) else None
        return isinstance(kind, str) and kind in with_type and with_type[kind](value)

    return check


def has_unique_values(key: str, values: list[Any]) -> bool:
    found = [value[key] for value in values if isinstance(value, dict) and key in value]
    return len(found) == len(set(map(str, found)))
