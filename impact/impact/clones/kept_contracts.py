"""Contracts of merges kept on this machine, so that a range that was read once is not read again."""

from __future__ import annotations

import logging
import sqlite3
import sys
import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter

from impact.contract.extraction import EXTRACTION_VERSION
from impact.contract.models import MergeContract
from impact.errors import READING_FAILED
from impact.source.models import SourceProblem

log = logging.getLogger(__name__)

# why a file may be read the next time, or by another version of this package
_PASSING = frozenset({str(SourceProblem.UNAVAILABLE), READING_FAILED})
# another version of Python parses other files
_NAME = f"contracts-{EXTRACTION_VERSION}-{sys.version_info.major}.{sys.version_info.minor}.sqlite"
_TABLE = "CREATE TABLE IF NOT EXISTS contracts (place INTEGER PRIMARY KEY, sha TEXT UNIQUE, data BLOB)"
# some 2,000 bytes each; vLLM merges as many in two years
_MAX_KEPT = 25_000
# variables of one statement of SQLite
_MAX_NAMES = 500
_SECONDS = 5.0


class KeptContracts:
    """The contracts in a folder, by merge commits, whose hashes stand for both versions of all files.

    Where the folder can't be used, nothing is kept: that costs time alone, and is logged.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / _NAME

    def load(self, hashes: Sequence[str]) -> dict[str, MergeContract]:
        """Return what is kept of some merges."""
        if not self._file.exists():
            return {}
        known: dict[str, MergeContract] = {}
        try:
            with closing(self._open()) as database:
                for start in range(0, len(hashes), _MAX_NAMES):
                    names = hashes[start : start + _MAX_NAMES]
                    marks = ", ".join("?" * len(names))
                    statement = f"SELECT sha, data FROM contracts WHERE sha IN ({marks})"  # noqa: S608 (marks)
                    for sha, data in database.execute(statement, tuple(names)):
                        known[sha] = _build_adapter().validate_json(zlib.decompress(data))
        except (OSError, sqlite3.Error, zlib.error, ValueError, TypeError) as error:
            log.warning("%s can't be read, so that merges are read again: %s", self._file, error)
        return known

    def keep(self, contracts: Iterable[MergeContract]) -> None:
        """Keep contracts, but those with files that may be there the next time."""
        rows = [
            (each.commit, zlib.compress(_build_adapter().dump_json(each, exclude_defaults=True), 1))
            for each in contracts
            if _PASSING.isdisjoint(file.reason for file in each.unread)
        ]
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with closing(self._open()) as database, database:
                database.executemany("INSERT OR REPLACE INTO contracts (sha, data) VALUES (?, ?)", rows)
                most = "DELETE FROM contracts WHERE place <= (SELECT MAX(place) FROM contracts) - ?"
                database.execute(most, (_MAX_KEPT,))
        except (OSError, sqlite3.Error) as error:
            log.warning("%s can't be written, so that merges are read again: %s", self._file, error)
            if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
                # it is no database, and would never be one
                self._file.unlink(missing_ok=True)

    def _open(self) -> sqlite3.Connection:
        database = sqlite3.connect(self._file, timeout=_SECONDS)
        database.execute(_TABLE)
        return database


def find_kept_contracts(environment: Mapping[str, str]) -> KeptContracts | None:
    """Return what is kept in the user's folder for what may be deleted at any time; None without a home."""
    caches, home = environment.get("XDG_CACHE_HOME", ""), environment.get("HOME", "")
    if not (caches or home):
        return None
    return KeptContracts((Path(caches) if caches else Path(home, ".cache")) / "prdigest")


@cache
def _build_adapter() -> TypeAdapter[MergeContract]:
    return TypeAdapter(MergeContract)
