"""Typed values as JSON objects with a version of their shape."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter

from bot.domain.errors import StoreUnavailable, UsageError

T = TypeVar("T")

VERSION_FIELD = "version"
NEWER_RECORDS = "The store has records of a newer version: upgrade this process too."


class LaterVersion(ValueError):
    """Error for a value that a later version of the bot wrote."""


class VersionedJson(Generic[T]):
    """A codec for the values of a frozen dataclass. ``version`` is the only one that it writes and reads.

    A value of a later version is refused: to take it for absent would lose it. What says no version is as
    unreadable as any other damage. Fields with default values are left out. Unknown fields are ignored.
    """

    def __init__(self, shape: type[T], version: int) -> None:
        self._shape = shape
        self._version = version

    def dump(self, value: T) -> dict[str, Any]:
        """Return the value as a JSON object."""
        return {
            VERSION_FIELD: self._version,
            **self._adapter.dump_python(value, mode="json", exclude_defaults=True),
        }

    def load(self, fields: Any) -> T:
        """Return the value of a JSON object.

        Raises:
            LaterVersion: it has a later version.
            ValueError, UsageError: it holds no such value.
        """
        version = fields.get(VERSION_FIELD) if isinstance(fields, dict) else None
        if isinstance(version, int) and version > self._version:
            raise LaterVersion(f"version {version} of {self._shape} is not known here")
        if version != self._version:
            raise ValueError(f"no version of {self._shape}")
        return self._adapter.validate_python(
            {name: value for name, value in fields.items() if name != VERSION_FIELD}
        )

    def dump_text(self, value: T) -> str:
        """Return the value as the text of a JSON object. Equal values have equal texts."""
        return json.dumps(self.dump(value), ensure_ascii=False, separators=(",", ":"))

    def load_text(self, text: str) -> T:
        """Return the value of a stored text.

        Raises:
            StoreUnavailable: it has a later version.
            ValueError, UsageError: it holds no such value.
        """
        try:
            return self.load(json.loads(text))
        except LaterVersion as error:
            raise StoreUnavailable(NEWER_RECORDS) from error

    def load_or_none(self, text: str | None) -> T | None:
        """Return the value of a stored text; None if there is none, or if it is unreadable.

        Raises:
            StoreUnavailable: it has a later version.
        """
        try:
            return None if text is None else self.load_text(text)
        except (ValueError, UsageError):
            return None

    @property
    def _adapter(self) -> TypeAdapter[T]:
        """The adapter of the shape."""
        # mypy takes no class for a key, though each is one
        return _get_adapter(self._shape)  # type: ignore[arg-type]


@cache
def _get_adapter(shape: type[Any]) -> TypeAdapter[Any]:
    """Return the adapter of a shape. It takes milliseconds to build: once, when it is first needed."""
    return TypeAdapter(shape)
