"""What every test stands on: a clean environment, a real store, a model and a Slack on the loopback."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import settings
from redis import Redis
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from bot.adapters.embedded.server import start_embedded_url
from bot.adapters.redis.connection import connect_server
from bot.settings import Settings
from tests.emulators.claude.server import ClaudeEmulator
from tests.emulators.slack.server import SlackEmulator

# a change is judged by the same examples each time; HYPOTHESIS_PROFILE=search looks for new ones. Machines that
# run tests are small and shared: an example may be slow without being wrong.
settings.register_profile("same", deadline=None, max_examples=20, database=None, derandomize=True)
settings.register_profile("search", deadline=None, max_examples=1_500, database=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))


T = TypeVar("T")

TESTS = Path(__file__).parent

_PROXIES = frozenset({"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"})
_FOREIGN = _PROXIES | {name.upper() for name in Settings.model_fields}

# trials of the whole bot, by very many cases, in a browser or as a package: CI runs them (decision 84)
APART = frozenset("attacks benchmarks browser crash deploy evals faults hostile release".split())

# what mostly waits, for processes and for the dead to count as dead: the longest first
_WAITING = tuple(
    "browser crash scenarios attacks hostile faults processes upgrade embedded http git redis".split()
)
# what mostly computes, the longest first; all else is short
_COMPUTING = ("test_linear_time.py", "test_year.py", "cli", "demo")


# what is slow as a whole: it starts processes and waits for them
_PROCESSES = frozenset({"browser", "crash", "demo", "scenarios", "upgrade"})


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
    """A process gets a module or class at a time, and some folders as a whole."""

    def _split_scope(self, nodeid: str) -> str:
        scope = _get_scope(nodeid)
        return scope if scope in _TOGETHER else super()._split_scope(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling | None:
    return _TogetherByFolder(config, log) if config.getvalue("dist") == "loadscope" else None


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the switch that ``.ci/run`` sets."""
    parser.addoption("--all", action="store_true", help=f"collect these folders, too: {', '.join(sorted(APART))}")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out what CI runs, unless it is asked for as a whole or by a path."""
    if collection_path.parent != TESTS or collection_path.name not in APART or config.getoption("--all"):
        return None
    named = (config.invocation_params.dir / argument.partition("::")[0] for argument in config.args)
    return None if any(collection_path in (path, *path.parents) for path in named) else True


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Nothing of what is collected is garbage: to look for some takes a sixth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_itemcollected(item: pytest.Item) -> None:
    """Whole folders start processes and wait for them; single modules have the mark themselves."""
    if not _PROCESSES.isdisjoint(item.nodeid.partition("::")[0].split("/")):
        item.add_marker(pytest.mark.slow)


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
    """Return all values of both, each in its order, and both spread over the whole."""
    placed = [(at / len(values), value) for values in (first, second) for at, value in enumerate(values)]
    return [value for _, value in sorted(placed, key=lambda each: each[0])]


def pytest_collection_finish() -> None:
    """What was collected stays: to look through ten thousand tests for garbage takes a while each time."""
    gc.freeze()


@pytest.fixture(scope="session")
def empty_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where tests work that have no folder of their own."""
    return tmp_path_factory.mktemp("empty")


@pytest.fixture(autouse=True)
def _clean_environment(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    empty_folder: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[None]:
    """No setting, proxy or ``.env`` of the person who runs the tests reaches them.

    They work in their ``tmp_path`` if they ask for it: to make one takes longer than most tests.
    """
    for name in _FOREIGN & os.environ.keys():
        monkeypatch.delenv(name)
    if "tmp_path" in request.fixturenames:
        monkeypatch.chdir(request.getfixturevalue("tmp_path"))
        yield
        return
    monkeypatch.chdir(empty_folder)
    yield
    strays = list(empty_folder.iterdir())
    for stray in strays:
        # others work there, too
        stray.rename(tmp_path_factory.mktemp("stray") / stray.name)
    assert strays == [], "ask for tmp_path to write files"


@pytest.fixture(scope="session")
def store_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of an embedded Valkey that lives as long as the tests."""
    url = start_embedded_url(tmp_path_factory.mktemp("store"))
    with connect_server(url) as keeper:
        keeper.ping()
        yield url


@pytest.fixture
def store(store_url: str) -> Iterator[Redis]:
    """An empty store."""
    with connect_server(store_url) as client:
        client.flushall()
        yield client


@pytest.fixture
def claude() -> Iterator[ClaudeEmulator]:
    with ClaudeEmulator() as emulator:
        yield emulator


@pytest.fixture
def slack() -> Iterator[SlackEmulator]:
    with SlackEmulator() as emulator:
        yield emulator
