"""The version of the schema of all durable data, and the migrations from older ones.

The durable families are those of :mod:`bot.domain.keyspace.keys` that are exported. All other keys belong to this
store alone, expire, or are Dramatiq's.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import cast

from redis import Redis

from bot.domain.errors import StoreUnavailable
from bot.domain.keyspace.family import FAMILIES, DurableFamily
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
# in place of the version, before the checksum of a file: half of a digest's data is worse than none
_IMPORT_PREFIX = "importing "
_VERSION_PATTERN = re.compile(r"[1-9][0-9]{0,5}")


EXPORTED_FAMILIES = tuple(
    family for family in FAMILIES if isinstance(family, DurableFamily) and family.is_exported
)


def find_exported_family(key: str) -> DurableFamily | None:
    """Return the exported family of a key, None for any other key."""
    return next((family for family in EXPORTED_FAMILIES if family.has_key(key)), None)


def migrate_schema(client: Redis, keys: Keyspace = UNPREFIXED) -> None:
    """Migrate the stored data to the current version. If it is current, this takes one GET.

    A process that dies meanwhile leaves the version of its last complete step; the next one repeats the step after
    it.

    Raises:
        StoreUnavailable: a newer prdigest wrote it, an import into it is incomplete, or it does not answer.
    """
    if read_version(client, keys) == CURRENT_SCHEMA:
        return
    with translate_redis_errors(), hold_lease(client, keys, SCHEMA_KEY):
        run_migrations(client, keys)


def run_migrations(client: Redis, keys: Keyspace = UNPREFIXED) -> None:
    """Migrate the stored data. The caller holds the lease of ``SCHEMA_KEY``."""
    for step in range(read_version(client, keys), CURRENT_SCHEMA):
        with translate_redis_errors():
            _MIGRATIONS[step](client, keys)
        write_version(client, step + 1, keys)


def read_version(client: Redis, keys: Keyspace = UNPREFIXED) -> int:
    """Return the version of the stored data.

    Raises:
        StoreUnavailable: a newer prdigest wrote it, an import into it is incomplete, or it does not answer.
    """
    version = _read_version_text(client, keys)
    if version.startswith(_IMPORT_PREFIX):
        raise StoreUnavailable("An import into this store is not finished: wait for it, or run it again.")
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


def write_version(client: Redis, number: int, keys: Keyspace = UNPREFIXED) -> None:
    """Store the version of the data. Raises StoreUnavailable."""
    with translate_redis_errors():
        client.set(keys.add_prefix(SCHEMA_KEY), str(number))


def read_import_checksum(client: Redis, keys: Keyspace = UNPREFIXED) -> str:
    """Return the checksum of the file whose import is incomplete, empty if there is none.

    Raises StoreUnavailable.
    """
    version = _read_version_text(client, keys)
    return version.removeprefix(_IMPORT_PREFIX) if version.startswith(_IMPORT_PREFIX) else ""


def write_import_checksum(client: Redis, checksum: str, keys: Keyspace = UNPREFIXED) -> None:
    """Mark the store as incomplete until the next :func:`write_version`. Raises StoreUnavailable.

    ``checksum`` is that of the imported file.
    """
    with translate_redis_errors():
        client.set(keys.add_prefix(SCHEMA_KEY), _IMPORT_PREFIX + checksum)


def _read_version_text(client: Redis, keys: Keyspace = UNPREFIXED) -> str:
    """Return the stored version, or the mark of an incomplete import; "1" if there is none."""
    with translate_redis_errors():
        stored = cast("bytes | None", client.get(keys.add_prefix(SCHEMA_KEY)))
    return (b"1" if stored is None else stored).decode(errors="replace")


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
