"""A store for a Slack that begins anew: what was said and planned goes, what was read and bought stays."""

from __future__ import annotations

from redis import Redis

from bot.adapters.redis.errors import translate_redis_errors
from bot.adapters.redis.keyspace import WHOLE, Keyspace
from bot.adapters.redis.transfer.schema import SCHEMA_KEY

# what is the same in every Slack: what models wrote, what GitHub said, the history of files, and what was spent
_KEPT = ("llm:", "entry:", "files:", "day:", "history:", "backfilled:", "spent:")
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
    return key == SCHEMA_KEY or key.startswith(_KEPT)
