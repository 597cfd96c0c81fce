"""Jobs that were given up, on Redis: the last 50, for a week, as long as Dramatiq keeps their messages."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import cast

from pydantic import TypeAdapter
from redis import Redis

from bot.domain.keyspace.keys import DEAD_JOBS
from bot.domain.operations.lost_job import LostJob
from bot.platform.store.errors import translate_redis_errors
from bot.platform.store.keyspace import UNPREFIXED, Keyspace
from bot.ports.codecs.cached_json import load_or_none

_MAX_JOBS = 50
_JOB_ADAPTER = TypeAdapter(LostJob)


class RedisLostJobStore:
    """``LostJobStore`` on Redis, as a sorted set by time."""

    def __init__(self, client: Redis, keys: Keyspace = UNPREFIXED) -> None:
        self._client = client
        self._key = keys.add_prefix(DEAD_JOBS.build_key())

    def add(self, job: LostJob) -> None:
        """Keep a job. Adding the same job again changes nothing."""
        with translate_redis_errors(), self._client.pipeline() as pipeline:
            pipeline.zadd(self._key, {_JOB_ADAPTER.dump_json(job).decode(): job.at.timestamp()})
            pipeline.zremrangebyrank(self._key, 0, -_MAX_JOBS - 1)
            pipeline.expire(self._key, DEAD_JOBS.lifetime)
            pipeline.execute()

    def list_recent(self, now: datetime) -> Sequence[LostJob]:
        """List the jobs of the last week, newest first."""
        with translate_redis_errors():
            lines = cast("list[bytes]", self._client.zrange(self._key, 0, -1, desc=True))
        jobs = (load_or_none(_JOB_ADAPTER, line.decode(errors="replace")) for line in lines)
        return tuple(job for job in jobs if job and job.at > now - DEAD_JOBS.lifetime)
