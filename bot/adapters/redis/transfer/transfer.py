"""Takes what is kept for good from one store to another."""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import IO, Any, cast

from redis import Redis
from redis.client import Pipeline
from redis.exceptions import ResponseError

from bot.adapters.redis.connection import packed, unpacked
from bot.adapters.redis.errors import translate_redis_errors
from bot.adapters.redis.keyspace import WHOLE, Keyspace
from bot.adapters.redis.leases import LIFETIME, lease
from bot.adapters.redis.transfer.export_lines import (
    Contents,
    Record,
    contents,
    foot_line,
    head_line,
    record_line,
    records,
)
from bot.adapters.redis.transfer.schema import (
    SCHEMA_KEY,
    advance,
    family_of,
    imported,
    migrate,
    stamp,
    stamp_importing,
)
from bot.domain.errors import PostingInProgress, StoreUnavailable, UsageError
from bot.domain.text.strings import format_count, quote_input

Progress = Callable[[int, int], None]

# keys that are read, or records that are written, in one go
_TOGETHER = 50
# fields in a line: votes are some kilobytes each
_FIELDS = 100


class Moving:
    """Exports and imports what is kept for good."""

    def __init__(self, client: Redis, keys: Keyspace = WHOLE) -> None:
        self._client = client
        self._keys = keys

    def export(self, at: datetime, progress: Progress) -> Iterator[str]:
        """The lines of an export that is made at ``at``, sorted by key.

        Each key is as it was at one moment. What is written meanwhile may be in it or not.

        Raises:
            StoreUnavailable: a key holds what prdigest never wrote, or the store does not answer.
        """
        migrate(self._client, self._keys)
        yield head_line(at)
        keys, count = self._names(), 0
        for done in range(0, len(keys), _TOGETHER):
            progress(done, len(keys))
            for record in self._read(keys[done : done + _TOGETHER]):
                count += 1
                yield record_line(record)
        progress(len(keys), len(keys))
        yield foot_line(count)

    def restore(self, file: IO[bytes], progress: Progress, *, overwrite: bool) -> Counter[str]:
        """Take all that a file holds; how much of each family that was. Doing so again finishes what broke off.

        Raises:
            UsageError: the file is no good, or the store holds records and shall not be overwritten; nothing is
                written.
            InProgress: another process imports.
            StoreUnavailable: a newer prdigest wrote the store, or it does not answer.
        """
        found = contents(file)
        with translate_redis_errors(), lease(self._client, self._keys, SCHEMA_KEY, patience=2 * LIFETIME) as held:
            if not held:
                raise PostingInProgress("Another process imports into this store or migrates it: wait for it.")
            self._admit(found, overwrite=overwrite)
            stamp_importing(self._client, found.mark, self._keys)
            self._write(records(file), found.records, progress)
            stamp(self._client, found.schema, self._keys)
            advance(self._client, self._keys)
        return found.counts

    def _admit(self, found: Contents, *, overwrite: bool) -> None:
        mark = imported(self._client, self._keys)
        if mark == found.mark or (mark and overwrite):
            return
        if mark:
            raise UsageError("The import of another file broke off here: run that one again, or add --overwrite.")
        if not overwrite and (count := len(self._names())):
            raise UsageError(
                f"The store holds {format_count(count, 'record')} already: use an empty one, or add --overwrite to"
                " replace those that the file holds too."
            )
        advance(self._client, self._keys)

    def _names(self) -> list[str]:
        with translate_redis_errors():
            found = set(self._keys.find(self._client))
        return sorted(name for name in found if family_of(name))

    def _read(self, keys: Sequence[str]) -> Iterator[Record]:
        """What the keys hold; nothing for those that are gone."""
        with translate_redis_errors(), self._client.pipeline(transaction=False) as together:
            for key in keys:
                _ask(together, key, self._keys.make(key))
            found = together.execute(raise_on_error=False)
        for key, held in zip(keys, found, strict=True):
            try:
                yield from _records(key, held)
            except (ResponseError, ValueError, zlib.error) as error:
                raise StoreUnavailable(
                    f"The store's key {quote_input(key)} holds what prdigest never wrote: remove "
                    "it and export again."
                ) from error

    def _write(self, found: Iterator[Record], total: int, progress: Progress) -> None:
        done, before = 0, ""
        while some := list(islice(found, _TOGETHER)):
            with self._client.pipeline() as together:
                for record in some:
                    _put(together, record, self._keys.make(record.key), is_more=record.key == before)
                    before = record.key
                together.execute()
            done += len(some)
            progress(done, total)


def _type(key: str) -> str:
    family = family_of(key)
    return family.type if family else ""


def _ask(together: Pipeline, name: str, key: str) -> None:
    match _type(name):
        case "string":
            together.get(key)
        case "hash":
            together.hgetall(key)
        case "list":
            together.lrange(key, 0, -1)
        case "zset":
            together.zrange(key, 0, -1, withscores=True)


def _records(key: str, held: Any) -> Iterator[Record]:
    """Raises ResponseError, ValueError or zlib.error where prdigest wrote none of it."""
    if isinstance(held, ResponseError):
        raise held
    kind = _type(key)
    match kind:
        case "string" if held is not None:
            yield Record(key, kind, _text(held))
        case "list" if held:
            yield Record(key, kind, [_text(each) for each in held])
        case "zset" if held:
            yield Record(key, kind, dict(sorted((name.decode(), _number(score)) for name, score in held)))
        case "hash":
            fields = sorted((name.decode(), value) for name, value in held.items())
            for at in range(0, len(fields), _FIELDS):
                part = fields[at : at + _FIELDS]
                yield Record(key, kind, {name: _text(value) for name, value in part})


def _text(data: bytes) -> str:
    # unpacked() believes what it is given
    if data[:1] not in (b"p", b"z"):
        raise ValueError("not packed")
    return unpacked(data)


def _number(score: float) -> float:
    if not math.isfinite(score):
        raise ValueError("no finite number")
    return int(score) if score.is_integer() else score


def _put(together: Pipeline, record: Record, key: str, *, is_more: bool) -> None:
    """Replace what is there; ``is_more``: add to the record before."""
    value = record.value
    if not is_more:
        together.delete(key)
    match record.type:
        case "string":
            together.set(key, packed(value))
        case "hash":
            together.hset(key, mapping={name: packed(text) for name, text in value.items()})
        case "list":
            together.rpush(key, *(cast("str", packed(text)) for text in value))
        case "zset":
            together.zadd(key, value)
