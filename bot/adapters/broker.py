"""Dramatiq's broker on Redis, so that no job is lost while the store is away for a moment."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from typing import Any, cast
from uuid import uuid4

from dramatiq import Broker, Message, MessageProxy
from dramatiq.brokers.redis import RedisBroker, _RedisConsumer
from dramatiq.errors import ConnectionClosed, Retry
from dramatiq.middleware import Retries, default_middleware
from redis import Redis
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError

log = logging.getLogger(__name__)

_PAUSE = 1.0  # seconds


def broker_of(store: Redis) -> RedisBroker:
    """A broker for one worker: its middleware keeps state.

    A worker without a heartbeat for ten seconds is dead, and every poll looks for the jobs of the dead.
    """
    middleware = [_Retries() if kind is Retries else kind() for kind in default_middleware]
    return _Broker(client=store, heartbeat_timeout=10_000, maintenance_chance=1_000_000, middleware=middleware)


class PutBack(Retry):
    """A job did not fail, but its process ends: it goes back to its queue as it came, and counts no try."""


class _Consumer(_RedisConsumer):
    """Says of a lost connection what the worker waits for; another error would end its thread for good."""

    def requeue(self, messages: Iterable[MessageProxy]) -> None:
        try:
            super().requeue(messages)  # type: ignore[no-untyped-call]
        except RedisConnectionError as error:
            raise ConnectionClosed(error) from error  # type: ignore[no-untyped-call]


class _Broker(RedisBroker):
    """Takes a new id when a consumer starts again.

    It forgot what it held when its connection broke, while those jobs stay noted under the broker's id, whose
    heart beats on. Under a new id the old one counts as dead, and somebody takes its jobs.
    """

    consumer_class = _Consumer

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)  # type: ignore[no-untyped-call]
        self._consumed: set[str] = set()

    def consume(self, queue_name: str, prefetch: int = 1, timeout: int = 5_000) -> Any:
        if queue_name in self._consumed:
            self.broker_id = str(uuid4())
        self._consumed.add(queue_name)
        return super().consume(queue_name, prefetch, timeout)


class _Retries(Retries):
    """Puts a failed job back for another try, as long as that takes: what returns from here is acknowledged."""

    def after_process_message(
        self, broker: Broker, message: MessageProxy, *, result: Any = None, exception: BaseException | None = None
    ) -> None:
        options = dict(message.options)
        while True:
            try:
                if isinstance(exception, PutBack):
                    broker.enqueue(cast("Message[Any]", message))
                else:
                    super().after_process_message(  # type: ignore[no-untyped-call]
                        broker, message, result=result, exception=exception
                    )
            except RedisError as error:
                log.warning("a job can't be put back yet: %s", error)
                message.options.clear()
                message.options.update(options)
                time.sleep(_PAUSE)
            else:
                return
