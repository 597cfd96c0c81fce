"""What is kept for good: the version of its schema, and the way from an older one.

Its families are those of :mod:`bot.domain.keyspace.keys` that are exported. All other keys are of this store
alone, expire, or are Dramatiq's.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import cast

from redis import Redis

from bot.adapters.redis.errors import translate_redis_errors
from bot.adapters.redis.keyspace import UNPREFIXED, Keyspace
from bot.adapters.redis.leases import hold_lease
from bot.domain.errors import StoreUnavailable
from bot.domain.keyspace.family import DurableFamily
from bot.domain.keyspace.keys import FAMILIES as ALL_FAMILIES
from bot.domain.keyspace.keys import SCHEMA_VERSION as SCHEMA_FAMILY
from bot.domain.keyspace.keys import THREAD_MEMORY, THREAD_MUTING
from bot.domain.text.strings import quote_input

log = logging.getLogger(__name__)

# 1: before the schema had a version; threads expired. 2: they do not.
CURRENT_SCHEMA = 2
SCHEMA_KEY = SCHEMA_FAMILY.build_key()
# in place of the version, before the mark of a file: half of what a digest rests on is worse than nothing
_IMPORT_PREFIX = "importing "
_VERSION_PATTERN = re.compile(r"[1-9][0-9]{0,5}")


EXPORTED_FAMILIES = tuple(
    family for family in ALL_FAMILIES if isinstance(family, DurableFamily) and family.is_exported
)


def find_exported_family(key: str) -> DurableFamily | None:
    """The family of a key that is kept for good; None for any other."""
    return next((family for family in EXPORTED_FAMILIES if family.has_key(key)), None)


def migrate_schema(client: Redis, keys: Keyspace = UNPREFIXED) -> None:
    """Bring what the store holds to the present version. Where nothing is to be done, that is one GET.

    A process that dies at it leaves the version before; the next one begins that step again.

    Raises:
        StoreUnavailable: a newer prdigest wrote it, an import into it broke off, or it does not answer.
    """
    if read_version(client, keys) == CURRENT_SCHEMA:
        return
    with translate_redis_errors(), hold_lease(client, keys, SCHEMA_KEY):
        run_migrations(client, keys)


def run_migrations(client: Redis, keys: Keyspace = UNPREFIXED) -> None:
    """The same for who holds the lease of ``SCHEMA_KEY``."""
    for step in range(read_version(client, keys), CURRENT_SCHEMA):
        with translate_redis_errors():
            _MIGRATIONS[step](client, keys)
        write_version(client, step + 1, keys)


def read_version(client: Redis, keys: Keyspace = UNPREFIXED) -> int:
    """The version of what the store holds.

    Raises:
        StoreUnavailable: a newer prdigest wrote it, an import into it broke off, or it does not answer.
    """
    found = _read_version_text(client, keys)
    if found.startswith(_IMPORT_PREFIX):
        raise StoreUnavailable("An import into this store is not finished: wait for it, or run it again.")
    if not _VERSION_PATTERN.fullmatch(found):
        raise StoreUnavailable(
            f"The store's key {keys.add_prefix(SCHEMA_KEY)} holds {quote_input(found)}: use another REDIS_URL."
        )
    if int(found) > CURRENT_SCHEMA:
        raise StoreUnavailable(
            f"The store was written by a newer prdigest (schema {found}, this one knows "
            f"{CURRENT_SCHEMA}): upgrade, or use"
            " another REDIS_URL."
        )
    return int(found)


def write_version(client: Redis, number: int, keys: Keyspace = UNPREFIXED) -> None:
    """What the store holds is of that version. Raises StoreUnavailable."""
    with translate_redis_errors():
        client.set(keys.add_prefix(SCHEMA_KEY), str(number))


def read_import_checksum(client: Redis, keys: Keyspace = UNPREFIXED) -> str:
    """The mark of the file whose import is not finished; empty if there is none. Raises StoreUnavailable."""
    found = _read_version_text(client, keys)
    return found.removeprefix(_IMPORT_PREFIX) if found.startswith(_IMPORT_PREFIX) else ""


def write_import_checksum(client: Redis, mark: str, keys: Keyspace = UNPREFIXED) -> None:
    """Until the next :func:`stamp`, nobody takes the store for a whole one. Raises StoreUnavailable."""
    with translate_redis_errors():
        client.set(keys.add_prefix(SCHEMA_KEY), _IMPORT_PREFIX + mark)


def _read_version_text(client: Redis, keys: Keyspace = UNPREFIXED) -> str:
    with translate_redis_errors():
        found = cast("bytes | None", client.get(keys.add_prefix(SCHEMA_KEY)))
    return (b"1" if found is None else found).decode(errors="replace")


def _remove_thread_expiry(client: Redis, keys: Keyspace) -> None:
    with client.pipeline(transaction=False) as together:
        for family in (THREAD_MEMORY, THREAD_MUTING):
            for name in keys.iterate_names(client, f"{family.prefix}*"):
                together.persist(keys.add_prefix(name))
        lasting = sum(together.execute())
    if lasting:
        log.info("schema 2: %d keys of threads do not expire any more", lasting)


# by the version from which each leads to the next; what is in the newer form already, it leaves alone
_MIGRATIONS: dict[int, Callable[[Redis, Keyspace], None]] = {1: _remove_thread_expiry}
