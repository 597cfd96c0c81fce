"""The wait of a consumer for the next job on its queue: the server answers as soon as there is one."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

from redis import Redis
from redis.exceptions import RedisError

# seconds; the fetch after a wait is also a heartbeat, and a worker without one for ten seconds counts as dead
_MAX_WAIT = 1.0


class ArrivalWait:
    """A wait that is begun once and looked at as often as its caller has something else to do.

    It holds a connection meanwhile. Any fault of the store ends it: the fetch that follows a wait has retries.
    """

    def __init__(self, store: Redis, queue_key: str) -> None:
        """Create a wait for jobs on the list at ``queue_key``."""
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
        """Wait for the answer for a time, and return whether the wait went well so far.

        It is over with an answer. An answer that does not come in time is a fault.
        """
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
        """End the wait, with or without an answer."""
        if self._connection is not None:
            # an answer that is still to come is not that of the next command
            self._connection.disconnect()
            self._release()

    def _release(self) -> None:
        connection, self._connection = self._connection, None
        self._store.connection_pool.release(connection)
