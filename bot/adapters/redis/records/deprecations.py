"""Ledgers of deprecations on Redis: a string for each repository, without expiry."""

from __future__ import annotations

from contextlib import AbstractContextManager

from redis import Redis

from bot.domain.keyspace.keys import DEPRECATIONS
from bot.domain.pull_requests.models import Repository
from bot.platform.store.connection import RedisCache, pack_value
from bot.platform.store.errors import translate_redis_errors
from bot.platform.store.keyspace import UNPREFIXED, Keyspace
from bot.ports.codecs.versioned_json import VersionedJson
from impact.contract.deprecations import DeprecationLedger

_CODEC = VersionedJson(DeprecationLedger, 1)


class RedisDeprecationStore:
    """``DeprecationStore`` on Redis."""

    def __init__(self, client: Redis, keys: Keyspace = UNPREFIXED) -> None:
        self._client = client
        self._keys = keys
        self._cache = RedisCache(client, keys)

    def load(self, repository: Repository) -> DeprecationLedger:
        """Return the ledger of a repository; an empty one if there is none that can be read.

        Raises StoreUnavailable for one of a later version.
        """
        return _CODEC.load_or_none(self._cache.get(_build_key(repository))) or DeprecationLedger()

    def save(self, repository: Repository, ledger: DeprecationLedger) -> None:
        """Store a ledger."""
        with translate_redis_errors():
            self._client.set(self._keys.add_prefix(_build_key(repository)), pack_value(_CODEC.dump_text(ledger)))

    def hold_lock(self, repository: Repository) -> AbstractContextManager[None]:
        """Hold the lock of a ledger."""
        return self._cache.acquire_lease(_build_key(repository))


def _build_key(repository: Repository) -> str:
    return DEPRECATIONS.build_key(str(repository).lower())
