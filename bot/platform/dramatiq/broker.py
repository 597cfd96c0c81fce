"""Dramatiq's broker on Redis, which loses no job while the store is away for a moment.

A job that did not succeed is tried again at once, later, or never; then the asker or the operators get a notice.
Attempts that began without an end are counted, so that no job ends one process after the other.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from copy import copy
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import wraps
from typing import Any, cast
from uuid import uuid4

from dramatiq import Broker, Consumer, Message, MessageProxy, Worker
from dramatiq.brokers.redis import RedisBroker, _RedisConsumer
from dramatiq.common import current_millis
from dramatiq.errors import ConnectionClosed, Retry
from dramatiq.middleware import Middleware, MiddlewareError, Retries, default_middleware
from redis import Redis
from redis.exceptions import RedisError

from bot.errors import PrdigestError, StoreUnavailable, get_retry_delay
from bot.platform.deadlines import ProcessShutdown
from bot.platform.store.connection import UNPREFIXED, Keyspace
from bot.platform.store.keys import (
    JOB_ATTEMPTS,
    JOBS_NAMESPACE,
    SUSPECTS_LEASE,
    build_acknowledgements_key,
    build_queue_key,
)
from bot.platform.store.leases import hold_lease

log = logging.getLogger(__name__)

# milliseconds for the threads of a worker that fetch jobs to end, and to hand back what was not begun
_CONSUMERS_END = 1_500


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


# --- the broker

# seconds; the fetch after a wait is also a heartbeat, and a worker without one for ten seconds counts as dead
_MAX_WAIT = 1.0


def make_broker(
    store: Redis, on_loss: LossHandler, keys: Keyspace = UNPREFIXED, observer: Middleware | None = None
) -> RedisBroker:
    """Create a broker for one worker; its middleware keeps state.

    ``on_loss`` is called with each job that is given up. An ``observer`` changes no job: it is the first to hear
    that one begins, and the last to hear how it ended.

    A worker without a heartbeat for ten seconds counts as dead, and each fetch takes over what dead workers had.
    """
    retrying = [PersistentRetries(on_loss) if kind is Retries else kind() for kind in default_middleware]
    # the first middleware is the last to hear how a job ended: a job to try again is on its queue by then
    middleware = [*([observer] if observer else []), AttemptCounter(store, keys), *retrying]
    return _Broker(
        client=store,
        namespace=keys.add_prefix(JOBS_NAMESPACE),
        heartbeat_timeout=10_000,
        maintenance_chance=1_000_000,
        middleware=middleware,
    )


def stop_workers(workers: Sequence[Worker], seconds: float) -> None:
    """Stop workers whose jobs have so many seconds.

    Dramatiq's own stop takes the time of its first wait off again with each thread, and so leaves the last ones.
    """
    until = time.monotonic() + seconds
    threads = [thread for worker in workers for thread in worker.workers]
    for thread in threads:
        thread.stop()
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    for worker in workers:
        worker.stop(_CONSUMERS_END)


@contextmanager
def _translate_store_faults() -> Iterator[None]:
    """Raise what Dramatiq's worker waits out for any fault of the store: of redis-py's it knows one."""
    try:
        yield
    except RedisError as error:
        raise ConnectionClosed(error) from error  # type: ignore[no-untyped-call]


class ArrivalWait:
    """A wait that is looked at now and then. It holds a connection; a fault ends it, as fetches have retries."""

    def __init__(self, store: Redis, queue_key: str) -> None:
        self._store = store
        # moves the last job to where it is, which changes nothing
        self._command = ("BLMOVE", queue_key, queue_key, "RIGHT", "RIGHT", _MAX_WAIT)
        self._connection: Any = None
        self._end = 0.0

    @property
    def is_begun(self) -> bool:
        """Whether the server was asked, and its answer is still to come."""
        return self._connection is not None

    def begin(self) -> bool:
        """Ask the server for an answer when there is a job, and return whether that succeeded."""
        with suppress(RedisError):
            self._connection = self._store.connection_pool.get_connection()
            try:
                self._connection.send_command(*self._command)
            except RedisError:
                self.stop()
                raise
            answer_timeout = self._connection.socket_timeout
            self._end = time.monotonic() + _MAX_WAIT + (answer_timeout or 0.0)
        return self.is_begun

    def look(self, seconds: float) -> bool:
        """Wait for a time; return whether all is well so far. A late answer is a fault."""
        try:
            if self._connection.can_read(timeout=seconds):
                self._connection.read_response()
                self._release()
        except RedisError:
            self.stop()
            return False
        if self.is_begun and time.monotonic() > self._end:
            self.stop()
        return True

    def stop(self) -> None:
        if self._connection is not None:
            # an answer that is still to come is not that of the next command
            self._connection.disconnect()
            self._release()

    def _release(self) -> None:
        connection, self._connection = self._connection, None
        self._store.connection_pool.release(connection)


class _Consumer(_RedisConsumer):
    """A consumer that waits out every fault of the store, under a worker id of its own.

    It fetches when there is a job, not all the time. Another error than ``ConnectionClosed`` would end the
    consumer's thread for good when it can't hand its jobs back. A finished job would stay on the worker's list
    until the worker ends, and then run again.

    A consumer forgets its jobs when its connection breaks, while they stay listed under its id. The consumer that
    replaces it has another id; the old one, without a heartbeat, counts as dead, and a worker takes over its jobs.
    The other consumers of the broker keep their ids: only under the id that took a job is it acknowledged.

    A fetch whose answer was lost is repeated by the client of the store, and the first one has taken jobs that
    nobody runs, under the id of a living consumer. They are returned to the queue.
    """

    def __init__(self, broker: RedisBroker, queue_name: str, prefetch: int, timeout: int) -> None:
        identity = copy(broker)
        identity.broker_id = str(uuid4())
        # without a pause after a fetch that found nothing
        super().__init__(identity, queue_name, prefetch, timeout=0)  # type: ignore[no-untyped-call]
        self._pause = timeout / 1_000
        # the jobs that this consumer got and that are not acknowledged, by their ids in the store
        self._unfinished: set[str] = set()
        self._wait = ArrivalWait(broker.client, build_queue_key(broker.namespace, queue_name))

    def __next__(self) -> MessageProxy | None:
        """Return the next job, or None from time to time: the thread sees then whether it ends."""
        if self._wait.is_begun:
            if not self._wait.look(self._pause):
                time.sleep(self._pause)
            return None
        with _translate_store_faults():
            message = cast("MessageProxy | None", super().__next__())  # type: ignore[no-untyped-call]
            if message is not None:
                self._unfinished.add(message.options["redis_message_id"])
                return message
            self._return_lost_jobs()
            is_full = self.outstanding_message_count >= self.prefetch
            if is_full:
                # it fetches nothing, so this is the only sign of life under its id
                self.broker.do_qsize(self.queue_name)
        # a job that this consumer may not take yet would end the wait at once
        if is_full or not self._wait.begin():
            time.sleep(self._pause)
        return None

    def _return_lost_jobs(self) -> None:
        """Put back on the queue the jobs that are listed under the id of this consumer and never reached it."""
        # read first: a job may be acknowledged while the store answers, and only this thread adds one
        unfinished = set(self._unfinished)
        key = build_acknowledgements_key(self.broker.namespace, self.broker.broker_id, self.queue_name)
        listed = {each.decode() for each in cast("set[bytes]", self.broker.client.smembers(key))}
        if lost := listed - unfinished:
            log.warning("jobs whose fetch was not answered go back to their queue: %d", len(lost))
            self.broker.do_requeue(self.queue_name, *lost)

    def close(self) -> None:
        """End the wait, and put back on the queue what was fetched together with the last job."""
        self._wait.stop()
        cached, self.message_cache = self.message_cache, []
        self.requeue([MessageProxy(Message.decode(data)) for data in cached])

    def ack(self, message: MessageProxy) -> None:
        with _translate_store_faults():
            super().ack(message)  # type: ignore[no-untyped-call]
        self._unfinished.discard(message.options["redis_message_id"])

    def nack(self, message: MessageProxy) -> None:
        with _translate_store_faults():
            super().nack(message)  # type: ignore[no-untyped-call]
        self._unfinished.discard(message.options["redis_message_id"])

    def requeue(self, messages: Iterable[MessageProxy]) -> None:
        with _translate_store_faults():
            super().requeue(messages)  # type: ignore[no-untyped-call]


class _Broker(RedisBroker):
    consumer_class = _Consumer

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)  # type: ignore[no-untyped-call]
        self._consumers: dict[str, Consumer] = {}

    def consume(self, queue_name: str, prefetch: int = 1, timeout: int = 5_000) -> Any:
        if previous := self._consumers.get(queue_name):
            # Dramatiq does not close it if its jobs can't be handed back
            previous.close()
        self._consumers[queue_name] = super().consume(queue_name, prefetch, timeout)
        return self._consumers[queue_name]
