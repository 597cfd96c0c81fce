"""Typed values as JSON objects with a version of their shape."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter

from bot.domain.errors import StoreUnavailable, UsageError

T = TypeVar("T")

Fields = Mapping[str, Any]

VERSION_FIELD = "version"
NEWER_RECORDS = "The store has records of a newer version: upgrade this process too."


class UnknownVersion(ValueError):
    """Error for a value that a later version of the bot wrote."""


class VersionedJson(Generic[T]):
    """A codec for the values of a frozen dataclass. ``version`` is the version that it writes, and reads.

    Fields with default values are left out. Unknown fields are ignored. An attribute with a pydantic alias is
    stored under the alias.

    ``convert_unmarked`` returns the fields of today for those of a value without a version, which counts as
    version 1. It is ``dict`` where they are the same. Without it, such a value has an unknown version.
    """

    def __init__(
        self, shape: type[T], version: int, convert_unmarked: Callable[[Fields], Fields] | None = None
    ) -> None:
        self._shape = shape
        self._version = version
        self._convert_unmarked = convert_unmarked

    def dump(self, value: T) -> dict[str, Any]:
        """Return the value as a JSON object."""
        fields = self._adapter.dump_python(value, mode="json", by_alias=True, exclude_defaults=True)
        return {VERSION_FIELD: self._version, **fields}

    def load(self, fields: Any) -> T:
        """Return the value of a JSON object.

        Raises:
            UnknownVersion: it has another version.
            ValueError, UsageError: it holds no such value.
        """
        if not isinstance(fields, dict):
            raise ValueError(f"no JSON object stands for {self._shape}")  # noqa: TRY004 (what is stored is no type)
        if self._convert_unmarked and VERSION_FIELD not in fields:
            return self._adapter.validate_python(self._convert_unmarked(fields))
        if fields.get(VERSION_FIELD) != self._version:
            raise UnknownVersion(f"version {fields.get(VERSION_FIELD)} of {self._shape} is not known here")
        return self._adapter.validate_python(
            {name: value for name, value in fields.items() if name != VERSION_FIELD}
        )

    def dump_text(self, value: T) -> str:
        """Return the value as the text of a JSON object. Equal values have equal texts."""
        return json.dumps(self.dump(value), ensure_ascii=False, separators=(",", ":"))

    def load_text(self, text: str) -> T:
        """Return the value of a stored text.

        Raises:
            StoreUnavailable: it has another version, so a later one of the bot wrote it.
            ValueError, UsageError: it holds no such value.
        """
        try:
            return self.load(json.loads(text))
        except UnknownVersion as error:
            raise StoreUnavailable(NEWER_RECORDS) from error

    def load_or_none(self, text: str | None) -> T | None:
        """Return the value of a stored text; None if there is none, or if it is unreadable.

        Raises:
            StoreUnavailable: a later version wrote it. To take it for absent would lose it.
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
