"""Limit on how often a person may ask, counted on Redis for all processes."""

from __future__ import annotations

import time

from redis import Redis

from bot.adapters.redis.errors import translate_redis_errors
from bot.adapters.redis.keyspace import UNPREFIXED, Keyspace
from bot.domain.keyspace.keys import REQUEST_RATE

# counts a request in its second, the first key, if all seconds together have fewer than the limit
_COUNT_SCRIPT = """
local total = 0
for _, count in ipairs(redis.call("MGET", unpack(KEYS))) do
    total = total + (tonumber(count) or 0)
end
if total >= tonumber(ARGV[1]) then
    return 0
end
redis.call("INCR", KEYS[1])
redis.call("PEXPIRE", KEYS[1], ARGV[2])
return 1
"""


class RedisRateLimiter:
    """``RateLimiter`` on Redis: up to ``limit`` requests of a name in a minute."""

    def __init__(self, client: Redis, limit: int, keys: Keyspace = UNPREFIXED) -> None:
        self._count = client.register_script(_COUNT_SCRIPT)
        self._limit = limit
        self._keys = keys

    def try_acquire(self, name: str) -> bool:
        """Count a request, and return whether it is within the limit. A refused one does not count."""
        key = self._keys.add_prefix(REQUEST_RATE.build_key(name))
        seconds, now = int(REQUEST_RATE.lifetime.total_seconds()), int(time.time())
        keys = [f"{key}@{now - age}" for age in range(seconds)]
        with translate_redis_errors():
            return bool(self._count(keys=keys, args=[self._limit, seconds * 1_000]))
