"""What was read of merges and files, kept on this machine, so that it is not read again."""

from __future__ import annotations

import logging
import sqlite3
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import cached_property
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import TypeAdapter

from impact.checker.diagnostics import CHECK_VERSION, CheckedState, Finding
from impact.contract.extraction import EXTRACTION_VERSION
from impact.contract.models import MergeContract
from impact.errors import READING_FAILED
from impact.profile.file_uses import SCAN_VERSION
from impact.profile.linking import LINK_VERSION
from impact.profile.models import Profile
from impact.profile.plain_uses import FileUses
from impact.source.models import SourceProblem

log = logging.getLogger(__name__)

Value = TypeVar("Value")
# why a file may be read the next time, or by another version of this package
_PASSING = frozenset({str(SourceProblem.UNAVAILABLE), READING_FAILED})
# another version of Python parses other files
_PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
_TABLE = "CREATE TABLE IF NOT EXISTS kept (place INTEGER PRIMARY KEY, name TEXT UNIQUE, data BLOB)"
# some 2,000 bytes each; vLLM merges as many in two years
_MAX_KEPT = 25_000
# some 400,000 bytes each
_MAX_PROFILES = 100
# some 100,000 bytes each of a whole tree, else hundreds; a line of a week has 50
_MAX_STATES = 5_000
# what began to fail with each commit of a line
NewByCommit = dict[str, tuple[Finding, ...]]
# variables of one statement of SQLite
_MAX_NAMES = 500
_SECONDS = 5.0


class KeptReadings:
    """What is kept in a folder: contracts by merge commits, scans by files' contents, profiles by their commits.

    What a type checker said is kept by all that it looked at. What may be there the next time is left out. Where
    the folder can't be used, nothing is kept: that costs time alone, and is logged.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.contracts = KeptValues(
            folder / f"contracts-{EXTRACTION_VERSION}-{_PYTHON}.sqlite",
            MergeContract,
            lambda contract: _PASSING.isdisjoint(file.reason for file in contract.unread),
        )
        self.scans = KeptValues(
            folder / f"scans-{SCAN_VERSION}-{_PYTHON}.sqlite", FileUses, lambda scan: scan.problem not in _PASSING
        )
        self.profiles = KeptValues(
            folder / f"profiles-{SCAN_VERSION}-{LINK_VERSION}-{EXTRACTION_VERSION}-{_PYTHON}.sqlite",
            Profile,
            lambda profile: _PASSING.isdisjoint(file.reason for file in profile.unread),
            _MAX_PROFILES,
        )
        check = f"{CHECK_VERSION}-{_PYTHON}.sqlite"
        self.checked_states = KeptValues(
            folder / f"checked-states-{check}", CheckedState, lambda _: True, _MAX_STATES
        )
        # which merge began it, contracts say
        self.checked_lines = KeptValues(
            folder / f"checked-findings-{EXTRACTION_VERSION}-{check}", NewByCommit, lambda _: True
        )

    def __reduce__(self) -> tuple[type[KeptReadings], tuple[Path]]:
        # another process opens the folder again
        return KeptReadings, (self._folder,)


class KeptValues(Generic[Value]):
    """Values of one kind in a file, by names."""

    def __init__(
        self, file: Path, kind: type[Value], lasts: Callable[[Value], bool], most: int = _MAX_KEPT
    ) -> None:
        self._file, self._kind, self._lasts, self._most = file, kind, lasts, most

    def load(self, names: Sequence[str]) -> dict[str, Value]:
        if not self._file.exists():
            return {}
        known: dict[str, Value] = {}
        try:
            with closing(self._open()) as database:
                for start in range(0, len(names), _MAX_NAMES):
                    some = names[start : start + _MAX_NAMES]
                    marks = ", ".join("?" * len(some))
                    statement = f"SELECT name, data FROM kept WHERE name IN ({marks})"  # noqa: S608 (marks)
                    for name, data in database.execute(statement, tuple(some)):
                        known[name] = self._adapter.validate_json(zlib.decompress(data))
        except (OSError, sqlite3.Error, zlib.error, ValueError, TypeError) as error:
            log.warning("%s can't be read, so that it is all read again: %s", self._file, error)
        return known

    def keep(self, values: Mapping[str, Value]) -> None:
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with closing(self._open()) as database, database:
                statement = "INSERT OR REPLACE INTO kept (name, data) VALUES (?, ?)"
                database.executemany(statement, self._iterate_rows(values))
                most = "DELETE FROM kept WHERE place <= (SELECT MAX(place) FROM kept) - ?"
                database.execute(most, (self._most,))
        except (OSError, sqlite3.Error) as error:
            log.warning("%s can't be written, so that it is all read again: %s", self._file, error)
            if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
                # it is no database, and would never be one
                self._file.unlink(missing_ok=True)

    def _iterate_rows(self, values: Mapping[str, Value]) -> Iterator[tuple[str, bytes]]:
        for name, value in values.items():
            if not self._lasts(value):
                continue
            try:
                data = self._adapter.dump_json(value, exclude_defaults=True)
            except ValueError:
                # a text of half a character, which a literal may hold and JSON may not
                continue
            yield name, zlib.compress(data, 1)

    def _open(self) -> sqlite3.Connection:
        database = sqlite3.connect(self._file, timeout=_SECONDS)
        database.execute(_TABLE)
        return database

    @cached_property
    def _adapter(self) -> TypeAdapter[Value]:
        # it takes milliseconds to build
        return TypeAdapter(self._kind)


def find_kept_readings(environment: Mapping[str, str]) -> KeptReadings | None:
    """Return what is kept in the user's folder for what may be deleted at any time; None without a home."""
    caches, home = environment.get("XDG_CACHE_HOME", ""), environment.get("HOME", "")
    if not (caches or home):
        return None
    return KeptReadings((Path(caches) if caches else Path(home, ".cache")) / "prdigest")
