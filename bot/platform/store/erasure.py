"""Erasure of what a store holds about people and channels, also while the bot runs, and reset for a new Slack."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from redis import Redis
from redis.client import Pipeline
from redis.exceptions import WatchError

from bot.errors import StoreUnavailable
from bot.platform.store.connection import UNPREFIXED, Keyspace, pack_value, translate_redis_errors, unpack_value
from bot.platform.store.forgotten_ids import ForgottenIds
from bot.platform.store.keys import (
    DUE_QUEUE,
    JOBS_NAMESPACE,
    LEASE,
    SUBSCRIPTIONS_KEY,
    find_family,
    parse_attempt_subscription,
)

# a process that writes the same key meanwhile is rare; one that does so ten times in a row is broken
_MAX_ATTEMPTS = 10
_MESSAGES_SUFFIX, _DEAD_QUEUE_SUFFIX = ".msgs", ".XQ"
_Command = tuple[Any, ...]
# keys to read in one call, and to delete
_BATCH_SIZE, _RESET_SIZE = 50, 500
# how each type is read; other types hold no texts
_READERS: Mapping[bytes, Callable[[Pipeline, str], Any]] = {
    b"string": lambda pipeline, key: pipeline.get(key),
    b"hash": lambda pipeline, key: pipeline.hgetall(key),
    b"list": lambda pipeline, key: pipeline.lrange(key, 0, -1),
    b"zset": lambda pipeline, key: pipeline.zrange(key, 0, -1, withscores=True),
}


@dataclass(frozen=True, slots=True)
class ErasureCount:
    """The number of entries that were removed, and of those from which an id was taken out."""

    removed: int
    redacted: int


@dataclass(slots=True)
class _KeyErasure:
    """What is to be done to one key: the numbers of entries to remove and to redact, and the commands for it."""

    key: str
    ids: ForgottenIds
    removed: int = 0
    redacted: int = 0
    commands: list[_Command] = field(default_factory=list)

    def remove(self, *command: Any) -> None:
        self.removed += 1
        self.commands.append(command)

    def redact(self, *command: Any) -> None:
        self.redacted += 1
        self.commands.append(command)


class StoreEraser:
    """Removal of ids from every key, those of job queues included. Each method may raise StoreUnavailable."""

    def __init__(self, client: Redis, keys: Keyspace = UNPREFIXED) -> None:
        self._client = client
        self._keys = keys

    def find_direct_channels(self, user: str) -> frozenset[str]:
        with translate_redis_errors():
            subscriptions = self._read_subscriptions()
        asker = ForgottenIds(users=frozenset({user}))
        return frozenset(
            part
            for text in filter(asker.is_in, subscriptions.values())
            for part in text.split('"')
            if part.startswith("D") and part.isalnum()
        )

    def erase(self, ids: ForgottenIds, *, is_counted_only: bool = False) -> Mapping[str, ErasureCount]:
        """Remove what is of the ids, redact them elsewhere, no key by half; return how often, by content."""
        removed, redacted = Counter[str](), Counter[str]()
        with translate_redis_errors():
            # read before they are removed: plans name subscriptions by these
            gone = frozenset(name for name, text in self._read_subscriptions().items() if ids.owns(text))
            names = sorted(set(self._keys.iterate_names(self._client)))
            for start in range(0, len(names), _BATCH_SIZE):
                for name, planned in self._plan_batch(names[start : start + _BATCH_SIZE], ids, gone):
                    done = planned if is_counted_only else self._change_key(name, ids, gone)
                    content = "jobs that wait" if name.startswith(f"{JOBS_NAMESPACE}:") else "other keys"
                    if family := find_family(name):
                        content = family.content.partition(";")[0]
                    removed[content] += done.removed
                    redacted[content] += done.redacted
        return {
            content: ErasureCount(removed[content], redacted[content])
            for content in sorted(removed)
            if removed[content] or redacted[content]
        }

    def _plan_batch(
        self, names: Sequence[str], ids: ForgottenIds, gone: frozenset[str]
    ) -> Iterator[tuple[str, _KeyErasure]]:
        """Yield the keys of a batch to which something is to be done, with what that is. Most keys name nobody."""
        # a lease protects work that is under way, and expires after seconds
        keys = {name: self._keys.add_prefix(name) for name in names if not LEASE.has_key(name)}
        with self._client.pipeline(transaction=False) as pipeline:
            for key in keys.values():
                pipeline.type(key)
            types = dict(zip(keys, pipeline.execute(), strict=True))
            readable = [name for name in keys if types[name] in _READERS]
            for name in readable:
                _READERS[types[name]](pipeline, keys[name])
            values = pipeline.execute(raise_on_error=False)
        for name, value in zip(readable, values, strict=True):
            # a key that got another type in between is new, and a later round finds it
            if not isinstance(value, Exception):
                erasure = _plan_key(name, keys[name], _unify_value(value), ids, gone)
                if erasure.commands:
                    yield name, erasure

    def _change_key(self, name: str, ids: ForgottenIds, gone: frozenset[str]) -> _KeyErasure:
        """Carry out the erasure of a key; plan it again if the key was written in between."""
        key = self._keys.add_prefix(name)
        with self._client.pipeline() as pipeline:
            for _ in range(_MAX_ATTEMPTS):
                pipeline.watch(key)  # type: ignore[no-untyped-call]
                read = _READERS.get(cast("bytes", pipeline.type(key)))
                erasure = _plan_key(name, key, _unify_value(read(pipeline, key)) if read else None, ids, gone)
                pipeline.multi()
                for command in erasure.commands:
                    pipeline.execute_command(*command)  # type: ignore[no-untyped-call]
                try:
                    pipeline.execute()
                except WatchError:
                    continue
                return erasure
        raise StoreUnavailable("The bot writes all the time: stop it, and run the command again.")

    def _read_subscriptions(self) -> dict[str, str]:
        stored = cast("dict[bytes, bytes]", self._client.hgetall(self._keys.add_prefix(SUBSCRIPTIONS_KEY)))
        return {_decode(name): _read_text(value) for name, value in stored.items()}


def _unify_value(value: Any) -> Any:
    if isinstance(value, list) and value and isinstance(value[0], tuple):
        return dict(cast("Iterable[tuple[bytes, float]]", value))
    return value


def _plan_key(name: str, key: str, value: Any, ids: ForgottenIds, gone: frozenset[str]) -> _KeyErasure:
    erasure, family = _KeyErasure(key, ids), find_family(name)
    if value is None:
        return erasure
    # what was said in one of the messages; others may wait in the same thread
    is_of_message = ids.is_of_message(name) and not (family and family.outlives_message)
    if ids.is_in(name) or is_of_message or parse_attempt_subscription(name) in gone:
        erasure.remove("DEL", key)
    elif isinstance(value, bytes):
        text = _read_text(value)
        if ids.owns(text):
            erasure.remove("DEL", key)
        elif ids.is_in(text):
            erasure.redact("SET", key, _rewrite(value, ids), "KEEPTTL")
    elif isinstance(value, list):
        _plan_list(erasure, value)
    elif all(isinstance(each, float) for each in value.values()):
        _plan_members(erasure, value, gone if name == DUE_QUEUE.build_key() else frozenset())
    else:
        _plan_hash(erasure, name, value)
    return erasure


def _plan_list(erasure: _KeyErasure, value: Sequence[bytes]) -> None:
    owned = []
    for position, item in enumerate(value):
        text = _read_text(item)
        if erasure.ids.owns(text):
            owned.append(item)
        elif erasure.ids.is_in(text):
            erasure.redact("LSET", erasure.key, position, _rewrite(item, erasure.ids))
    # at the end: what is removed changes the positions of the others
    for item in owned:
        erasure.remove("LREM", erasure.key, 0, item)


def _plan_members(erasure: _KeyErasure, value: Mapping[bytes, float], gone: frozenset[str]) -> None:
    for member, score in value.items():
        text = _decode(member)
        if text in gone or erasure.ids.owns(text):
            erasure.remove("ZREM", erasure.key, member)
        elif erasure.ids.is_in(text):
            erasure.redact("ZREM", erasure.key, member)
            erasure.commands.append(("ZADD", erasure.key, score, erasure.ids.redact(text)))


def _plan_hash(erasure: _KeyErasure, name: str, value: Mapping[bytes, bytes]) -> None:
    ids, key = erasure.ids, erasure.key
    texts = {_decode(part): _read_text(packed) for part, packed in value.items()}
    if any(text in ids.channels for text in texts.values()):
        # the record of a message in that channel
        erasure.remove("DEL", key)
        return
    for part, packed in value.items():
        field_name, text = _decode(part), _read_text(packed)
        if ids.is_value(text):
            # a field that was never written is empty: nobody pays, nobody is asked
            erasure.redact("HDEL", key, part)
        elif ids.is_in(field_name) or ids.is_of_message(field_name) or ids.owns(text):
            erasure.remove("HDEL", key, part)
            if name.startswith(f"{JOBS_NAMESPACE}:") and name.endswith(_MESSAGES_SUFFIX):
                # the message of a job leaves its queue, too
                queue = key.removesuffix(_MESSAGES_SUFFIX)
                is_dead = queue.endswith(_DEAD_QUEUE_SUFFIX)
                erasure.commands.append(("ZREM", queue, part) if is_dead else ("LREM", queue, 0, part))
        elif ids.is_in(text):
            erasure.redact("HSET", key, part, _rewrite(packed, ids))


def _decode(data: bytes) -> str:
    return data.decode(errors="replace")


def _read_text(data: bytes) -> str:
    try:
        return unpack_value(data) if data[:1] in (b"p", b"z") else _decode(data)
    except (zlib.error, UnicodeDecodeError):
        return _decode(data)


def _rewrite(data: bytes, ids: ForgottenIds) -> bytes:
    text = ids.redact(_read_text(data))
    return text.encode() if _read_text(data) == _decode(data) else pack_value(text)


def reset_store(client: Redis, keys: Keyspace = UNPREFIXED) -> None:
    """Remove conversations and plans, job queues included; what was read or paid for survives.

    Call it only for a store that no bot uses at the time. Raises StoreUnavailable if it does not answer.
    """
    with translate_redis_errors():
        names = ((name, find_family(name)) for name in keys.iterate_names(client))
        removed = [keys.add_prefix(name) for name, family in names if not (family and family.survives_reset)]
        for start in range(0, len(removed), _RESET_SIZE):
            client.delete(*removed[start : start + _RESET_SIZE])
