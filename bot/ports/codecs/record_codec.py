"""Storage format of records: a frozen dataclass to and from a hash of strings, with a field for each attribute.

An empty field is one that was never written. Each hash says its version.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar, get_type_hints

from bot.domain.errors import StoreUnavailable
from bot.ports.codecs.versioned_json import NEWER_RECORDS, VERSION_FIELD

log = logging.getLogger(__name__)

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class _FieldFormat:
    """The conversion of the values of a type to a string and back."""

    dump: Callable[[Any], str]
    load: Callable[[str], Any]


_FORMATS: Mapping[Any, _FieldFormat] = {
    str: _FieldFormat(str, str),
    int: _FieldFormat(str, int),
    bool: _FieldFormat(lambda flag: "1" if flag else "", bool),
    tuple[str, ...]: _FieldFormat(json.dumps, lambda text: tuple(json.loads(text))),
    datetime | None: _FieldFormat(lambda at: at.isoformat() if at else "", datetime.fromisoformat),
    # unknown is not the same as zero
    int | None: _FieldFormat(lambda number: "" if number is None else str(number), int),
}


class RecordCodec(Generic[R]):
    """A codec for records of one kind, which all have defaults. ``version`` is that of their fields."""

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

        Raises:
            StoreUnavailable: a later version wrote it.
        """
        return self._kind(**dict(self._load_fields(hashed))) if hashed else self.empty

    def _load_fields(self, hashed: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
        """Yield the attributes with their values. Log the unreadable ones."""
        version = hashed.get(VERSION_FIELD, "")
        if version.isdecimal() and int(version) > self._version:
            raise StoreUnavailable(NEWER_RECORDS)
        if version != str(self._version):
            log.warning("a record without its version can't be read")
            return
        for name, text in hashed.items():
            if text and (form := self._forms.get(name)):
                try:
                    yield name, form.load(text)
                except ValueError as error:
                    log.warning("the field %s of a record can't be read: %s", name, error)

    def dump_changes(self, before: R, after: R) -> dict[str, str]:
        """Return the fields that differ, without the version."""
        return {
            name: form.dump(getattr(after, name))
            for name, form in self._forms.items()
            if getattr(after, name) != getattr(before, name)
        }
