"""A store for a Slack that begins anew: what was said and planned goes, what was read and bought stays."""

from __future__ import annotations

from redis import Redis

from bot.adapters.redis.errors import translate_redis_errors
from bot.adapters.redis.keyspace import WHOLE, Keyspace
from bot.domain.keyspace.keys import find_family

_TOGETHER = 500


def forget_talk(client: Redis, keys: Keyspace = WHOLE) -> None:
    """Remove all but that, the queues of jobs too. Only for a store that no bot uses at the time.

    Raises:
        StoreUnavailable: it does not answer.
    """
    with translate_redis_errors():
        gone = [keys.make(name) for name in keys.find(client) if not _is_kept(name)]
        for at in range(0, len(gone), _TOGETHER):
            client.delete(*gone[at : at + _TOGETHER])


def _is_kept(key: str) -> bool:
    family = find_family(key)
    return family is not None and family.survives_reset
