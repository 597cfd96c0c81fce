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

from bot.adapters.redis.connection import pack_value, unpack_value
from bot.adapters.redis.errors import translate_redis_errors
from bot.adapters.redis.keyspace import UNPREFIXED, Keyspace
from bot.adapters.redis.leases import LEASE_SECONDS, hold_lease
from bot.adapters.redis.transfer.export_lines import (
    ExportRecord,
    ExportSummary,
    format_footer,
    format_header,
    format_record,
    inspect_export,
    iterate_export,
)
from bot.adapters.redis.transfer.schema import (
    SCHEMA_KEY,
    find_exported_family,
    migrate_schema,
    read_import_checksum,
    run_migrations,
    write_import_checksum,
    write_version,
)
from bot.domain.errors import PostingInProgress, StoreUnavailable, UsageError
from bot.domain.text.strings import format_count, quote_input

TransferProgress = Callable[[int, int], None]

# keys that are read, or records that are written, in one go
_BATCH_SIZE = 50
# fields in a line: votes are some kilobytes each
_FIELDS_PER_RECORD = 100


class StoreTransfer:
    """Exports and imports what is kept for good."""

    def __init__(self, client: Redis, keys: Keyspace = UNPREFIXED) -> None:
        self._client = client
        self._keys = keys

    def export_lines(self, at: datetime, progress: TransferProgress) -> Iterator[str]:
        """The lines of an export that is made at ``at``, sorted by key.

        Each key is as it was at one moment. What is written meanwhile may be in it or not.

        Raises:
            StoreUnavailable: a key holds what prdigest never wrote, or the store does not answer.
        """
        migrate_schema(self._client, self._keys)
        yield format_header(at)
        keys, count = self._list_names(), 0
        for done in range(0, len(keys), _BATCH_SIZE):
            progress(done, len(keys))
            for record in self._read_records(keys[done : done + _BATCH_SIZE]):
                count += 1
                yield format_record(record)
        progress(len(keys), len(keys))
        yield format_footer(count)

    def import_file(self, file: IO[bytes], progress: TransferProgress, *, overwrite: bool) -> Counter[str]:
        """Take all that a file holds; how much of each family that was. Doing so again finishes what broke off.

        Raises:
            UsageError: the file is no good, or the store holds records and shall not be overwritten; nothing is
                written.
            InProgress: another process imports.
            StoreUnavailable: a newer prdigest wrote the store, or it does not answer.
        """
        found = inspect_export(file)
        with (
            translate_redis_errors(),
            hold_lease(self._client, self._keys, SCHEMA_KEY, patience=2 * LEASE_SECONDS) as held,
        ):
            if not held:
                raise PostingInProgress("Another process imports into this store or migrates it: wait for it.")
            self._require_importable(found, overwrite=overwrite)
            write_import_checksum(self._client, found.checksum, self._keys)
            self._write_records(iterate_export(file), found.records, progress)
            write_version(self._client, found.schema, self._keys)
            run_migrations(self._client, self._keys)
        return found.counts

    def _require_importable(self, found: ExportSummary, *, overwrite: bool) -> None:
        mark = read_import_checksum(self._client, self._keys)
        if mark == found.checksum or (mark and overwrite):
            return
        if mark:
            raise UsageError("The import of another file broke off here: run that one again, or add --overwrite.")
        if not overwrite and (count := len(self._list_names())):
            raise UsageError(
                f"The store holds {format_count(count, 'record')} already: use an empty one, or add --overwrite to"
                " replace those that the file holds too."
            )
        run_migrations(self._client, self._keys)

    def _list_names(self) -> list[str]:
        with translate_redis_errors():
            found = set(self._keys.iterate_names(self._client))
        return sorted(name for name in found if find_exported_family(name))

    def _read_records(self, keys: Sequence[str]) -> Iterator[ExportRecord]:
        """What the keys hold; nothing for those that are gone."""
        with translate_redis_errors(), self._client.pipeline(transaction=False) as together:
            for key in keys:
                _queue_read(together, key, self._keys.add_prefix(key))
            found = together.execute(raise_on_error=False)
        for key, held in zip(keys, found, strict=True):
            try:
                yield from _build_records(key, held)
            except (ResponseError, ValueError, zlib.error) as error:
                raise StoreUnavailable(
                    f"The store's key {quote_input(key)} holds what prdigest never wrote: remove "
                    "it and export again."
                ) from error

    def _write_records(self, found: Iterator[ExportRecord], total: int, progress: TransferProgress) -> None:
        done, before = 0, ""
        while some := list(islice(found, _BATCH_SIZE)):
            with self._client.pipeline() as together:
                for record in some:
                    _queue_write(together, record, self._keys.add_prefix(record.key), is_more=record.key == before)
                    before = record.key
                together.execute()
            done += len(some)
            progress(done, total)


def _get_type(key: str) -> str:
    family = find_exported_family(key)
    return family.type if family else ""


def _queue_read(together: Pipeline, name: str, key: str) -> None:
    match _get_type(name):
        case "string":
            together.get(key)
        case "hash":
            together.hgetall(key)
        case "list":
            together.lrange(key, 0, -1)
        case "zset":
            together.zrange(key, 0, -1, withscores=True)


def _build_records(key: str, held: Any) -> Iterator[ExportRecord]:
    """Raises ResponseError, ValueError or zlib.error where prdigest wrote none of it."""
    if isinstance(held, ResponseError):
        raise held
    kind = _get_type(key)
    match kind:
        case "string" if held is not None:
            yield ExportRecord(key, kind, _unpack_text(held))
        case "list" if held:
            yield ExportRecord(key, kind, [_unpack_text(each) for each in held])
        case "zset" if held:
            yield ExportRecord(
                key, kind, dict(sorted((name.decode(), _convert_score(score)) for name, score in held))
            )
        case "hash":
            fields = sorted((name.decode(), value) for name, value in held.items())
            for at in range(0, len(fields), _FIELDS_PER_RECORD):
                part = fields[at : at + _FIELDS_PER_RECORD]
                yield ExportRecord(key, kind, {name: _unpack_text(value) for name, value in part})


def _unpack_text(data: bytes) -> str:
    # unpacked() believes what it is given
    if data[:1] not in (b"p", b"z"):
        raise ValueError("not packed")
    return unpack_value(data)


def _convert_score(score: float) -> float:
    if not math.isfinite(score):
        raise ValueError("no finite number")
    return int(score) if score.is_integer() else score


def _queue_write(together: Pipeline, record: ExportRecord, key: str, *, is_more: bool) -> None:
    """Replace what is there; ``is_more``: add to the record before."""
    value = record.value
    if not is_more:
        together.delete(key)
    match record.type:
        case "string":
            together.set(key, pack_value(value))
        case "hash":
            together.hset(key, mapping={name: pack_value(text) for name, text in value.items()})
        case "list":
            together.rpush(key, *(cast("str", pack_value(text)) for text in value))
        case "zset":
            together.zadd(key, value)
