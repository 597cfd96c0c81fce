"""Deadlines for calls over HTTP: each call ends in time, whatever its peer sends until then.

A read timeout restarts with each byte, so a peer that sends slowly could hold a call for ever. Therefore a call
registers the connection that it uses, and one thread for all calls shuts it down at the deadline. Every read and
write then ends, also those of TLS, in the headers as well as in the body.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar, copy_context
from functools import wraps
from typing import ParamSpec, TypeAlias, TypeVar

from bot.platform import deadlines
from bot.platform.deadlines import Limit

P = ParamSpec("P")
T = TypeVar("T")
# seconds without calls until the thread ends
_IDLE_SECONDS = 5.0


class DeadlineExceeded(TimeoutError):
    """Error for a call that did not end by its deadline. The call may have had its effect."""


class _BoundedCall:
    """One call, or a few in sequence. ``end`` is its deadline, on the clock of ``time.monotonic``."""

    def __init__(self, seconds: float, limit: Limit) -> None:
        self._seconds = seconds
        self._limit = limit
        self._lock = threading.Lock()
        self._connection: socket.socket | None = None
        self._duplicate: socket.socket | None = None
        self.is_over = self._is_closed = False
        self.end = 0.0
        self.restart_clock()

    def restart_clock(self) -> None:
        self.end = min(time.monotonic() + self._seconds, self._limit.end)

    def pause_clock(self) -> None:
        """Suspend the limit of a single request until the next one begins."""
        self.end = self._limit.end

    def hold_connection(self, connection: socket.socket) -> None:
        """Keep a duplicate of the connection. It stays valid if the original becomes TLS or is closed."""
        with self._lock:
            if self._duplicate:
                self._duplicate.close()
                self._duplicate = None
            if self._is_closed:
                return
            self._connection = connection
            self._duplicate = socket.fromfd(connection.fileno(), connection.family, connection.type)
            if self.is_over:
                self._shut_connection()

    def expire(self) -> None:
        """Shut the connection down, and each one that the call uses from now on."""
        with self._lock:
            if not self._is_closed:
                self.is_over = True
                self._shut_connection()

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            if self._duplicate:
                self._duplicate.close()
                self._duplicate = None
            if self.is_over and self._connection:
                # an incomplete answer, which nobody closes, would keep it open
                with suppress(OSError):
                    socket.close(self._connection.detach())
            self._connection = None

    def build_error(self) -> BaseException:
        return (
            self._limit.ending.build_error()
            if self._limit.ending.is_triggered
            else DeadlineExceeded("no whole answer within the deadline")
        )

    def _shut_connection(self) -> None:
        """Shut the connection down. The caller holds the lock."""
        if self._duplicate:
            # the connection may be closed already
            with suppress(OSError):
                self._duplicate.shutdown(socket.SHUT_RDWR)


class _DeadlineWatch:
    """Watch over calls, which ends them at their deadlines. Its thread runs only while there are calls."""

    def __init__(self) -> None:
        self._calls: set[_BoundedCall] = set()
        self._changed = threading.Condition()
        self._is_running = False

    @contextmanager
    def watch_call(self, call: _BoundedCall) -> Iterator[None]:
        with self._changed:
            self._calls.add(call)
            self._changed.notify()
            is_alone, self._is_running = not self._is_running, True
        if is_alone:
            threading.Thread(target=self._run_watch, daemon=True, name="deadlines").start()
        try:
            yield
        finally:
            with self._changed:
                self._calls.discard(call)

    def _run_watch(self) -> None:
        with self._changed:
            while True:
                first = min((call.end for call in self._calls if not call.is_over), default=None)
                pause = _IDLE_SECONDS if first is None else min(max(first - time.monotonic(), 0.0), _IDLE_SECONDS)
                is_changed = self._changed.wait(pause)
                if first is None and not is_changed and not self._calls:
                    self._is_running = False
                    return
                for call in [each for each in self._calls if each.end <= time.monotonic()]:
                    call.expire()


_DEADLINE_WATCH = _DeadlineWatch()
_CURRENT_CALL: ContextVar[_BoundedCall | None] = ContextVar("call", default=None)


@contextmanager
def bound_requests(seconds: float) -> Iterator[None]:
    """Limit each request of the block to ``seconds``, and all of them to the deadline of the work.

    Raises DeadlineExceeded if there was no time or it ran out, ProcessShutdown if the process ends.
    """
    limit = deadlines.get_limit()
    call = _BoundedCall(seconds, limit)
    with limit.ending.call_on_trigger(call.expire):
        if deadlines.get_seconds_left() <= 0:
            raise DeadlineExceeded("no time is left for the call")
        token = _CURRENT_CALL.set(call)
        try:
            with _DEADLINE_WATCH.watch_call(call):
                yield
        except Exception as error:
            if call.is_over:
                raise call.build_error() from error
            raise
        finally:
            _CURRENT_CALL.reset(token)
            call.close()
    # without a length, the end of the connection ends the answer, so an interrupted one would look complete
    if call.is_over:
        raise call.build_error()


def register_connection(connection: socket.socket | None, *, is_new_request: bool = True) -> None:
    """Register the connection that the current call uses for a request.

    The time of the request begins now, unless it is part of another request. None is a connection that is not open
    yet: it is registered when it is.
    """
    if connection is not None and (call := _CURRENT_CALL.get()):
        if is_new_request:
            call.restart_clock()
        call.hold_connection(connection)


def pause_call(seconds: float) -> None:
    """Sleep between requests of a call, up to the deadline; it counts as a wait of :func:`bound_work` alone."""
    deadlines.get_limit().waits.count_wait(seconds)
    if call := _CURRENT_CALL.get():
        call.pause_clock()
    deadlines.sleep(seconds)


def is_call_over() -> bool:
    """Return whether the current call was ended at its deadline, so that a retry is useless."""
    call = _CURRENT_CALL.get()
    return call is not None and call.is_over


def run_in_own_context(
    make_generator: Callable[P, Generator[T, None, None]],
) -> Callable[P, Generator[T, None, None]]:
    """Run each step of a generator, and its end, in one context: a copy of the one in which it begins.

    A generator that waits at its ``yield`` shares the context variables of its reader. One that waits within
    :func:`bound_requests` would count the reader's own calls as its own, and could not be closed by another
    thread, in which the variable was never set.
    """

    @wraps(make_generator)
    def run_steps(*args: P.args, **kwargs: P.kwargs) -> Generator[T, None, None]:
        context, steps = copy_context(), make_generator(*args, **kwargs)
        try:
            while True:
                try:
                    step = context.run(next, steps)
                except StopIteration:
                    return
                yield step
        finally:
            context.run(steps.close)

    return run_steps


# takes the kind of a call, of which a service has a few dozen at most, and returns a context for the call: it sees
# how long the call takes and whether it raises
CallWatch: TypeAlias = Callable[[str], AbstractContextManager[None]]


def watch_nothing(_operation: str) -> AbstractContextManager[None]:
    return nullcontext()
