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
Lost = Callable[[MessageProxy, LossReason], None]

_PAUSE = 1.0  # seconds
# GitHub's limits last an hour at most; who asks for longer pauses is not waited for
_MOST_PUT_OFF = 7_200_000  # milliseconds
_SINCE = "put_off_since"


class PutBack(Retry):
    """A job did not fail, but can't go on here: it goes back to its queue as it came, and counts no try."""


class Waits(MiddlewareError, PutBack):
    """Another job has to end before this one may begin."""


class SetAside(MiddlewareError, Retry):
    """A job began too often without an end."""


class PutOff(Retry):
    """A service wants to be left in peace for that many seconds: the job comes later, and that counts no try."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message, delay=math.ceil(seconds * 1_000))


class KeepTrying(Retries):
    """Puts a failed job back for another try, as long as that takes: what returns from here is acknowledged."""

    def __init__(self, lost: Lost) -> None:
        super().__init__()
        self._lost = lost

    def after_process_message(
        self, broker: Broker, message: MessageProxy, *, result: Any = None, exception: BaseException | None = None
    ) -> None:
        options = dict(message.options)
        while True:
            try:
                self._attend(broker, message, result, exception)
            except (RedisError, StoreUnavailable) as error:
                log.warning("a job can't be put back yet: %s", error)
                message.options.clear()
                message.options.update(options)
                time.sleep(_PAUSE)
            else:
                return

    def _attend(self, broker: Broker, message: MessageProxy, result: Any, exception: BaseException | None) -> None:
        match exception:
            case PutBack():
                broker.enqueue(cast("Message[Any]", message), delay=exception.delay)
            case SetAside():
                self._lose(message, LossReason.ENDLESS)
            case PutOff() if self._has_time(message, exception):
                broker.enqueue(cast("Message[Any]", message), delay=exception.delay)
            case PutOff():
                self._lose(message, LossReason.FAILED)
            case _:
                super().after_process_message(  # type: ignore[no-untyped-call]
                    broker, message, result=result, exception=exception
                )
                if message.failed:
                    self._lose(message, LossReason.FAILED)

    def _has_time(self, message: MessageProxy, error: PutOff) -> bool:
        """Whether all that it was put off is not too long yet, with this pause."""
        now = current_millis()
        since: int = message.options.setdefault(_SINCE, now)
        return now + (error.delay or 0) - since <= _MOST_PUT_OFF

    def _lose(self, message: MessageProxy, loss: LossReason) -> None:
        message.fail()
        self._lost(message, loss)


def in_a_line(
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
            raise PutBack from error
        except PrdigestError as error:
            if pause := get_retry_delay(error):
                log.info("%s goes on in %.0f s: %s", work.__name__.strip("_"), pause, error)
                raise PutOff(str(error), pause) from error
            log.warning("%s is tried again: %s", work.__name__.strip("_"), error)
            raise Retry(str(error)) from error

    return done
