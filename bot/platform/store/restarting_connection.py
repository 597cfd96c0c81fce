"""Connections to the embedded store that start it again if it has died."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Callable
from typing import Any, cast

from redis.connection import UnixDomainSocketConnection

from bot.errors import StoreUnavailable

log = logging.getLogger(__name__)


class StoreRestarter:
    """Restarts the store in a thread, one at a time. Callers meanwhile wait for the same restart."""

    def __init__(self, start: Callable[[], object], timeout: float) -> None:
        """Create a restarter.

        ``start`` returns when the store runs. Callers wait for that for at most ``timeout`` seconds.
        """
        self._start = start
        self._timeout = timeout
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def restart_store(self) -> None:
        """Start the store, or wait for a start that is under way."""
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._start_store, daemon=True, name="revive")
                self._thread.start()
            thread = self._thread
        thread.join(self._timeout)

    def _start_store(self) -> None:
        try:
            self._start()
        except StoreUnavailable as error:
            log.warning("the embedded store can't be started again: %s", error)
        else:
            log.warning("the embedded store had ended and was started again")


class RestartingConnection(UnixDomainSocketConnection):
    """A connection to a socket that restarts the store if nobody listens there."""

    def __init__(self, *, restarter: StoreRestarter, **options: Any) -> None:
        super().__init__(**options)  # type: ignore[no-untyped-call]
        self._restarter = restarter

    def _connect(self) -> socket.socket:
        try:
            return self._connect_once()
        except (ConnectionRefusedError, FileNotFoundError):
            self._restarter.restart_store()
            return self._connect_once()

    def _connect_once(self) -> socket.socket:
        return cast("socket.socket", super()._connect())  # type: ignore[no-untyped-call]
