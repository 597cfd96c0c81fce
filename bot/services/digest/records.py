"""Reads back what is recorded of posted digests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pydantic import TypeAdapter

from bot.domain.subscriptions.models import Edition
from bot.domain.track_record.posted_ratings import Ratings
from bot.ports import PostRecords
from bot.ports.cached_json import read_back

EDITION = TypeAdapter(Edition)
RATINGS = TypeAdapter(Ratings)
# a record holds the texts of its digest too, some tens of kilobytes
_AT_ONCE = 50


class DigestRecord(NamedTuple):
    """Where a digest is recorded, and what is; nothing for one that nobody has begun."""

    key: str
    record: Mapping[str, str]


class DigestRecords:
    """Finds the records of digests. ``team`` gives the id of the bot's workspace."""

    def __init__(self, records: PostRecords, team: Callable[[], str]) -> None:
        self._records = records
        self._team = team

    def key(self, edition: Edition) -> str:
        """Get the key of the record. Raises what :meth:`find` raises."""
        return self.find([edition])[0].key

    def find(self, editions: Sequence[Edition]) -> Sequence[DigestRecord]:
        """Find the record of each edition, also one that was written when dates alone made up its key.

        Raises:
            StoreUnavailable, SlackRefused, SlackUnavailable: the store or the team can't be asked.
        """
        team = self._team()
        keys = [edition.key(team) for edition in editions]
        dated_keys = [edition.dated_key(team) for edition in editions]
        loaded = self._records.load_each([*keys, *dated_keys])
        present, dated = loaded[: len(keys)], loaded[len(keys) :]
        return [
            DigestRecord(old_key, old) if not record and _is_of(old, edition) else DigestRecord(key, record)
            for edition, key, record, old_key, old in zip(editions, keys, present, dated_keys, dated, strict=True)
        ]


def _is_of(record: Mapping[str, str], edition: Edition) -> bool:
    """Whether a record under the dates alone is that of the edition; one that was not finished does not say."""
    if not record:
        return False
    recorded = read_back(EDITION, record.get("edition"))
    return recorded is None or recorded.key("") == edition.key("")


def each_record(records: PostRecords, keys: Sequence[str]) -> Iterator[tuple[str, Mapping[str, str]]]:
    """The record of each, some at a time: a month of a hundred channels would take hundreds of megabytes.

    Raises StoreUnavailable.
    """
    for at in range(0, len(keys), _AT_ONCE):
        some = keys[at : at + _AT_ONCE]
        yield from zip(some, records.load_each(some), strict=True)
