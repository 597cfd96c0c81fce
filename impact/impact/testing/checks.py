"""Tables of many short cases in one test, counts of calls, and sentences for people."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import update_wrapper
from inspect import Signature
from itertools import product
from types import FrameType
from typing import Any


def check_rows(
    rows: Mapping[str, Any] | Iterable[Any], *more: Iterable[Any]
) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """Make one test of a check that takes the values of a row, for a test each costs more than most of them do.

    Args: rows: a tuple of values, or the only value, for each row: by its name, or in a list of rows without.
    more: lists of further values, each of which is combined with each row. Raises AssertionError: rows failed;
    they are named with what their checks said.
    """
    named = (
        rows.items()
        if isinstance(rows, Mapping)
        else [(row if isinstance(row, str) else repr(row), row) for row in rows]
    )

    def decorate(check: Callable[..., None]) -> Callable[[], None]:
        def whole() -> None:
            failures = []
            for (name, row), *others in product(named, *more):
                try:
                    check(*(row if isinstance(row, tuple) else (row,)), *others)
                except Exception as error:
                    failures.append(f"{[name, *others]}: {type(error).__name__}: {error}")
            assert not failures, "\n\n".join(failures)

        update_wrapper(whole, check)
        # the values of a row are no fixtures
        whole.__signature__ = Signature()  # type: ignore[attr-defined]
        return whole

    return decorate


@contextmanager
def counting(*functions: Callable[..., Any]) -> Iterator[Counter[tuple[str, int]]]:
    """Count calls by function and the number of ``pull``, also of threads that start within the block."""
    codes, counts, lock = {each.__code__ for each in functions}, Counter[tuple[str, int]](), threading.Lock()

    def hear(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and frame.f_code in codes:
            with lock:
                counts[frame.f_code.co_name, frame.f_locals["pull"].number] += 1

    before, before_in_threads = sys.getprofile(), threading.getprofile()
    threading.setprofile(hear)
    sys.setprofile(hear)
    try:
        yield counts
    finally:
        sys.setprofile(before)
        threading.setprofile(before_in_threads)


def is_one_sentence(message: str) -> bool:
    return message.endswith(".") and ". " not in message and "\n" not in message
