"""Connections to the embedded store that start it again where it has died."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Callable
from typing import Any, cast

from redis.connection import UnixDomainSocketConnection

from bot.domain.errors import StoreUnavailable

log = logging.getLogger(__name__)


class StoreRestarter:
    """Starts the store in a thread of its own, one at a time; who asks meanwhile waits for the same one."""

    def __init__(self, start: Callable[[], object], patience: float) -> None:
        """``start`` returns when the store runs; who asks waits ``patience`` seconds for that at most."""
        self._start = start
        self._patience = patience
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def restart_store(self) -> None:
        """Start it, or wait for whoever starts it."""
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._start_store, daemon=True, name="revive")
                self._thread.start()
            thread = self._thread
        thread.join(self._patience)

    def _start_store(self) -> None:
        try:
            self._start()
        except StoreUnavailable as error:
            log.warning("the embedded store can't be started again: %s", error)
        else:
            log.warning("the embedded store had ended and was started again")


class RestartingConnection(UnixDomainSocketConnection):
    """A connection to a socket where somebody has to listen."""

    def __init__(self, *, revive: StoreRestarter, **options: Any) -> None:
        super().__init__(**options)  # type: ignore[no-untyped-call]
        self._restarter = revive

    def _connect(self) -> socket.socket:
        try:
            return self._connect_once()
        except (ConnectionRefusedError, FileNotFoundError):
            self._restarter.restart_store()
            return self._connect_once()

    def _connect_once(self) -> socket.socket:
        return cast("socket.socket", super()._connect())  # type: ignore[no-untyped-call]
