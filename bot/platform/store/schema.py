"""The version of the schema of all durable data. Data of another version is refused."""

from __future__ import annotations

import re
from typing import cast

from redis import Redis

from bot.errors import StoreUnavailable
from bot.platform.store.errors import translate_redis_errors
from bot.platform.store.keys import SCHEMA_VERSION as SCHEMA_FAMILY
from bot.platform.store.keyspace import UNPREFIXED, Keyspace
from impact.text.strings import quote_input

# that of 0.1.0, the first release; raise it with what reads the data of the version before
CURRENT_SCHEMA = 3
SCHEMA_KEY = SCHEMA_FAMILY.build_key()
_VERSION_PATTERN = re.compile(r"[1-9][0-9]{0,5}")


def require_schema(client: Redis, keys: Keyspace = UNPREFIXED) -> None:
    """Note the version in a new store, which has none. If there is one, this takes one GET.

    Raises:
        StoreUnavailable: the data has another version, or the store does not answer.
    """
    if read_version(client, keys) is None:
        with translate_redis_errors():
            client.set(keys.add_prefix(SCHEMA_KEY), str(CURRENT_SCHEMA), nx=True)


def read_version(client: Redis, keys: Keyspace = UNPREFIXED) -> int | None:
    """Return the version of the stored data, None if the store is new.

    Raises:
        StoreUnavailable: the data has another version than this one's, or the store does not answer.
    """
    with translate_redis_errors():
        stored = cast("bytes | None", client.get(keys.add_prefix(SCHEMA_KEY)))
    if stored is None:
        return None
    version = stored.decode(errors="replace")
    if not _VERSION_PATTERN.fullmatch(version):
        raise StoreUnavailable(
            f"The store's key {keys.add_prefix(SCHEMA_KEY)} contains {quote_input(version)}: use "
            "another REDIS_URL."
        )
    versions = f"(schema {version}, this version supports {CURRENT_SCHEMA})"
    if int(version) > CURRENT_SCHEMA:
        raise StoreUnavailable(f"A newer prdigest wrote this store {versions}: upgrade, or use another REDIS_URL.")
    if int(version) < CURRENT_SCHEMA:
        raise StoreUnavailable(f"A prdigest before 0.1.0 wrote this store {versions}: use another REDIS_URL.")
    return int(version)
