"""All that is stored, on a Redis or Valkey server."""

from __future__ import annotations

from bot.adapters.redis.agenda import RedisAgenda, RedisJournal, RedisSubscriptions
from bot.adapters.redis.connection import (
    HURRIED,
    Patience,
    RedisCache,
    connect,
    connect_embedded,
    require_durable,
)
from bot.adapters.redis.errors import translate_redis_errors
from bot.adapters.redis.feedback import RedisBallot
from bot.adapters.redis.history import RedisBackfilled, RedisHistory
from bot.adapters.redis.jobs.broker import broker_of
from bot.adapters.redis.jobs.dead_jobs import RedisAside
from bot.adapters.redis.jobs.retries import in_a_line
from bot.adapters.redis.keyspace import Keyspace
from bot.adapters.redis.owner import RedisOwner
from bot.adapters.redis.posted_digests import RedisPostedDigestIndex
from bot.adapters.redis.probe import RedisProbe, place_of
from bot.adapters.redis.question_queue import RedisLine, RedisSpending
from bot.adapters.redis.rate_limiter import RedisLimiter
from bot.adapters.redis.record_store import RedisRecordStore
from bot.adapters.redis.thread_states import RedisContexts
from bot.adapters.redis.transfer.reset import forget_talk
from bot.adapters.redis.transfer.schema import migrate
from bot.adapters.redis.transfer.transfer import Moving

__all__ = [
    "HURRIED",
    "Keyspace",
    "Moving",
    "Patience",
    "RedisAgenda",
    "RedisAside",
    "RedisBackfilled",
    "RedisBallot",
    "RedisCache",
    "RedisContexts",
    "RedisHistory",
    "RedisJournal",
    "RedisLimiter",
    "RedisLine",
    "RedisOwner",
    "RedisPostedDigestIndex",
    "RedisProbe",
    "RedisRecordStore",
    "RedisSpending",
    "RedisSubscriptions",
    "broker_of",
    "connect",
    "connect_embedded",
    "forget_talk",
    "in_a_line",
    "migrate",
    "place_of",
    "require_durable",
    "translate_redis_errors",
]
