import gc
import os
from collections.abc import Iterator, Sequence
from typing import TypeVar

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from tests.plugins.selection import is_quick

T = TypeVar("T")

# more take more memory than a laptop has
_MOST_PROCESSES = 8

# what mostly waits, for processes and for the dead to count as dead: the longest first
_WAITING = tuple(
    "browser crash scenarios attacks hostile faults processes upgrade embedded http git redis".split()
)
# what mostly computes, the longest first; all else is short
_COMPUTING = ("test_year.py", "test_linear_time.py", "cli", "demo")

# what shares a demo, a browser or the bots of the scenarios, or runs at the same time (``crash/overlap.py``)
_TOGETHER = (
    "tests/browser/",
    "tests/crash/posts/",
    "tests/crash/processes/",
    "tests/crash/store/",
    "tests/scenarios/commands/",
    "tests/scenarios/conversations/",
    "tests/scenarios/subscriptions/",
    "tests/scenarios/transport/",
)


class _TogetherByFolder(LoadScopeScheduling):  # type: ignore[misc]
    def _split_scope(self, nodeid: str) -> str:
        scope = _get_scope(nodeid)
        return scope if scope in _TOGETHER else super()._split_scope(nodeid)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Start one process more than there are cores for quick tests, and twice as many for all: slow ones wait."""
    cores = os.cpu_count() or 1
    return min((1 if is_quick(config) else 2) * cores + 1, _MOST_PROCESSES)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling | None:
    return _TogetherByFolder(config, log) if config.getvalue("dist") == "loadscope" else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Nothing of what is collected is garbage: to look for some takes a sixth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mix what waits with what computes, so that the processors have work all the time; the longest come first.

    Otherwise the order is any. A folder that one process runs as a whole, and each module, stay together.
    """
    scopes: dict[str, list[pytest.Item]] = {}
    for item in items:
        scopes.setdefault(_get_scope(item.nodeid), []).append(item)
    waiting = sorted((each for each in scopes.values() if _rank(each[0], _WAITING) is not None), key=_rank_waiting)
    computing = sorted((each for each in scopes.values() if _rank(each[0], _WAITING) is None), key=_rank_computing)
    items[:] = [item for scope in _interleave(waiting, computing) for item in scope]


def _get_scope(nodeid: str) -> str:
    folder = next((folder for folder in _TOGETHER if nodeid.startswith(folder)), None)
    return folder or nodeid.partition("::")[0]


def _rank(item: pytest.Item, parts: Sequence[str]) -> int | None:
    return next((place for place, part in enumerate(parts) if part in item.path.parts), None)


def _rank_waiting(scope: Sequence[pytest.Item]) -> int:
    return _rank(scope[0], _WAITING) or 0


def _rank_computing(scope: Sequence[pytest.Item]) -> int:
    rank = _rank(scope[0], _COMPUTING)
    return len(_COMPUTING) if rank is None else rank


def _interleave(first: Sequence[T], second: Sequence[T]) -> list[T]:
    placed = [(at / len(values), value) for values in (first, second) for at, value in enumerate(values)]
    return [value for _, value in sorted(placed, key=lambda each: each[0])]


def pytest_collection_finish() -> None:
    """What was collected stays: to look through ten thousand tests for garbage takes a while each time."""
    gc.freeze()
