"""Stores of records for tests: on the store, in a dictionary, and ways to plant and to see what is kept."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, TypeVar, cast

from redis import Redis

from bot.errors import PostingInProgress
from bot.features.digest.posts import RECORDS, PostedDigest
from bot.platform.slack.answers import ANSWERED_REQUEST, AnsweredRequest
from bot.platform.store.codecs import RecordCodec
from bot.platform.store.connection import pack_value, unpack_value
from bot.platform.store.records import RecordStore

R = TypeVar("R")
Digests = RecordStore[PostedDigest]


def digest_store(client: Redis) -> Digests:
    return RecordStore(client, RECORDS)


def answer_store(client: Redis, lifetime: timedelta = timedelta(days=1)) -> RecordStore[AnsweredRequest]:
    return RecordStore(client, ANSWERED_REQUEST, lifetime)


def plant(store: RecordStore[R], key: str, **changes: Any) -> R:
    before = store.load(key)
    after: R = replace(cast("Any", before), **changes)
    return store.save(key, before, after)


def plant_hash(client: Redis, key: str, **fields: str) -> None:
    client.hset(key, mapping={name: pack_value(value) for name, value in fields.items()})


def read_hash(client: Redis, key: str) -> dict[str, str]:
    fields: Any = client.hgetall(key)
    return {name.decode(): unpack_value(value) for name, value in fields.items()}


@dataclass
class MemoryRecords(RecordStore[R]):
    """``RecordStore`` in a dictionary of hashes; ``busy`` as if another process held every record."""

    codec: RecordCodec[R]
    kept: dict[str, dict[str, str]] = field(default_factory=dict)
    busy: bool = False

    def load(self, key: str) -> R:
        return self.codec.load(self.kept.get(key, {}))

    def load_each(self, keys: Sequence[str]) -> Sequence[R]:
        return [self.load(key) for key in keys]

    def save(self, key: str, before: R, after: R) -> R:
        if changes := self.codec.dump_changes(before, after):
            self.kept.setdefault(key, {}).update(self.codec.mark | changes)
        return after

    def claim(self, key: str, before: R, after: R) -> R:
        kept, claimed = self.kept.setdefault(key, {}), self.codec.dump_changes(before, after)
        if any(name in kept for name in claimed):
            raise PostingInProgress(f"{key} is being posted.")
        kept.update(self.codec.mark | claimed)
        return after

    @contextmanager
    def hold_lock(self, key: str) -> Iterator[None]:
        if self.busy:
            raise PostingInProgress(f"{key} is being posted.")
        yield


def memory_digests(
    kept: dict[str, dict[str, str]] | None = None, *, busy: bool = False
) -> MemoryRecords[PostedDigest]:
    return MemoryRecords(RECORDS, kept or {}, busy)


def memory_answers(*, busy: bool = False) -> MemoryRecords[AnsweredRequest]:
    return MemoryRecords(ANSWERED_REQUEST, busy=busy)
