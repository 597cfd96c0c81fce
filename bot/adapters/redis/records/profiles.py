"""Profiles on Redis: a hash of entries, and a string for what each tree uses. They don't expire.

A profile of vllm-ascend has some thousand uses and takes about 1 MB as JSON, a tenth of that as it is packed.
"""

from __future__ import annotations

import logging
import zlib
from collections.abc import Sequence
from typing import cast

from redis import Redis

from bot.domain.errors import StoreUnavailable, UsageError
from bot.domain.keyspace.keys import PROFILE, PROFILE_LIST
from bot.domain.profile.entries import ProfileEntry
from bot.platform.store.connection import pack_value, unpack_value
from bot.platform.store.errors import translate_redis_errors
from bot.platform.store.keyspace import UNPREFIXED, Keyspace
from bot.ports.codecs.versioned_json import VersionedJson
from impact.profile.models import Profile
from impact.profile.profile_json import dump_profile, parse_profile

log = logging.getLogger(__name__)

_ENTRY_JSON = VersionedJson(ProfileEntry, 1)


class RedisProfileStore:
    """``ProfileStore`` on Redis."""

    def __init__(self, client: Redis, keys: Keyspace = UNPREFIXED) -> None:
        self._client = client
        self._keys = keys
        self._list_key = keys.add_prefix(PROFILE_LIST.build_key())

    def list_entries(self) -> Sequence[ProfileEntry]:
        """List the entries of all profiles by name. An unreadable one keeps nobody from the others."""
        with translate_redis_errors():
            values = cast("dict[bytes, bytes]", self._client.hgetall(self._list_key))
        entries = [entry for value in values.values() if (entry := _load_listed(value))]
        return sorted(entries, key=lambda entry: entry.name)

    def get_entry(self, name: str) -> ProfileEntry | None:
        """Return the entry of a profile, None if there is none that can be read.

        Raises StoreUnavailable for one of a later version: to scan again would replace it.
        """
        with translate_redis_errors():
            value = cast("bytes | None", self._client.hget(self._list_key, name))
        return _load_entry(value) if value else None

    def get_profile(self, name: str) -> Profile | None:
        """Return what a tree uses, None if there is nothing that can be read."""
        with translate_redis_errors():
            value = cast("bytes | None", self._client.get(self._build_key(name)))
        return _load_profile(value) if value else None

    def put(self, entry: ProfileEntry, profile: Profile | None = None) -> None:
        """Store an entry, and a profile if there is one."""
        with translate_redis_errors(), self._client.pipeline() as pipeline:
            packed = pack_value(_ENTRY_JSON.dump_text(entry))
            pipeline.hset(self._list_key, entry.name, cast("str", packed))
            if profile:
                pipeline.set(self._build_key(entry.name), pack_value(dump_profile(profile)))
            pipeline.execute()

    def remove(self, name: str) -> None:
        """Remove a profile and its entry."""
        with translate_redis_errors(), self._client.pipeline() as pipeline:
            pipeline.hdel(self._list_key, name)
            pipeline.delete(self._build_key(name))
            pipeline.execute()

    def _build_key(self, name: str) -> str:
        return self._keys.add_prefix(PROFILE.build_key(name))


def _load_entry(value: bytes) -> ProfileEntry | None:
    """Return an entry, None if it is unreadable. Raises StoreUnavailable for one of a later version."""
    try:
        return _ENTRY_JSON.load_or_none(unpack_value(value))
    except (zlib.error, UnicodeDecodeError):
        return None


def _load_listed(value: bytes) -> ProfileEntry | None:
    """Return an entry, None if it is unreadable or of a later version, which is logged."""
    try:
        return _load_entry(value)
    except StoreUnavailable as error:
        log.warning("a profile is left out: %s", error)
        return None


def _load_profile(value: bytes) -> Profile | None:
    """Return a profile; None for one of another version, which the next scan replaces."""
    try:
        return parse_profile(unpack_value(value))
    except (zlib.error, UnicodeDecodeError, UsageError) as error:
        log.warning("a profile can't be read, it needs a new scan: %s", error)
        return None
