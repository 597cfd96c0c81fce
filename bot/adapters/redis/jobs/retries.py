"""Retries of jobs that did not succeed: at once, later, or never; then the asker or the operators get a notice."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import wraps
from typing import Any, cast

from dramatiq import Broker, Message, MessageProxy
from dramatiq.common import current_millis
from dramatiq.errors import Retry
from dramatiq.middleware import MiddlewareError, Retries
from redis.exceptions import RedisError

from bot.domain.errors import PrdigestError, StoreUnavailable, get_retry_delay
from bot.domain.operations.lost_job import LossReason
from bot.platform.deadlines import ProcessShutdown

log = logging.getLogger(__name__)

# called with a job that is given up, before it is removed from its queue
LossHandler = Callable[[MessageProxy, LossReason], None]

_STORE_RETRY_SECONDS = 1.0  # seconds
# GitHub's limits last an hour at most; longer pauses are not waited for
_MAX_POSTPONEMENT = 7_200_000  # milliseconds
_POSTPONED_SINCE = "put_off_since"


class JobInterruption(Retry):
    """Interruption of a job that did not fail but can't continue here.

    The job goes back to its queue unchanged, and the attempt does not count.
    """


class TurnWait(MiddlewareError, JobInterruption):
    """Interruption of a job that may not begin before another one ends."""


class AttemptLimitError(MiddlewareError, Retry):
    """Error for a job that began too often without an end."""


class JobPostponement(Retry):
    """Postponement of a job for the seconds of a pause that a service asks for. The attempt does not count."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message, delay=math.ceil(seconds * 1_000))


class PersistentRetries(Retries):
    """Middleware that puts a failed job back on its queue, however long that takes.

    When it returns, Dramatiq acknowledges the job.
    """

    def __init__(self, on_loss: LossHandler) -> None:
        """Create the middleware. ``on_loss`` is called with each job that is given up."""
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
            case JobPostponement() if self._may_postpone(message, exception):
                broker.enqueue(cast("Message[Any]", message), delay=exception.delay)
            case JobPostponement():
                self._abandon_job(message, LossReason.FAILED)
            case _:
                super().after_process_message(  # type: ignore[no-untyped-call]
                    broker, message, result=result, exception=exception
                )
                if message.failed:
                    self._abandon_job(message, LossReason.FAILED)

    def _may_postpone(self, message: MessageProxy, error: JobPostponement) -> bool:
        """Return whether all postponements of a job, including this one, take at most two hours."""
        now = current_millis()
        since: int = message.options.setdefault(_POSTPONED_SINCE, now)
        return now + (error.delay or 0) - since <= _MAX_POSTPONEMENT

    def _abandon_job(self, message: MessageProxy, loss: LossReason) -> None:
        """Mark a job as failed and report its loss."""
        message.fail()
        self._on_loss(message, loss)


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
