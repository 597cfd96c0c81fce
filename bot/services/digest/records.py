"""Lookup of the records of digests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from bot.domain.subscriptions.models import DigestSpec
from bot.ports import RecordStore
from bot.services.digest.posted_digest import PostedDigest

# a record holds the texts of its digest too, some tens of kilobytes
_BATCH_SIZE = 50


@dataclass(frozen=True, slots=True)
class TrackedDigest:
    """A digest, the key of its record, and the record as it was when it was loaded."""

    spec: DigestSpec
    key: str
    record: PostedDigest


class DigestRecords:
    """Lookup of digests in a ``store``. ``team`` returns the id of the bot's workspace."""

    def __init__(self, store: RecordStore[PostedDigest], team: Callable[[], str]) -> None:
        self.store = store
        self._team = team

    def find_digest(self, spec: DigestSpec) -> TrackedDigest:
        """Find the record of a digest. Raises what :meth:`find_digests` raises."""
        return self.find_digests([spec])[0]

    def find_digests(self, specs: Sequence[DigestSpec]) -> Sequence[TrackedDigest]:
        """Find the record of each digest.

        Raises:
            StoreUnavailable, SlackCallRefused, SlackUnavailable: the store or Slack is unavailable.
        """
        team = self._team()
        keys = [spec.build_key(team) for spec in specs]
        return list(map(TrackedDigest, specs, keys, self.store.load_each(keys)))

    def load_digest(self, key: str) -> TrackedDigest | None:
        """Return the digest of a key; None if its record does not say that it was posted.

        Raises StoreUnavailable.
        """
        record = self.store.load(key)
        spec = record.spec
        return TrackedDigest(spec, key, record) if spec else None

    def iterate_records(self, keys: Sequence[str]) -> Iterator[tuple[str, PostedDigest]]:
        """Load the records in batches: those of a month of a hundred channels take hundreds of megabytes.

        Raises StoreUnavailable.
        """
        for at in range(0, len(keys), _BATCH_SIZE):
            some = keys[at : at + _BATCH_SIZE]
            yield from zip(some, self.store.load_each(some), strict=True)
