"""Retries of jobs that did not succeed: at once, later, or never; then the asker or the operators get a notice.

Attempts that began without an end are counted, so that no job ends one process after the other.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import wraps
from typing import Any, cast

from dramatiq import Broker, Message, MessageProxy
from dramatiq.common import current_millis
from dramatiq.errors import Retry
from dramatiq.middleware import Middleware, MiddlewareError, Retries
from redis import Redis
from redis.exceptions import RedisError

from bot.errors import PrdigestError, StoreUnavailable, get_retry_delay
from bot.platform.deadlines import ProcessShutdown
from bot.platform.store.keys import JOB_ATTEMPTS, SUSPECTS_LEASE
from bot.platform.store.keyspace import Keyspace
from bot.platform.store.leases import hold_lease

log = logging.getLogger(__name__)


class LossReason(StrEnum):
    FAILED = "failed"
    """Its last attempt failed like the others."""
    ENDLESS = "endless"
    """It began three times and never ended: its process died, or froze until it was killed."""


@dataclass(frozen=True, slots=True)
class LostJob:
    """A job that will not be done: the ``id`` of its message, the name of its kind, and since when (aware).

    ``user`` and ``channel`` are those of the request, and ``reference`` is its reference; all are empty if there
    was no request.
    """

    id: str
    name: str
    loss: LossReason
    at: datetime
    user: str = ""
    channel: str = ""
    reference: str = ""

    @property
    def title(self) -> str:
        return f"the job {self.name}" + (f" [{self.reference}]" if self.reference else "")


# called with a job that is given up, before it is removed from its queue
LossHandler = Callable[[MessageProxy, LossReason], None]

# attempts of a job before it is given up
MAX_ATTEMPTS = 3
# attempts after which a job runs only while no other such job does: one death may be an accident, as in an update
_MAX_SHARED_ATTEMPTS = 2
# milliseconds until a suspect checks again whether it is its turn
_TURN_DELAY = 2_000
_STORE_RETRY_SECONDS = 1.0
# GitHub's limits last an hour at most; longer pauses are not waited for
_MAX_POSTPONEMENT = 7_200_000  # milliseconds
_POSTPONED_SINCE = "put_off_since"


class JobInterruption(Retry):
    """Interruption of a job that goes back to its queue unchanged; the attempt does not count."""


class TurnWait(MiddlewareError, JobInterruption):
    """Interruption of a job that may not begin before another one ends."""


class AttemptLimitError(MiddlewareError, Retry):
    """Error for a job that began too often without an end."""


class JobPostponement(Retry):
    """Postponement of a job for the seconds of a pause that a service asks for. The attempt does not count."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message, delay=math.ceil(seconds * 1_000))


class PersistentRetries(Retries):
    """Middleware that puts a failed job back on its queue; when it returns, Dramatiq acknowledges the job."""

    def __init__(self, on_loss: LossHandler) -> None:
        super().__init__()
        self._on_loss = on_loss

    def after_process_message(
        self, broker: Broker, message: MessageProxy, *, result: Any = None, exception: BaseException | None = None
    ) -> None:
        """Decide about a job that ended; try again while the store is away."""
        options = dict(message.options)
        while True:
            try:
                self._handle_result(broker, message, result, exception)
            except (RedisError, StoreUnavailable) as error:
                log.warning("a job can't be put back yet: %s", error)
                message.options.clear()
                message.options.update(options)
                time.sleep(_STORE_RETRY_SECONDS)
            else:
                return

    def _handle_result(
        self, broker: Broker, message: MessageProxy, result: Any, exception: BaseException | None
    ) -> None:
        """Put the job back on its queue, give it up, or leave it to Dramatiq."""
        match exception:
            case JobInterruption():
                broker.enqueue(cast("Message[Any]", message), delay=exception.delay)
            case AttemptLimitError():
                self._abandon_job(message, LossReason.ENDLESS)
            case JobPostponement():
                # all postponements of a job, including this one, take at most two hours
                now = current_millis()
                since: int = message.options.setdefault(_POSTPONED_SINCE, now)
                if now + (exception.delay or 0) - since <= _MAX_POSTPONEMENT:
                    broker.enqueue(cast("Message[Any]", message), delay=exception.delay)
                else:
                    self._abandon_job(message, LossReason.FAILED)
            case _:
                super().after_process_message(  # type: ignore[no-untyped-call]
                    broker, message, result=result, exception=exception
                )
                if message.failed:
                    self._abandon_job(message, LossReason.FAILED)

    def _abandon_job(self, message: MessageProxy, loss: LossReason) -> None:
        message.fail()
        self._on_loss(message, loss)


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
        try:
            self._begin_attempt(message.message_id)
        except RedisError as error:
            log.warning("an attempt of a job is not counted: %s", error)

    def after_process_message(
        self, broker: Broker, message: MessageProxy, *, result: Any = None, exception: BaseException | None = None
    ) -> None:
        try:
            with self._turns.pop(message.message_id, ExitStack()):
                if isinstance(exception, TurnWait | AttemptLimitError):
                    return
                if isinstance(exception, JobInterruption):
                    # only the last attempt is forgotten
                    self._store.decr(self._build_key(message.message_id))
                else:
                    self._store.delete(self._build_key(message.message_id))
        except RedisError as error:
            log.warning("the end of a job is not counted: %s", error)

    def _begin_attempt(self, job: str) -> None:
        """Count an attempt. Raises AttemptLimitError after the last, TurnWait while another suspect runs."""
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

    def _build_key(self, job: str) -> str:
        return self._keys.add_prefix(JOB_ATTEMPTS.build_key(job))


def wrap_job(
    work: Callable[..., None], limit_time: Callable[[], AbstractContextManager[None]]
) -> Callable[..., None]:
    """Return the same work with a time limit, with errors that Dramatiq understands.

    ``limit_time`` makes the context of the limit. A retry is one line in the log, not a traceback.
    """

    @wraps(work)
    def run(*arguments: Any) -> None:
        try:
            with limit_time():
                work(*arguments)
        except ProcessShutdown as error:
            log.info("%s goes back to its queue", work.__name__.strip("_"))
            raise JobInterruption from error
        except PrdigestError as error:
            if pause := get_retry_delay(error):
                log.info("%s goes on in %.0f s: %s", work.__name__.strip("_"), pause, error)
                raise JobPostponement(str(error), pause) from error
            log.warning("%s is tried again: %s", work.__name__.strip("_"), error)
            raise Retry(str(error)) from error

    return run
