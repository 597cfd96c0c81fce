"""Checks of single values, and of objects that allow no unknown keys; what is wrong with a value, and where."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

Check = Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class Fault:
    """A problem of a value, worded to stand after its place; ``pointer`` is the place as a JSON pointer."""

    pointer: str
    problem: str


def find_fault(check: Check, value: object, pointer: str = "") -> Fault | None:
    """Return the first fault of a value, or None if the check accepts it."""
    if check(value):
        return None
    if isinstance(check, Demand | Items | Shape | TypedShapes):
        return check.explain(value, pointer)
    return Fault(pointer, _DEMANDS.get(check, "is not valid"))


@dataclass(frozen=True, slots=True)
class Demand:
    """A check with the words for what it demands, such as "must be text"."""

    accepts: Check
    words: str

    def __call__(self, value: Any) -> bool:
        """Return whether the value is accepted."""
        return self.accepts(value)

    def explain(self, _: Any, pointer: str) -> Fault:
        """Return what is demanded."""
        return Fault(pointer, self.words)


def accept_anything(_: object) -> bool:
    """Return True: every value passes."""
    return True


def string(maximum: int = 3_000, minimum: int = 1) -> Check:
    """Return a check of strings with ``minimum`` to ``maximum`` characters."""
    return Demand(
        lambda value: isinstance(value, str) and minimum <= len(value) <= maximum,
        f"must be text of {minimum:,} to {maximum:,} characters",
    )


def integer(minimum: int = 0, maximum: int = 2**53) -> Check:
    """Return a check of integers from ``minimum`` to ``maximum``."""
    return Demand(
        lambda value: type(value) is int and minimum <= value <= maximum,
        f"must be a whole number from {minimum:,} to {maximum:,}",
    )


def one_of(*accepted: str) -> Check:
    """Return a check of strings that are among these."""
    return Demand(lambda value: isinstance(value, str) and value in accepted, f"must be {' or '.join(accepted)}")


def is_boolean(value: object) -> bool:
    """Return whether it is True or False."""
    return isinstance(value, bool)


def is_number(value: object) -> bool:
    """Return whether it is a number; booleans are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_link_url(value: object) -> bool:
    """Return whether it is a web or mail address of at most 3,000 characters."""
    return isinstance(value, str) and len(value) <= 3_000 and re.match(r"(https?://|mailto:)\S", value) is not None


_DEMANDS: dict[Check, str] = {
    is_boolean: "must be true or false",
    is_number: "must be a number",
    is_link_url: "must be a web or mail address of at most 3,000 characters",
}


@dataclass(frozen=True, slots=True)
class Items:
    """A check of lists with ``minimum`` to ``maximum`` items that each pass ``check``."""

    check: Check
    minimum: int
    maximum: int

    def __call__(self, value: object) -> bool:
        """Return whether the value is such a list."""
        return isinstance(value, list) and self._has_length(value) and all(self.check(item) for item in value)

    def explain(self, value: Any, pointer: str) -> Fault:
        """Return the fault of the list, or of its first wrong item."""
        if not isinstance(value, list):
            return Fault(pointer, "must be a list")
        if not self._has_length(value):
            return Fault(pointer, f"must have {self.minimum:,} to {self.maximum:,} items")
        faults = (find_fault(self.check, item, f"{pointer}/{place}") for place, item in enumerate(value))
        return next(filter(None, faults))

    def _has_length(self, value: list[Any]) -> bool:
        return self.minimum <= len(value) <= self.maximum


def items(check: Check, minimum: int, maximum: int) -> Check:
    """Return a check of lists with ``minimum`` to ``maximum`` items that each pass ``check``."""
    return Items(check, minimum, maximum)


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
        checks = self._checks
        for key, part in value.items():
            if key not in checks or not checks[key](part):
                return False
        return self.rule(value)

    def explain(self, value: Any, pointer: str) -> Fault:
        """Return the first fault: of the object, of a key, or between its keys."""
        if not isinstance(value, dict):
            return Fault(pointer, "must be an object")
        if lacking := [key for key in self.required if key not in value]:
            return Fault(pointer, f"lacks {lacking[0]}")
        for key, part in value.items():
            place = f"{pointer}/{escape_pointer(str(key))}"
            if key not in self._checks:
                return Fault(place, "is not allowed here")
            if fault := find_fault(self._checks[key], part, place):
                return fault
        between = find_fault(self.rule, value, pointer)
        return between or Fault(pointer, "is not valid")

    @cached_property
    def _checks(self) -> dict[str, Check]:
        return self.required | self.optional


def escape_pointer(key: str) -> str:
    """Return a key as a part of a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


def shape(required: dict[str, Check], rule: Check = accept_anything, **optional: Check) -> Shape:
    """Return a check of objects with these required and optional keys."""
    return Shape(required, optional, rule)


@dataclass(frozen=True, slots=True)
class TypedShapes:
    """A check of objects whose ``type`` names one of these shapes."""

    shapes: dict[str, Shape]

    def __call__(self, value: object) -> bool:
        """Return whether the value is such an object."""
        kind = value.get("type") if isinstance(value, dict) else None
        return isinstance(kind, str) and kind in self.shapes and self.shapes[kind](value)

    def __or__(self, other: TypedShapes) -> TypedShapes:
        """Return a check that accepts what either accepts; they have no type in common."""
        return TypedShapes(self.shapes | other.shapes)

    def explain(self, value: Any, pointer: str) -> Fault:
        """Return the fault of the type, or of the shape that it names."""
        if not isinstance(value, dict):
            return Fault(pointer, "must be an object")
        if "type" not in value:
            return Fault(pointer, "lacks type")
        kind = value["type"]
        if not isinstance(kind, str) or kind not in self.shapes:
            return Fault(f"{pointer}/type", f"must be {' or '.join(self.shapes)}")
        return self.shapes[kind].explain(value, pointer)


def one_of_types(shapes: dict[str, Shape]) -> TypedShapes:
    """Return a check of objects whose ``type`` names one of these shapes."""
    return TypedShapes(
        {kind: Shape({"type": accept_anything, **s.required}, s.optional, s.rule) for kind, s in shapes.items()}
    )


def has_unique_values(key: str, values: list[Any]) -> bool:
    """Return whether no two objects of the list have the same value for the key."""
    present = [value[key] for value in values if isinstance(value, dict) and key in value]
    return len(present) == len(set(map(str, present)))
