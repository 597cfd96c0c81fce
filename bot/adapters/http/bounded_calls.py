"""Bounds calls over HTTP: each ends at its deadline, whatever its peer sends until then.

A read timeout begins anew with each byte, so a peer that drips holds a call for ever. Therefore a call notes the
connection it uses, and one thread for all calls shuts it at the deadline: then every read and write ends, of TLS
too, in the middle of headers as of a body.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar

from bot.services.operations import deadlines
from bot.services.operations.deadlines import Limit, Stopping

# seconds until the thread ends for want of calls
_IDLE = 5.0


class TooSlow(TimeoutError):
    """A call did not end by its deadline; it may have had its effect."""


class _Call:
    """One call, or a few, one after the other. ``end`` is when it has to be through, by ``time.monotonic``."""

    def __init__(self, seconds: float, limit: Limit) -> None:
        self._seconds = seconds
        self._limit = limit
        self._lock = threading.Lock()
        self._used: socket.socket | None = None
        self._held: socket.socket | None = None
        self.is_over = self._is_closed = False
        self.end = 0.0
        self.renew()

    def renew(self) -> None:
        """The next request begins."""
        self.end = min(time.monotonic() + self._seconds, self._limit.end)

    def rest(self) -> None:
        """Nothing is asked until the next request."""
        self.end = self._limit.end

    def hold(self, used: socket.socket) -> None:
        """Remember the connection. A duplicate stays the same one when it becomes TLS, or is closed meanwhile."""
        with self._lock:
            self._let_go()
            if self._is_closed:
                return
            self._used = used
            self._held = socket.fromfd(used.fileno(), used.family, used.type)
            if self.is_over:
                self._shut()

    def expire(self) -> None:
        """Shut the connection, and each that is used from now on."""
        with self._lock:
            if not self._is_closed:
                self.is_over = True
                self._shut()

    def close(self) -> None:
        """It is through."""
        with self._lock:
            self._is_closed = True
            self._let_go()
            if self.is_over and self._used:
                # half an answer, which nobody closes, would keep it open
                with suppress(OSError):
                    socket.close(self._used.detach())
            self._used = None

    def failure(self) -> BaseException:
        """Why it was ended."""
        return Stopping() if self._limit.ending.is_here else TooSlow("no whole answer within the deadline")

    def _shut(self) -> None:
        if self._held:
            # it may have ended by itself
            with suppress(OSError):
                self._held.shutdown(socket.SHUT_RDWR)

    def _let_go(self) -> None:
        if self._held:
            self._held.close()
            self._held = None


class _Watch:
    """Ends calls at their deadlines, in a thread that is there while there are calls."""

    def __init__(self) -> None:
        self._calls: set[_Call] = set()
        self._changed = threading.Condition()
        self._is_running = False

    @contextmanager
    def over(self, call: _Call) -> Iterator[None]:
        with self._changed:
            self._calls.add(call)
            self._changed.notify()
            is_alone, self._is_running = not self._is_running, True
        if is_alone:
            threading.Thread(target=self._run, daemon=True, name="deadlines").start()
        try:
            yield
        finally:
            with self._changed:
                self._calls.discard(call)

    def _run(self) -> None:
        with self._changed:
            while True:
                first = min((call.end for call in self._calls if not call.is_over), default=None)
                is_changed = self._changed.wait(self._pause(first))
                if first is None and not is_changed and not self._calls:
                    self._is_running = False
                    return
                for call in [each for each in self._calls if each.end <= time.monotonic()]:
                    call.expire()

    def _pause(self, first: float | None) -> float:
        pause = _IDLE if first is None else first - time.monotonic()
        return min(max(pause, 0.0), _IDLE)


_WATCH = _Watch()
_CALL: ContextVar[_Call | None] = ContextVar("call", default=None)


@contextmanager
def bounded(seconds: float) -> Iterator[None]:
    """Give each request of the block that many seconds from its beginning, and none longer than the work may take.

    Raises:
        TooSlow: a request did not end in time, or there was no time for it.
        Stopping: the process ends.
    """
    limit = deadlines.limit()
    call = _Call(seconds, limit)
    with limit.ending.interrupts(call.expire):
        if deadlines.left() <= 0:
            raise TooSlow("no time is left for the call")
        token = _CALL.set(call)
        try:
            with _WATCH.over(call):
                yield
        except Exception as error:
            if call.is_over:
                raise call.failure() from error
            raise
        finally:
            _CALL.reset(token)
            call.close()
    # an answer without a length is as long as its connection: nobody knows whether it was whole
    if call.is_over:
        raise call.failure()


def note_connection(used: socket.socket, *, is_new_request: bool = True) -> None:
    """Say on which connection a request of this thread goes. Its time begins now, unless it is part of another."""
    if call := _CALL.get():
        if is_new_request:
            call.renew()
        call.hold(used)


def pause(seconds: float) -> None:
    """Sleep between two requests of a call, which takes none of their time, but not past the work's deadline.

    It counts for what services may make the work wait (:func:`bot.services.operations.deadlines.within`).
    """
    deadlines.limit().waits.count(seconds)
    if call := _CALL.get():
        call.rest()
    deadlines.sleep(seconds)


def is_over() -> bool:
    """Whether the call at hand was ended at its deadline, so that no use is in asking again."""
    call = _CALL.get()
    return call is not None and call.is_over
