"""Reads back what is recorded of posted digests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pydantic import TypeAdapter

from bot.domain.ratings import Ratings
from bot.domain.subscriptions import Edition
from bot.ports import PostRecords

EDITION = TypeAdapter(Edition)
RATINGS = TypeAdapter(Ratings)
# a record holds the texts of its digest too, some tens of kilobytes
_AT_ONCE = 50


def each_record(records: PostRecords, keys: Sequence[str]) -> Iterator[tuple[str, Mapping[str, str]]]:
    """The record of each, some at a time: a month of a hundred channels would take hundreds of megabytes.

    Raises StoreUnavailable.
    """
    for at in range(0, len(keys), _AT_ONCE):
        some = keys[at : at + _AT_ONCE]
        yield from zip(some, records.load_each(some), strict=True)
