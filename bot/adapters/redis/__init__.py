"""Adapter for all stored data, on a Redis or Valkey server."""

from __future__ import annotations

from bot.adapters.redis.rate_limiter import RedisRateLimiter
from bot.adapters.redis.records.history import RedisHistoryStore
from bot.adapters.redis.records.record_store import RedisRecordStore
from bot.adapters.redis.records.thread_states import RedisThreadStateStore
from bot.platform.store.connection import (
    SHORT_TIMEOUTS,
    RedisCache,
    RedisTimeouts,
    connect_embedded,
    connect_server,
    require_durable,
)
from bot.platform.store.errors import translate_redis_errors
from bot.platform.store.keyspace import Keyspace
from bot.platform.store.owner import RedisWorkspaceOwner
from bot.platform.store.schema import require_schema

__all__ = [
    "SHORT_TIMEOUTS",
    "Keyspace",
    "LostJobs",
    "RedisCache",
    "RedisHistoryStore",
    "RedisPostedDigestIndex",
    "RedisRateLimiter",
    "RedisRecordStore",
    "RedisThreadStateStore",
    "RedisTimeouts",
    "RedisWorkspaceOwner",
    "connect_embedded",
    "connect_server",
    "require_durable",
    "require_schema",
    "translate_redis_errors",
]
