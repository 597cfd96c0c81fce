"""Work in several processes, each with what it read before."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from itertools import accumulate
from multiprocessing import get_context
from typing import Any, TypeVar

from impact.errors import ImpactError

Item = TypeVar("Item")
Result = TypeVar("Result")
# the worker of this process, if it is one of several
_WORKERS: list[Callable[[Any], Any]] = []


def map_apart(
    start: Callable[..., Callable[[Item], Result]], arguments: tuple[Any, ...], parts: Sequence[Sequence[Item]]
) -> Iterator[Result]:
    """Yield what is made of items as it arrives. Each part has its process, where ``start`` gives what makes it.

    Raises ImpactError: a process was ended.
    """
    # a fork would share the pipes and threads of this process
    pools = [ProcessPoolExecutor(1, get_context("spawn"), _start_process, (start, *arguments)) for _ in parts]
    try:
        futures = [pool.submit(_work, item) for pool, part in zip(pools, parts, strict=True) for item in part]
        for future in as_completed(futures):
            yield future.result()
    except BrokenProcessPool as error:
        raise ImpactError("A process that reads merges was ended: is there enough memory?") from error
    finally:
        for pool in pools:
            pool.shutdown(wait=False, cancel_futures=True)


def _start_process(start: Callable[..., Callable[[Any], Any]], *arguments: Any) -> None:
    # the process that it works for ends it
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _WORKERS.append(start(*arguments))


def _work(item: Any) -> Any:
    return _WORKERS[0](item)


def divide(items: Sequence[Item], weights: Sequence[int], count: int) -> list[list[Item]]:
    """Divide items, in their order, into parts of about the same weight, of which some may be empty."""
    parts: list[list[Item]] = [[] for _ in range(count)]
    total = sum(weights)
    for item, end, weight in zip(items, accumulate(weights), weights, strict=True):
        parts[(end - weight) * count // total].append(item)
    return parts
