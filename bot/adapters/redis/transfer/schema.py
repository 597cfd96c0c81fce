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
from bot.adapters.redis.keyspace import WHOLE, Keyspace
from bot.adapters.redis.leases import lease
from bot.domain.errors import StoreUnavailable
from bot.domain.keyspace.family import Durable
from bot.domain.keyspace.keys import ATTENTION, THREAD
from bot.domain.keyspace.keys import FAMILIES as ALL_FAMILIES
from bot.domain.keyspace.keys import SCHEMA as SCHEMA_FAMILY
from bot.domain.text.strings import quote_input

log = logging.getLogger(__name__)

# 1: before the schema had a version; threads expired. 2: they do not.
SCHEMA = 2
SCHEMA_KEY = SCHEMA_FAMILY.key()
# in place of the version, before the mark of a file: half of what a digest rests on is worse than nothing
_IMPORTING = "importing "
_NUMBER = re.compile(r"[1-9][0-9]{0,5}")


FAMILIES = tuple(family for family in ALL_FAMILIES if isinstance(family, Durable) and family.is_exported)


def family_of(key: str) -> Durable | None:
    """The family of a key that is kept for good; None for any other."""
    return next((family for family in FAMILIES if family.holds(key)), None)


def migrate(client: Redis, keys: Keyspace = WHOLE) -> None:
    """Bring what the store holds to the present version. Where nothing is to be done, that is one GET.

    A process that dies at it leaves the version before; the next one begins that step again.

    Raises:
        StoreUnavailable: a newer prdigest wrote it, an import into it broke off, or it does not answer.
    """
    if version(client, keys) == SCHEMA:
        return
    with translate_redis_errors(), lease(client, keys, SCHEMA_KEY):
        advance(client, keys)


def advance(client: Redis, keys: Keyspace = WHOLE) -> None:
    """The same for who holds the lease of ``SCHEMA_KEY``."""
    for step in range(version(client, keys), SCHEMA):
        with translate_redis_errors():
            _MIGRATIONS[step](client, keys)
        stamp(client, step + 1, keys)


def version(client: Redis, keys: Keyspace = WHOLE) -> int:
    """The version of what the store holds.

    Raises:
        StoreUnavailable: a newer prdigest wrote it, an import into it broke off, or it does not answer.
    """
    found = _noted(client, keys)
    if found.startswith(_IMPORTING):
        raise StoreUnavailable("An import into this store is not finished: wait for it, or run it again.")
    if not _NUMBER.fullmatch(found):
        raise StoreUnavailable(
            f"The store's key {keys.make(SCHEMA_KEY)} holds {quote_input(found)}: use another REDIS_URL."
        )
    if int(found) > SCHEMA:
        raise StoreUnavailable(
            f"The store was written by a newer prdigest (schema {found}, this one knows {SCHEMA}): upgrade, or use"
            " another REDIS_URL."
        )
    return int(found)


def stamp(client: Redis, number: int, keys: Keyspace = WHOLE) -> None:
    """What the store holds is of that version. Raises StoreUnavailable."""
    with translate_redis_errors():
        client.set(keys.make(SCHEMA_KEY), str(number))


def imported(client: Redis, keys: Keyspace = WHOLE) -> str:
    """The mark of the file whose import is not finished; empty if there is none. Raises StoreUnavailable."""
    found = _noted(client, keys)
    return found.removeprefix(_IMPORTING) if found.startswith(_IMPORTING) else ""


def stamp_importing(client: Redis, mark: str, keys: Keyspace = WHOLE) -> None:
    """Until the next :func:`stamp`, nobody takes the store for a whole one. Raises StoreUnavailable."""
    with translate_redis_errors():
        client.set(keys.make(SCHEMA_KEY), _IMPORTING + mark)


def _noted(client: Redis, keys: Keyspace = WHOLE) -> str:
    with translate_redis_errors():
        found = cast("bytes | None", client.get(keys.make(SCHEMA_KEY)))
    return (b"1" if found is None else found).decode(errors="replace")


def _keep_threads(client: Redis, keys: Keyspace) -> None:
    with client.pipeline(transaction=False) as together:
        for family in (THREAD, ATTENTION):
            for name in keys.find(client, f"{family.name}*"):
                together.persist(keys.make(name))
        lasting = sum(together.execute())
    if lasting:
        log.info("schema 2: %d keys of threads do not expire any more", lasting)


# by the version from which each leads to the next; what is in the newer form already, it leaves alone
_MIGRATIONS: dict[int, Callable[[Redis, Keyspace], None]] = {1: _keep_threads}
