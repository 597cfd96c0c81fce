from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cached_property
from typing import Any, Generic, TypeVar, get_type_hints

from pydantic import TypeAdapter, ValidationError

from bot.errors import StoreUnavailable, UsageError

T = TypeVar("T")


def load_or_none(shape: TypeAdapter[T], stored: str | None) -> T | None:
    """Return a stored value; None if there is none, or if it has another shape."""
    try:
        return None if stored is None else shape.validate_json(stored)
    except ValidationError:
        return None


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
        fields = self._adapter.dump_python(value, mode="json", exclude_defaults=True)
        return {VERSION_FIELD: self._version, **fields}

    def load(self, fields: Any) -> T:
        """Return the value of a JSON object. Raises LaterVersion, ValueError and UsageError."""
        version = fields.get(VERSION_FIELD) if isinstance(fields, dict) else None
        if isinstance(version, int) and version > self._version:
            raise LaterVersion(f"version {version} of {self._shape} is not known here")
        if version != self._version:
            raise ValueError(f"no version of {self._shape}")
        others = {name: value for name, value in fields.items() if name != VERSION_FIELD}
        return self._adapter.validate_python(others)

    def dump_text(self, value: T) -> str:
        return json.dumps(self.dump(value), ensure_ascii=False, separators=(",", ":"))

    def load_text(self, text: str) -> T:
        """Return the value of a text. Raises StoreUnavailable for a later version, ValueError and UsageError."""
        try:
            return self.load(json.loads(text))
        except LaterVersion as error:
            raise StoreUnavailable(NEWER_RECORDS) from error

    def load_or_none(self, text: str | None) -> T | None:
        try:
            return None if text is None else self.load_text(text)
        except (ValueError, UsageError):
            return None

    @cached_property
    def _adapter(self) -> TypeAdapter[T]:
        # it takes milliseconds to build
        return TypeAdapter(self._shape)


log = logging.getLogger(__name__)

R = TypeVar("R")


# how the values of a type become texts, and come back
_FORMATS: Mapping[Any, tuple[Callable[[Any], str], Callable[[str], Any]]] = {
    str: (str, str),
    int: (str, int),
    bool: (lambda flag: "1" if flag else "", bool),
    tuple[str, ...]: (json.dumps, lambda text: tuple(json.loads(text))),
    datetime | None: (lambda at: at.isoformat() if at else "", datetime.fromisoformat),
    # unknown is not the same as zero
    int | None: (lambda number: "" if number is None else str(number), int),
}


class RecordCodec(Generic[R]):
    def __init__(self, kind: type[R], version: int) -> None:
        self._forms = {name: _FORMATS[hint] for name, hint in get_type_hints(kind).items()}
        self._kind = kind
        self._version = version
        # the field that says the version
        self.mark = {VERSION_FIELD: str(version)}
        # most of the many keys of a busy minute have no record yet
        self.empty = kind()

    def load(self, hashed: Mapping[str, str]) -> R:
        """Return the record of a hash.

        An unreadable field counts as one that was never written, and so do all where none says the version: one
        bad record must not keep the clock from all others, and what was posted to Slack is found there by its key.
        Raises StoreUnavailable if a later version wrote it.
        """
        if not hashed:
            return self.empty
        version = hashed.get(VERSION_FIELD, "")
        if version.isdecimal() and int(version) > self._version:
            raise StoreUnavailable(NEWER_RECORDS)
        if version != str(self._version):
            log.warning("a record without its version can't be read")
            return self.empty
        values = dict[str, Any]()
        for name, text in hashed.items():
            if text and name in self._forms:
                try:
                    values[name] = self._forms[name][1](text)
                except ValueError as error:
                    log.warning("the field %s of a record can't be read: %s", name, error)
        return self._kind(**values)

    def dump_changes(self, before: R, after: R) -> dict[str, str]:
        """Return the fields that differ, without the version."""
        return {
            name: dump(getattr(after, name))
            for name, (dump, _) in self._forms.items()
            if getattr(after, name) != getattr(before, name)
        }
