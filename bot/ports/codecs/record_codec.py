"""Storage format of records: a frozen dataclass to and from a hash of strings.

A dataclass declares with :func:`declare_field` the field in which each attribute is stored, and its format. The
names of the fields are known nowhere else. An empty field is one that was never written.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Generic, TypeVar

from bot.domain.errors import StoreUnavailable
from bot.ports.codecs.versioned_json import NEWER_RECORDS

log = logging.getLogger(__name__)

_FORMAT_KEY = "form"
_VERSION_FIELD = "version"
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class FieldFormat(Generic[V]):
    """A format of values: its default, and the conversion to a string and back."""

    default: V
    dump: Callable[[V], str]
    load: Callable[[str], V]


TEXT: FieldFormat[str] = FieldFormat("", str, str)
COUNT: FieldFormat[int] = FieldFormat(0, str, int)
FLAG: FieldFormat[bool] = FieldFormat(False, lambda flag: "1" if flag else "", bool)  # noqa: FBT003 (the value for nothing)
TEXTS: FieldFormat[tuple[str, ...]] = FieldFormat((), json.dumps, lambda text: tuple(json.loads(text)))
INSTANT: FieldFormat[datetime | None] = FieldFormat(
    None, lambda at: at.isoformat() if at else "", datetime.fromisoformat
)
# a number that may be unknown, which is not the same as zero
NUMBER: FieldFormat[int | None] = FieldFormat(None, lambda number: "" if number is None else str(number), int)


def declare_field(name: str, form: FieldFormat[V]) -> V:
    """Declare an attribute that is stored as the field ``name`` of the hash."""
    declared: V = field(default=form.default, metadata={_FORMAT_KEY: (name, form)})
    return declared


@dataclass(frozen=True, slots=True)
class Record:
    """A record in one hash. ``version`` is 0 if it was written before records had versions."""

    version: int = declare_field("version", COUNT)


R = TypeVar("R", bound=Record)


class RecordCodec(Generic[R]):
    """A codec for records of one kind. ``version`` is the version of their fields that is written now."""

    def __init__(self, kind: type[R], version: int) -> None:
        declared = [(each.name, *each.metadata[_FORMAT_KEY]) for each in fields(kind)]
        self._forms: dict[str, tuple[str, FieldFormat[Any]]] = {name: (key, form) for name, key, form in declared}
        self._names = {key: name for name, (key, _) in self._forms.items()}
        self._kind = kind
        self._version = version
        # most of the many keys of a busy minute have no record yet
        self.empty = kind()

    def load(self, hashed: Mapping[str, str]) -> R:
        """Return the record of a hash, also of one that an earlier version wrote.

        An unreadable field counts as one that was never written: one bad record must not keep the clock from all
        others, and what was posted to Slack is found there by its key.

        Raises:
            StoreUnavailable: a later version wrote it.
        """
        if not hashed:
            return self.empty
        stored = {self._names[key]: text for key, text in hashed.items() if text and key in self._names}
        record = self._kind(**dict(self._load_fields(stored)))
        if record.version > self._version:
            raise StoreUnavailable(NEWER_RECORDS)
        return record

    def _load_fields(self, stored: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
        """Yield the attributes with their values. Log the unreadable ones."""
        for name, text in stored.items():
            key, form = self._forms[name]
            try:
                yield name, form.load(text)
            except ValueError as error:
                log.warning("the field %s of a record can't be read: %s", key, error)

    def dump_changes(self, before: R, after: R) -> dict[str, str]:
        """Return the fields that differ, with the version if it differs; empty if no field does."""
        changed = {
            key: form.dump(getattr(after, name))
            for name, (key, form) in self._forms.items()
            if getattr(after, name) != getattr(before, name)
        }
        if changed and before.version != self._version:
            changed[_VERSION_FIELD] = str(self._version)
        return changed

    def dump_claims(self, before: R, after: R) -> dict[str, str]:
        """Return the changed fields without the version.

        Others may have written the version, but only the first writer may write these fields.
        """
        return {key: text for key, text in self.dump_changes(before, after).items() if key != _VERSION_FIELD}
