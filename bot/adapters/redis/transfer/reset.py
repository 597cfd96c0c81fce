"""A store for a Slack that begins anew: what was said and planned goes, what was read and bought stays."""

from __future__ import annotations

from redis import Redis

from bot.adapters.redis.errors import translate_redis_errors
from bot.adapters.redis.keyspace import UNPREFIXED, Keyspace
from bot.domain.keyspace.keys import find_family

_BATCH_SIZE = 500


def reset_store(client: Redis, keys: Keyspace = UNPREFIXED) -> None:
    """Remove all but that, the queues of jobs too. Only for a store that no bot uses at the time.

    Raises:
        StoreUnavailable: it does not answer.
    """
    with translate_redis_errors():
        gone = [keys.add_prefix(name) for name in keys.iterate_names(client) if not _must_keep(name)]
        for at in range(0, len(gone), _BATCH_SIZE):
            client.delete(*gone[at : at + _BATCH_SIZE])


def _must_keep(key: str) -> bool:
    family = find_family(key)
    return family is not None and family.survives_reset
