"""What remembers for a while, on a real store."""

import pytest
from redis import Redis

from bot.platform.store.connection import RedisCache


@pytest.fixture
def cache(store: Redis) -> RedisCache:
    return RedisCache(store)
