"""Dramatiq's broker on Redis, which loses no job while the store is away for a moment."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from copy import copy
from typing import Any, cast
from uuid import uuid4

from dramatiq import Consumer, Message, MessageProxy
from dramatiq.brokers.redis import RedisBroker, _RedisConsumer
from dramatiq.errors import ConnectionClosed
from dramatiq.middleware import Middleware, Retries, default_middleware
from redis import Redis
from redis.exceptions import RedisError

from bot.platform.dramatiq.retries import AttemptCounter, LossHandler, PersistentRetries
from bot.platform.store.keys import JOBS_NAMESPACE, build_acknowledgements_key, build_queue_key
from bot.platform.store.keyspace import UNPREFIXED, Keyspace

log = logging.getLogger(__name__)

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
