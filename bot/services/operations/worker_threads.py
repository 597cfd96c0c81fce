"""Threads for the parts of one piece of work. Nobody waits for them longer than the work may take."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, as_completed
from contextvars import Context, copy_context
from typing import Any, ParamSpec, TypeVar

from bot.domain.errors import OutOfTime
from bot.services.operations import deadlines

P = ParamSpec("P")
T = TypeVar("T")
U = TypeVar("U")

# seconds after the deadline: a part that ends at the deadline itself says better what was slow
_GRACE = 2.0


class Crew(Executor):
    """An executor whose threads work under the deadline of whoever makes it, and hold up nothing at its end.

    The standard pool waits for its threads at the end of its block, and again at the end of the process.
    """

    def __init__(self, workers: int, name: str) -> None:
        self._workers = workers
        self._name = name
        self._waiting: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
        self._lock = threading.Lock()
        self._busy = 0

    def submit(self, work: Callable[P, T], /, *arguments: P.args, **named: P.kwargs) -> Future[T]:
        """Have it done as soon as a thread is free."""
        future: Future[T] = Future()
        with self._lock:
            self._waiting.append((future, lambda: work(*arguments, **named)))
            is_needed = self._busy < self._workers
            self._busy += is_needed
        if is_needed:
            threading.Thread(target=self._run, args=(copy_context(),), daemon=True, name=self._name).start()
        return future

    def each(self, work: Callable[[T], U], items: Iterable[T]) -> list[U]:
        """What the work makes of each item, in their order. Raises the first error, and OutOfTime."""
        return [result_of(future) for future in [self.submit(work, item) for item in items]]

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002 (the base's)
        """Begin nothing more. What runs ends by itself, at its deadline at the latest."""
        with self._lock:
            waiting, self._waiting = self._waiting, deque()
        for future, _ in waiting:
            future.cancel()

    def _run(self, context: Context) -> None:
        while part := self._next():
            context.run(_do, *part)

    def _next(self) -> tuple[Future[Any], Callable[[], Any]] | None:
        with self._lock:
            if self._waiting:
                return self._waiting.popleft()
            self._busy -= 1
            return None


def _do(future: Future[Any], work: Callable[[], Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(work())
    except BaseException as error:
        future.set_exception(error)


def result_of(future: Future[T]) -> T:
    """Its result. Raises what it raises, and OutOfTime where that does not come in time."""
    try:
        return future.result(_patience())
    except TimeoutError as error:
        raise _late(future, error) from error


def results_as_done(futures: Iterable[Future[T]]) -> Iterator[T]:
    """The results, as they come. Raises the first error, and OutOfTime where one does not come in time."""
    try:
        yield from (future.result() for future in as_completed(futures, _patience()))
    except TimeoutError as error:
        raise OutOfTime(deadlines.TOO_LONG) from error


def _late(future: Future[T], error: TimeoutError) -> BaseException:
    """The wait may have ended, or the work with an error of that kind."""
    return error if future.done() else OutOfTime(deadlines.TOO_LONG)


def _patience() -> float | None:
    left = deadlines.left()
    return None if left == float("inf") else left + _GRACE
