"""Typed values as JSON objects that say which version of their shape they have."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter

T = TypeVar("T")

VERSION_FIELD = "version"


class UnknownVersion(ValueError):
    """What was written by a later version of the bot."""


class VersionedJson(Generic[T]):
    """Reads and writes the values of one frozen dataclass, in the one shape that has the number ``version``.

    Fields that have their defaults are left out. What stands in no field is ignored.
    """

    def __init__(self, shape: type[T], version: int) -> None:
        self._shape = shape
        self._version = version

    def dump(self, value: T) -> dict[str, Any]:
        """Return an object of JSON."""
        fields = self._adapter.dump_python(value, mode="json", exclude_defaults=True)
        return {VERSION_FIELD: self._version, **fields}

    def load(self, fields: Mapping[str, Any]) -> T:
        """Read such an object.

        Raises:
            UnknownVersion: it has another version.
            ValueError, UsageError: it holds no such value.
        """
        if fields.get(VERSION_FIELD) != self._version:
            raise UnknownVersion(f"version {fields.get(VERSION_FIELD)} of {self._shape} is not known here")
        return self._adapter.validate_python(
            {name: value for name, value in fields.items() if name != VERSION_FIELD}
        )

    @cached_property
    def _adapter(self) -> TypeAdapter[T]:
        """It takes milliseconds to build, so that only what is used is built."""
        return TypeAdapter(self._shape)
