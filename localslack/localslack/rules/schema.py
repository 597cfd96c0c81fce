"""Checks of single values, and of objects that allow no unknown keys."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Check = Callable[[Any], bool]


def accept_anything(_: object) -> bool:
    """Return True: every value passes."""
    return True


def string(maximum: int = 3_000, minimum: int = 1) -> Check:
    """Return a check of strings with ``minimum`` to ``maximum`` characters."""
    return lambda value: isinstance(value, str) and minimum <= len(value) <= maximum


def integer(minimum: int = 0, maximum: int = 2**53) -> Check:
    """Return a check of integers from ``minimum`` to ``maximum``."""
    return lambda value: type(value) is int and minimum <= value <= maximum


def one_of(*accepted: str) -> Check:
    """Return a check of strings that are among these."""
    return lambda value: isinstance(value, str) and value in accepted


def is_boolean(value: object) -> bool:
    """Return whether it is True or False."""
    return isinstance(value, bool)


def is_number(value: object) -> bool:
    """Return whether it is a number; booleans are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_link_url(value: object) -> bool:
    """Return whether it is a web or mail address of at most 3,000 characters."""
    return isinstance(value, str) and len(value) <= 3_000 and re.match(r"(https?://|mailto:)\S", value) is not None


def items(check: Check, minimum: int, maximum: int) -> Check:
    """Return a check of lists with ``minimum`` to ``maximum`` items that each pass ``check``."""
    return lambda value: (
        isinstance(value, list) and minimum <= len(value) <= maximum and all(check(item) for item in value)
    )


@dataclass(frozen=True)
class Shape:
    """A check of objects that allow no unknown keys; ``rule`` checks what concerns several keys."""

    required: dict[str, Check]
    optional: dict[str, Check]
    rule: Check = accept_anything

    def __call__(self, value: object) -> bool:
        """Return whether the value is such an object."""
        if not isinstance(value, dict) or not self.required.keys() <= value.keys():
            return False
        checks = self.required | self.optional
        return all(key in checks and checks[key](part) for key, part in value.items()) and self.rule(value)


def shape(required: dict[str, Check], rule: Check = accept_anything, **optional: Check) -> Shape:
    """Return a check of objects with these required and optional keys."""
    return Shape(required, optional, rule)


def one_of_types(shapes: dict[str, Shape]) -> Check:
    """Return a check of objects whose ``type`` names one of these shapes."""
    with_type = {
        kind: Shape({"type": accept_anything, **s.required}, s.optional, s.rule) for kind, s in shapes.items()
    }

    def check_type(value: object) -> bool:
        kind = value.get("type") if isinstance(value, dict) else None
        return isinstance(kind, str) and kind in with_type and with_type[kind](value)

    return check_type


def has_unique_values(key: str, values: list[Any]) -> bool:
    """Return whether no two objects of the list have the same value for the key."""
    present = [value[key] for value in values if isinstance(value, dict) and key in value]
    return len(present) == len(set(map(str, present)))
