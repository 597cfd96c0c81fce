"""Export and import of all durable data of a store."""

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

from bot.adapters.redis.transfer.export_lines import (
    ExportRecord,
    ExportSummary,
    format_footer,
    format_header,
    format_record,
    inspect_export,
    iterate_export,
)
from bot.domain.errors import PostingInProgress, StoreUnavailable, UsageError
from bot.domain.text.strings import format_count, quote_input
from bot.platform.store.connection import pack_value, unpack_value
from bot.platform.store.errors import translate_redis_errors
from bot.platform.store.keyspace import UNPREFIXED, Keyspace
from bot.platform.store.leases import LEASE_SECONDS, hold_lease
from bot.platform.store.schema import (
    SCHEMA_KEY,
    find_exported_family,
    migrate_schema,
    read_import_checksum,
    run_migrations,
    write_import_checksum,
    write_version,
)

TransferProgress = Callable[[int, int], None]

# keys to read, or records to write, in one call
_BATCH_SIZE = 50
# fields in a line: votes are some kilobytes each
_FIELDS_PER_RECORD = 100


class StoreTransfer:
    """Export and import of one store."""

    def __init__(self, client: Redis, keys: Keyspace = UNPREFIXED) -> None:
        self._client = client
        self._keys = keys

    def export_lines(self, at: datetime, progress: TransferProgress) -> Iterator[str]:
        """Yield the lines of an export that is made at ``at``, sorted by key.

        Each key is as it was at one moment. Data that is written meanwhile may be missing.

        Raises:
            StoreUnavailable: a key holds data that prdigest never wrote, or the store does not answer.
        """
        migrate_schema(self._client, self._keys)
        yield format_header(at)
        keys, count = self._list_names(), 0
        for start in range(0, len(keys), _BATCH_SIZE):
            progress(start, len(keys))
            for record in self._read_records(keys[start : start + _BATCH_SIZE]):
                count += 1
                yield format_record(record)
        progress(len(keys), len(keys))
        yield format_footer(count)

    def import_file(self, file: IO[bytes], progress: TransferProgress, *, overwrite: bool) -> Counter[str]:
        """Import a file, and return the number of records by family. A repetition completes an incomplete import.

        Raises:
            UsageError: the file is unusable, or the store holds records and ``overwrite`` is not set; nothing is
                written.
            PostingInProgress: another process imports.
            StoreUnavailable: a newer prdigest wrote the store, or it does not answer.
        """
        export = inspect_export(file)
        with (
            translate_redis_errors(),
            hold_lease(self._client, self._keys, SCHEMA_KEY, timeout=2 * LEASE_SECONDS) as is_held,
        ):
            if not is_held:
                raise PostingInProgress(
                    "Another process is importing into this store or migrating it: wait for it."
                )
            self._require_importable(export, overwrite=overwrite)
            write_import_checksum(self._client, export.checksum, self._keys)
            self._write_records(iterate_export(file), export.records, progress)
            write_version(self._client, export.schema, self._keys)
            run_migrations(self._client, self._keys)
        return export.counts

    def _require_importable(self, export: ExportSummary, *, overwrite: bool) -> None:
        """Raise UsageError if the store may not take the file. Migrate the store if it may."""
        checksum = read_import_checksum(self._client, self._keys)
        if checksum == export.checksum or (checksum and overwrite):
            return
        if checksum:
            raise UsageError("The import of another file was interrupted here: run it again, or add --overwrite.")
        if not overwrite and (count := len(self._list_names())):
            raise UsageError(
                f"The store already contains {format_count(count, 'record')}: use an empty one, or add "
                "--overwrite to replace those that are also in the file."
            )
        run_migrations(self._client, self._keys)

    def _list_names(self) -> list[str]:
        """List the names of the durable keys, sorted."""
        with translate_redis_errors():
            names = set(self._keys.iterate_names(self._client))
        return sorted(name for name in names if find_exported_family(name))

    def _read_records(self, keys: Sequence[str]) -> Iterator[ExportRecord]:
        """Yield the records of keys; none for keys that no longer exist. Raises StoreUnavailable."""
        with translate_redis_errors(), self._client.pipeline(transaction=False) as pipeline:
            for key in keys:
                _queue_read(pipeline, key, self._keys.add_prefix(key))
            values = pipeline.execute(raise_on_error=False)
        for key, value in zip(keys, values, strict=True):
            try:
                yield from _build_records(key, value)
            except (ResponseError, ValueError, zlib.error) as error:
                raise StoreUnavailable(
                    f"prdigest did not write the store's key {quote_input(key)}: remove it and export again."
                ) from error

    def _write_records(self, records: Iterator[ExportRecord], total: int, progress: TransferProgress) -> None:
        """Write records in batches, each all or none."""
        done, previous = 0, ""
        while batch := list(islice(records, _BATCH_SIZE)):
            with self._client.pipeline() as pipeline:
                for record in batch:
                    _queue_write(
                        pipeline, record, self._keys.add_prefix(record.key), is_more=record.key == previous
                    )
                    previous = record.key
                pipeline.execute()
            done += len(batch)
            progress(done, total)


def _get_type(key: str) -> str:
    """Return the Redis type of a durable key."""
    family = find_exported_family(key)
    return family.type if family else ""


def _queue_read(pipeline: Pipeline, name: str, key: str) -> None:
    """Add the command that reads a key to a pipeline."""
    match _get_type(name):
        case "string":
            pipeline.get(key)
        case "hash":
            pipeline.hgetall(key)
        case "list":
            pipeline.lrange(key, 0, -1)
        case "zset":
            pipeline.zrange(key, 0, -1, withscores=True)


def _build_records(key: str, value: Any) -> Iterator[ExportRecord]:
    """Yield the records of a key's value.

    Raises ResponseError, ValueError or zlib.error if prdigest did not write it.
    """
    if isinstance(value, ResponseError):
        raise value
    kind = _get_type(key)
    match kind:
        case "string" if value is not None:
            yield ExportRecord(key, kind, _unpack_text(value))
        case "list" if value:
            yield ExportRecord(key, kind, [_unpack_text(each) for each in value])
        case "zset" if value:
            yield ExportRecord(
                key, kind, dict(sorted((name.decode(), _convert_score(score)) for name, score in value))
            )
        case "hash":
            fields = sorted((name.decode(), field_value) for name, field_value in value.items())
            for at in range(0, len(fields), _FIELDS_PER_RECORD):
                part = fields[at : at + _FIELDS_PER_RECORD]
                yield ExportRecord(key, kind, {name: _unpack_text(field_value) for name, field_value in part})


def _unpack_text(data: bytes) -> str:
    """Return the text of stored bytes. Raises ValueError or zlib.error if they are not packed."""
    # unpack_value() does not check the tag
    if data[:1] not in (b"p", b"z"):
        raise ValueError("not packed")
    return unpack_value(data)


def _convert_score(score: float) -> float:
    """Return a score as an integer if it is whole. Raises ValueError if it is not finite."""
    if not math.isfinite(score):
        raise ValueError("no finite number")
    return int(score) if score.is_integer() else score


def _queue_write(pipeline: Pipeline, record: ExportRecord, key: str, *, is_more: bool) -> None:
    """Add the commands that write a record to a pipeline.

    They replace the value of the key, or with ``is_more`` add to the record before.
    """
    value = record.value
    if not is_more:
        pipeline.delete(key)
    match record.type:
        case "string":
            pipeline.set(key, pack_value(value))
        case "hash":
            pipeline.hset(key, mapping={name: pack_value(text) for name, text in value.items()})
        case "list":
            pipeline.rpush(key, *(cast("str", pack_value(text)) for text in value))
        case "zset":
            pipeline.zadd(key, value)
