"""Threads for the parts of one piece of work. Nothing waits for them longer than the work may take."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, as_completed
from contextlib import contextmanager
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass
from functools import partial
from typing import Any, ParamSpec, TypeVar

from bot.errors import TimeLimitExceeded
from bot.platform import deadlines

P = ParamSpec("P")
T = TypeVar("T")
U = TypeVar("U")

# seconds after the deadline: a part that ends at its deadline raises an error that names what was slow
_GRACE_SECONDS = 2.0


def ignore_progress(_done: int, _all: int) -> None:
    """Do nothing with the progress."""


class DeadlineExecutor(Executor):
    """Executor whose threads keep to the deadline of their creator's work, and do not delay the end."""

    def __init__(self, workers: int, name: str) -> None:
        self._workers = workers
        self._name = name
        self._waiting: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
        self._lock = threading.Lock()
        self._busy = 0

    def submit(self, work: Callable[P, T], /, *arguments: P.args, **keywords: P.kwargs) -> Future[T]:
        """Run a part as soon as a thread is free."""
        [future] = self._submit_parts([partial(work, *arguments, **keywords)])
        return future

    def map_items(
        self, work: Callable[[T], U], items: Iterable[T], note: Callable[[int, int], None] = ignore_progress
    ) -> list[U]:
        """Return the results of the work for each item, in their order. ``note`` hears how many of all are there.

        Raises the first error, or TimeLimitExceeded.
        """
        # all at once: of quick parts, each would find that the thread of the last one has ended, and start another
        futures = self._submit_parts([partial(work, item) for item in items])
        results: list[U] = []
        for future in futures:
            note(len(results), len(futures))
            results.append(wait_for_result(future))
        return results

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002 (the base's)
        """Start no further part. Running parts end by themselves, at their deadline at the latest."""
        with self._lock:
            waiting, self._waiting = self._waiting, deque()
        for future, _ in waiting:
            future.cancel()

    def _submit_parts(self, parts: Sequence[Callable[[], T]]) -> list[Future[T]]:
        """Line the parts up, and start as many threads as are free and needed for them."""
        futures: list[Future[T]] = [Future() for _ in parts]
        with self._lock:
            self._waiting.extend(zip(futures, parts, strict=True))
            count = min(self._workers - self._busy, len(parts))
            self._busy += count
        for _ in range(count):
            threading.Thread(target=self._run_worker, args=(copy_context(),), daemon=True, name=self._name).start()
        return futures

    def _run_worker(self, context: Context) -> None:
        while part := self._take_next():
            context.run(_run_part, *part)

    def _take_next(self) -> tuple[Future[Any], Callable[[], Any]] | None:
        """Return the next part, None if the thread has to end."""
        with self._lock:
            if self._waiting:
                return self._waiting.popleft()
            self._busy -= 1
            return None


def _run_part(future: Future[Any], work: Callable[[], Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(work())
    except BaseException as error:
        future.set_exception(error)


def wait_for_result(future: Future[T]) -> T:
    """Return the result of a future. Raises its error, or TimeLimitExceeded if there is no result in time."""
    try:
        return future.result(_compute_timeout())
    except TimeoutError as error:
        raise _translate_timeout(future, error) from error


def iterate_results(futures: Iterable[Future[T]]) -> Iterator[T]:
    """Yield results as they arrive. Raises the first error, or TimeLimitExceeded if one is late."""
    try:
        yield from (future.result() for future in as_completed(futures, _compute_timeout()))
    except TimeoutError as error:
        raise TimeLimitExceeded(deadlines.TOO_LONG) from error


def _translate_timeout(future: Future[T], error: TimeoutError) -> BaseException:
    """Return the error to raise: that of the work itself if it has ended, otherwise TimeLimitExceeded."""
    return error if future.done() else TimeLimitExceeded(deadlines.TOO_LONG)


def _compute_timeout() -> float | None:
    """Return the seconds to wait for a result, None without a deadline."""
    left = deadlines.get_seconds_left()
    return None if left == float("inf") else left + _GRACE_SECONDS


# --- how far work is


@dataclass(slots=True)
class WorkProgress:
    """How many of all parts are done, each a ``unit``; ``total`` is 0 as long as nobody knows.

    What was done ``at_first`` says nothing of the time that one part takes.
    """

    done: int = 0
    total: int = 0
    unit: str = ""
    at_first: int = 0
    began: float = 0.0

    def note(self, done: int, total: int, unit: str) -> None:
        """Note how far it is; another unit or total is other work."""
        if (total, unit) != (self.total, self.unit):
            self.at_first, self.began = done, time.monotonic()
        self.done, self.total, self.unit = done, total, unit

    def estimate_seconds(self) -> float | None:
        """Return how long the rest takes if it goes on like this; None if nothing says so yet."""
        passed = self.done - self.at_first
        return (time.monotonic() - self.began) / passed * (self.total - self.done) if passed > 0 else None


_CURRENT: ContextVar[WorkProgress | None] = ContextVar("work_progress", default=None)


@contextmanager
def follow_progress() -> Iterator[WorkProgress]:
    progress = WorkProgress()
    token = _CURRENT.set(progress)
    try:
        yield progress
    finally:
        _CURRENT.reset(token)


def note_progress(done: int, total: int, unit: str = "merge") -> None:
    """Report how many of all parts are done. Without anybody who follows, this does nothing."""
    if progress := _CURRENT.get():
        progress.note(done, total, unit)
