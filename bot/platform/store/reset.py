"""Reset of a store for a new Slack: conversations and plans are removed, data that was read or paid for stays."""

from __future__ import annotations

from redis import Redis

from bot.platform.store.errors import translate_redis_errors
from bot.platform.store.keys import find_family
from bot.platform.store.keyspace import UNPREFIXED, Keyspace

_BATCH_SIZE = 500


def reset_store(client: Redis, keys: Keyspace = UNPREFIXED) -> None:
    """Remove all keys but those of families that survive a reset, job queues included.

    Call it only for a store that no bot uses at the time.

    Raises:
        StoreUnavailable: it does not answer.
    """
    with translate_redis_errors():
        removed = [keys.add_prefix(name) for name in keys.iterate_names(client) if not _must_keep(name)]
        for start in range(0, len(removed), _BATCH_SIZE):
            client.delete(*removed[start : start + _BATCH_SIZE])


def _must_keep(key: str) -> bool:
    """Return whether a key survives a reset."""
    family = find_family(key)
    return family is not None and family.survives_reset
