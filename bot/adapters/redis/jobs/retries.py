"""What becomes of a job that did not succeed: again at once, later, or never, and then somebody hears of it."""

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
from bot.services.operations.deadlines import ProcessShutdown

log = logging.getLogger(__name__)

# told of a job that will not be done, before it is taken from its queue
LossHandler = Callable[[MessageProxy, LossReason], None]

_STORE_RETRY_SECONDS = 1.0  # seconds
# GitHub's limits last an hour at most; who asks for longer pauses is not waited for
_MAX_POSTPONEMENT = 7_200_000  # milliseconds
_POSTPONED_SINCE = "put_off_since"


class JobInterruption(Retry):
    """A job did not fail, but can't go on here: it goes back to its queue as it came, and counts no try."""


class TurnWait(MiddlewareError, JobInterruption):
    """Another job has to end before this one may begin."""


class AttemptLimitError(MiddlewareError, Retry):
    """A job began too often without an end."""


class JobPostponement(Retry):
    """A service wants to be left in peace for that many seconds: the job comes later, and that counts no try."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message, delay=math.ceil(seconds * 1_000))


class PersistentRetries(Retries):
    """Puts a failed job back for another try, as long as that takes: what returns from here is acknowledged."""

    def __init__(self, lost: LossHandler) -> None:
        super().__init__()
        self._on_loss = lost

    def after_process_message(
        self, broker: Broker, message: MessageProxy, *, result: Any = None, exception: BaseException | None = None
    ) -> None:
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
        """Whether all that it was put off is not too long yet, with this pause."""
        now = current_millis()
        since: int = message.options.setdefault(_POSTPONED_SINCE, now)
        return now + (error.delay or 0) - since <= _MAX_POSTPONEMENT

    def _abandon_job(self, message: MessageProxy, loss: LossReason) -> None:
        message.fail()
        self._on_loss(message, loss)


def wrap_job(
    work: Callable[..., None], limited: Callable[[], AbstractContextManager[None]]
) -> Callable[..., None]:
    """The same work, in limited time; what is tried again is one line in the log, not a traceback."""

    @wraps(work)
    def done(*arguments: Any) -> None:
        try:
            with limited():
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

    return done
