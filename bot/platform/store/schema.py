"""The version of the schema of all durable data, and the migrations from older ones."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import cast

from redis import Redis

from bot.domain.errors import StoreUnavailable
from bot.domain.keyspace.keys import SCHEMA_VERSION as SCHEMA_FAMILY
from bot.domain.keyspace.keys import THREAD_MEMORY, THREAD_MUTING
from bot.domain.text.strings import quote_input
from bot.platform.store.errors import translate_redis_errors
from bot.platform.store.keyspace import UNPREFIXED, Keyspace
from bot.platform.store.leases import hold_lease

log = logging.getLogger(__name__)

# 1: before the schema had a version; threads expired. 2: they do not.
CURRENT_SCHEMA = 2
SCHEMA_KEY = SCHEMA_FAMILY.build_key()
_VERSION_PATTERN = re.compile(r"[1-9][0-9]{0,5}")


def migrate_schema(client: Redis, keys: Keyspace = UNPREFIXED) -> None:
    """Migrate the stored data to the current version. If it is current, this takes one GET.

    A process that dies meanwhile leaves the version of its last complete step; the next one repeats the step after
    it.

    Raises:
        StoreUnavailable: a newer prdigest wrote it, or it does not answer.
    """
    if read_version(client, keys) == CURRENT_SCHEMA:
        return
    with translate_redis_errors(), hold_lease(client, keys, SCHEMA_KEY):
        for step in range(read_version(client, keys), CURRENT_SCHEMA):
            _MIGRATIONS[step](client, keys)
            client.set(keys.add_prefix(SCHEMA_KEY), str(step + 1))


def read_version(client: Redis, keys: Keyspace = UNPREFIXED) -> int:
    """Return the version of the stored data.

    Raises:
        StoreUnavailable: a newer prdigest wrote it, or it does not answer.
    """
    with translate_redis_errors():
        stored = cast("bytes | None", client.get(keys.add_prefix(SCHEMA_KEY)))
    version = (b"1" if stored is None else stored).decode(errors="replace")
    if not _VERSION_PATTERN.fullmatch(version):
        raise StoreUnavailable(
            f"The store's key {keys.add_prefix(SCHEMA_KEY)} contains {quote_input(version)}: use "
            "another REDIS_URL."
        )
    if int(version) > CURRENT_SCHEMA:
        raise StoreUnavailable(
            f"A newer prdigest wrote this store (schema {version}, this version supports "
            f"{CURRENT_SCHEMA}): upgrade, or use another REDIS_URL."
        )
    return int(version)


def _remove_thread_expiry(client: Redis, keys: Keyspace) -> None:
    """Make the keys of threads permanent."""
    with client.pipeline(transaction=False) as pipeline:
        for family in (THREAD_MEMORY, THREAD_MUTING):
            for name in keys.iterate_names(client, f"{family.prefix}*"):
                pipeline.persist(keys.add_prefix(name))
        changed = sum(pipeline.execute())
    if changed:
        log.info("schema 2: %d keys of threads do not expire any more", changed)


# by the version that each migrates to the next one; keys that are already in the newer form stay as they are
_MIGRATIONS: dict[int, Callable[[Redis, Keyspace], None]] = {1: _remove_thread_expiry}
