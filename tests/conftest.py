"""What every test stands on: a clean environment, a real store, a model and a Slack on the loopback."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

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


_PROXIES = frozenset({"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"})
_FOREIGN = _PROXIES | {name.upper() for name in Settings.model_fields}

# what waits most, for processes and for the dead to count as dead
_LONGEST_FIRST = (
    "browser",
    "test_year.py",
    "crash",
    "scenarios",
    "hostile",
    "demo",
    "upgrade",
    "test_commands.py",
    "test_processes.py",
    "test_golden.py",
    "adapters",
)


# what is slow as a whole: it starts processes and waits for them
_PROCESSES = frozenset({"browser", "crash", "demo", "scenarios", "upgrade"})


# what shares one demo and one browser, or runs at the same time (``crash/overlap.py``)
_TOGETHER = ("tests/browser/", "tests/crash/posts/", "tests/crash/processes/", "tests/crash/store/")


class _TogetherByFolder(LoadScopeScheduling):  # type: ignore[misc]
    """A process gets a module or class at a time, and some folders as a whole."""

    def _split_scope(self, nodeid: str) -> str:
        folder = next((folder for folder in _TOGETHER if nodeid.startswith(folder)), None)
        return folder or super()._split_scope(nodeid)


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


def pytest_itemcollected(item: pytest.Item) -> None:
    """Whole folders start processes and wait for them; single modules have the mark themselves."""
    if not _PROCESSES.isdisjoint(item.nodeid.partition("::")[0].split("/")):
        item.add_marker(pytest.mark.slow)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest, so that the others are not done long before it; else in any order.

    The scenarios come in one go, and so do hostile people and the browser's tests: what they share lives no longer
    than they do.
    """
    items.sort(key=_rank)


def pytest_collection_finish() -> None:
    """What was collected stays: to look through ten thousand tests for garbage takes a while each time."""
    gc.freeze()


def _rank(item: pytest.Item) -> int:
    return min(
        (place for place, part in enumerate(_LONGEST_FIRST) if part in item.path.parts),
        default=len(_LONGEST_FIRST),
    )


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
