"""Attempts of jobs that began without an end, counted so that no job ends one process after the other."""

from __future__ import annotations

import logging
from contextlib import ExitStack
from typing import Any, cast

from dramatiq import Broker, MessageProxy
from dramatiq.middleware import Middleware
from redis import Redis
from redis.exceptions import RedisError

from bot.adapters.redis.jobs.retries import AttemptLimitError, JobInterruption, TurnWait
from bot.domain.keyspace.keys import JOB_ATTEMPTS
from bot.domain.keyspace.names import SUSPECTS_LEASE
from bot.platform.store.keyspace import Keyspace
from bot.platform.store.leases import hold_lease

log = logging.getLogger(__name__)

# attempts of a job before it is given up
MAX_ATTEMPTS = 3
# attempts after which a job runs only while no other such job does: one death may be an accident, as in an update
_MAX_SHARED_ATTEMPTS = 2
# milliseconds until a suspect checks again whether it is its turn
_TURN_DELAY = 2_000


class AttemptCounter(Middleware):
    """Middleware that gives up a job that began three times and never ended.

    The process of such a job died, or froze until it was killed. Jobs that run beside it die with it each time.
    After the second attempt such suspects run one at a time, in any process, so that only the culprit reaches the
    third.
    """

    def __init__(self, store: Redis, keys: Keyspace) -> None:
        self._store = store
        self._keys = keys
        self._turns: dict[str, ExitStack] = {}

    def before_process_message(self, broker: Broker, message: MessageProxy) -> None:
        """Count the attempt before it begins. Raises AttemptLimitError or TurnWait to prevent it."""
        try:
            self._begin_attempt(message.message_id)
        except RedisError as error:
            log.warning("an attempt of a job is not counted: %s", error)

    def after_process_message(
        self, broker: Broker, message: MessageProxy, *, result: Any = None, exception: BaseException | None = None
    ) -> None:
        """Note that the attempt ended, successfully or not. An interrupted one does not count."""
        try:
            with self._turns.pop(message.message_id, ExitStack()):
                if not isinstance(exception, TurnWait | AttemptLimitError):
                    self._end_attempt(message.message_id, is_whole=not isinstance(exception, JobInterruption))
        except RedisError as error:
            log.warning("the end of a job is not counted: %s", error)

    def _begin_attempt(self, job: str) -> None:
        """Count an attempt.

        Raises:
            AttemptLimitError: the job has had all its attempts.
            TurnWait: another suspect runs.
        """
        # one call for a job that never began before, which is nearly always
        if self._store.set(self._build_key(job), 1, nx=True, ex=JOB_ATTEMPTS.lifetime):
            return
        count = int(cast("bytes | None", self._store.get(self._build_key(job))) or 0)
        if count >= MAX_ATTEMPTS:
            raise AttemptLimitError(f"it began {count} times and never ended")
        if count >= _MAX_SHARED_ATTEMPTS:
            self._take_turn(job)
        with self._store.pipeline() as pipeline:
            pipeline.incr(self._build_key(job))
            pipeline.expire(self._build_key(job), JOB_ATTEMPTS.lifetime)
            pipeline.execute()

    def _take_turn(self, job: str) -> None:
        """Acquire the lease of all suspects. Raises TurnWait if another one holds it."""
        with ExitStack() as turn:
            if not turn.enter_context(hold_lease(self._store, self._keys, SUSPECTS_LEASE, timeout=0)):
                raise TurnWait("another one of those that died runs", delay=_TURN_DELAY)
            self._turns[job] = turn.pop_all()

    def _end_attempt(self, job: str, *, is_whole: bool) -> None:
        """Forget the attempts of a job, or only the last one if the job was interrupted."""
        if is_whole:
            self._store.delete(self._build_key(job))
        else:
            self._store.decr(self._build_key(job))

    def _build_key(self, job: str) -> str:
        return self._keys.add_prefix(JOB_ATTEMPTS.build_key(job))
