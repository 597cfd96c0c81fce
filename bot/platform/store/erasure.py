"""Erasure of what a store holds about people and channels, also while the bot runs."""

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
from bot.platform.store.connection import pack_value, unpack_value
from bot.platform.store.errors import translate_redis_errors
from bot.platform.store.forgotten_ids import ForgottenIds
from bot.platform.store.keys import (
    DUE_QUEUE,
    JOBS_NAMESPACE,
    LEASE,
    SUBSCRIPTIONS_KEY,
    find_family,
    parse_attempt_subscription,
)
from bot.platform.store.keyspace import UNPREFIXED, Keyspace

# a process that writes the same key meanwhile is rare; one that does so ten times in a row is broken
_MAX_ATTEMPTS = 10
_MESSAGES_SUFFIX, _DEAD_QUEUE_SUFFIX = ".msgs", ".XQ"
_Command = tuple[Any, ...]
# keys to read in one call
_BATCH_SIZE = 50
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
    """Removal of ids from all that is stored: it looks at every key, those of the job queues included.

    Every method may raise StoreUnavailable.
    """

    def __init__(self, client: Redis, keys: Keyspace = UNPREFIXED) -> None:
        self._client = client
        self._keys = keys

    def find_direct_channels(self, user: str) -> frozenset[str]:
        """Return the direct messages of a user that subscriptions name."""
        with translate_redis_errors():
            subscribed = [_read_text(value) for value in self._read_hash(SUBSCRIPTIONS_KEY).values()]
        asker = ForgottenIds(users=frozenset({user}))
        places = set[str]()
        for text in filter(asker.is_in, subscribed):
            places.update(part for part in text.split('"') if part.startswith("D") and part.isalnum())
        return frozenset(place for place in places if place.startswith("D"))

    def count(self, ids: ForgottenIds) -> Mapping[str, ErasureCount]:
        """Return what :meth:`erase` would do, by the content of the keys."""
        return self._visit(ids, is_counted_only=True)

    def erase(self, ids: ForgottenIds) -> Mapping[str, ErasureCount]:
        """Remove what belongs to the ids, and redact them elsewhere. No key is changed by half."""
        return self._visit(ids, is_counted_only=False)

    def _visit(self, ids: ForgottenIds, *, is_counted_only: bool) -> Mapping[str, ErasureCount]:
        removed, redacted = Counter[str](), Counter[str]()
        with translate_redis_errors():
            # read before they are removed: plans name subscriptions by these
            gone = self._list_subscriptions(ids)
            names = sorted(set(self._keys.iterate_names(self._client)))
            for start in range(0, len(names), _BATCH_SIZE):
                for name, planned in self._plan_batch(names[start : start + _BATCH_SIZE], ids, gone):
                    done = planned if is_counted_only else self._change_key(name, ids, gone)
                    content = _describe_content(name)
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

    def _list_subscriptions(self, ids: ForgottenIds) -> frozenset[str]:
        """Return the ids of the subscriptions that are to be removed."""
        stored = self._read_hash(SUBSCRIPTIONS_KEY)
        return frozenset(_decode(name) for name, value in stored.items() if ids.owns(_read_text(value)))

    def _read_hash(self, name: str) -> dict[bytes, bytes]:
        return cast("dict[bytes, bytes]", self._client.hgetall(self._keys.add_prefix(name)))


def _describe_content(name: str) -> str:
    """Return what the keys of a name's family hold, for people."""
    family = find_family(name)
    if family:
        return family.content.partition(";")[0]
    return "jobs that wait" if name.startswith(f"{JOBS_NAMESPACE}:") else "other keys"


def _unify_value(value: Any) -> Any:
    """Return a read value; a sorted set as a mapping of its members to their scores."""
    if isinstance(value, list) and value and isinstance(value[0], tuple):
        return dict(cast("Iterable[tuple[bytes, float]]", value))
    return value


def _plan_key(name: str, key: str, value: Any, ids: ForgottenIds, gone: frozenset[str]) -> _KeyErasure:
    """Return what is to be done to a key with this value."""
    erasure = _KeyErasure(key, ids)
    if value is None:
        return erasure
    if ids.is_in(name) or _is_of_message(name, ids) or parse_attempt_subscription(name) in gone:
        erasure.remove("DEL", key)
    elif isinstance(value, bytes):
        _plan_string(erasure, value)
    elif isinstance(value, list):
        _plan_list(erasure, value)
    elif all(isinstance(each, float) for each in value.values()):
        _plan_members(erasure, value, gone if name == DUE_QUEUE.build_key() else frozenset())
    else:
        _plan_hash(erasure, name, value)
    return erasure


def _is_of_message(name: str, ids: ForgottenIds) -> bool:
    """Return whether a key holds what was said in one of the messages. Others may wait in the same thread."""
    family = find_family(name)
    return ids.is_of_message(name) and not (family and family.outlives_message)


def _plan_string(erasure: _KeyErasure, value: bytes) -> None:
    text = _read_text(value)
    if erasure.ids.owns(text):
        erasure.remove("DEL", erasure.key)
    elif erasure.ids.is_in(text):
        erasure.redact("SET", erasure.key, _rewrite(value, erasure.ids), "KEEPTTL")


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
            erasure.commands.extend(_remove_from_queue(name, key, part))
        elif ids.is_in(text):
            erasure.redact("HSET", key, part, _rewrite(packed, ids))


def _remove_from_queue(name: str, key: str, message: bytes) -> Iterator[_Command]:
    """Yield the command that removes a job's message from its queue, if the hash is that of a queue's messages."""
    if name.startswith(f"{JOBS_NAMESPACE}:") and name.endswith(_MESSAGES_SUFFIX):
        queue = key.removesuffix(_MESSAGES_SUFFIX)
        yield ("ZREM", queue, message) if queue.endswith(_DEAD_QUEUE_SUFFIX) else ("LREM", queue, 0, message)


def _decode(data: bytes) -> str:
    return data.decode(errors="replace")


def _read_text(data: bytes) -> str:
    """Return the text of stored bytes, packed or not."""
    try:
        return unpack_value(data) if data[:1] in (b"p", b"z") else _decode(data)
    except (zlib.error, UnicodeDecodeError):
        return _decode(data)


def _rewrite(data: bytes, ids: ForgottenIds) -> bytes:
    """Return stored bytes with the ids redacted, packed if they were."""
    text = ids.redact(_read_text(data))
    return text.encode() if _read_text(data) == _decode(data) else pack_value(text)
