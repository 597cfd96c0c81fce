"""Typed values as JSON objects with a version of their shape."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter

T = TypeVar("T")

VERSION_FIELD = "version"


class UnknownVersion(ValueError):
    """Error for a value that a later version of the bot wrote."""


class VersionedJson(Generic[T]):
    """A codec for the values of a frozen dataclass. ``version`` is the only version that it reads and writes.

    Fields with default values are left out. Unknown fields are ignored.
    """

    def __init__(self, shape: type[T], version: int) -> None:
        self._shape = shape
        self._version = version

    def dump(self, value: T) -> dict[str, Any]:
        """Return the value as a JSON object."""
        fields = self._adapter.dump_python(value, mode="json", exclude_defaults=True)
        return {VERSION_FIELD: self._version, **fields}

    def load(self, fields: Mapping[str, Any]) -> T:
        """Return the value of a JSON object.

        Raises:
            UnknownVersion: it has another version.
            ValueError, UsageError: it holds no such value.
        """
        if fields.get(VERSION_FIELD) != self._version:
            raise UnknownVersion(f"version {fields.get(VERSION_FIELD)} of {self._shape} is not known here")
        return self._adapter.validate_python(
            {name: value for name, value in fields.items() if name != VERSION_FIELD}
        )

    @property
    def _adapter(self) -> TypeAdapter[T]:
        """The adapter of the shape."""
        # mypy takes no class for a key, though each is one
        return _get_adapter(self._shape)  # type: ignore[arg-type]


@cache
def _get_adapter(shape: type[Any]) -> TypeAdapter[Any]:
    """Return the adapter of a shape. It takes milliseconds to build: once, when it is first needed."""
    return TypeAdapter(shape)
