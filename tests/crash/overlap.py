"""Tests of processes mostly wait, so those of a folder run at once, each on a store and a world of its own.

A test that is decorated with :func:`overlapping` takes what a context manager makes of a :class:`StoreSlot`. With
the first test of a folder all of these begin that were selected; each then reports its own outcome.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest
from redis import Redis

from bot.platform.store.connection import connect_server
from bot.platform.store.embedded.server import start_embedded_url

# so many run at once: each has a handful of processes, and other tests run beside them
PARALLEL_CHECKS = 6


@dataclass(frozen=True)
class StoreSlot:
    databases: tuple[tuple[str, Redis], tuple[str, Redis]]
    folder: Path

    @property
    def url(self) -> str:
        """The address of the first database."""
        return self.databases[0][0]

    @property
    def store(self) -> Redis:
        """A client of the first database."""
        return self.databases[0][1]


Check = Callable[[StoreSlot, dict[str, Any]], None]


def overlapping(
    make_subject: Callable[[StoreSlot], AbstractContextManager[Any]],
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator for a test that may run beside the others of its folder.

    The test takes as its first argument what ``make_subject`` yields, and as others its parameters, no fixtures.
    It must not use what belongs to this process (``caplog``, ``monkeypatch``, the working folder), nor change what
    concerns all databases of the server.
    """

    def decorate(check: Callable[..., None]) -> Callable[..., None]:
        def run(slot: StoreSlot, parameters: dict[str, Any]) -> None:
            with make_subject(slot) as subject:
                check(subject, **parameters)

        def test(overlap: Overlap, request: pytest.FixtureRequest, **_parameters: object) -> None:
            overlap.await_outcome(request.node)

        test.__doc__, test.__module__, test.__name__ = check.__doc__, check.__module__, check.__name__
        own = [
            each.replace(kind=each.KEYWORD_ONLY) for each in list(inspect.signature(check).parameters.values())[1:]
        ]
        fixtures = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in ("overlap", "request")]
        test.__signature__ = inspect.Signature([*own, *fixtures])  # type: ignore[attr-defined]
        test.check = run  # type: ignore[attr-defined]
        return test

    return decorate


class Overlap:
    def __init__(self, url: str, folder: Path, stack: ExitStack) -> None:
        self._folder = folder
        self._begun: set[Path] = set()
        self._outcomes: dict[str, Future[None]] = {}
        self._free_databases: SimpleQueue[tuple[str, Redis]] = SimpleQueue()
        for number in range(2 * PARALLEL_CHECKS):
            own = f"{url}?db={number}"
            store = stack.enter_context(connect_server(own))
            # a server without clients stops, and the first folder may have nothing that uses it
            store.ping()
            self._free_databases.put((own, store))
        # what has not begun when the tests end never begins
        self._pool = ThreadPoolExecutor(PARALLEL_CHECKS)
        stack.callback(self._pool.shutdown, cancel_futures=True)

    def begin_folder(self, item: pytest.Item) -> None:
        """Start all selected tests of the folder of ``item``, unless they have been started."""
        if item.path.parent in self._begun:
            return
        self._begun.add(item.path.parent)
        for each in item.session.items:
            if each.path.parent == item.path.parent and hasattr(_get_function(each), "check"):
                self._outcomes[each.nodeid] = self._pool.submit(self._run, len(self._outcomes), each)

    def await_outcome(self, item: pytest.Item) -> None:
        """Wait for a test that has been started; raise what it raised."""
        self._outcomes[item.nodeid].result()

    def _run(self, number: int, item: pytest.Item) -> None:
        slot = StoreSlot((self._free_databases.get(), self._free_databases.get()), self._folder / str(number))
        slot.folder.mkdir()
        try:
            for _, store in slot.databases:
                store.flushdb()
            parameters = item.callspec.params if hasattr(item, "callspec") else {}
            _get_function(item).check(slot, parameters)
        finally:
            for database in slot.databases:
                self._free_databases.put(database)


def _get_function(item: pytest.Item) -> Any:
    return getattr(item, "obj", None)


@contextmanager
def make_overlap(folder: Path) -> Iterator[Overlap]:
    """Yield what runs overlapping tests, with a server of their own in ``folder``."""
    with ExitStack() as stack:
        yield Overlap(start_embedded_url(folder / "store"), folder, stack)
