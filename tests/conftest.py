"""What every test stands on: a clean environment, a real store, a model and a Slack on the loopback."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from redis import Redis

from bot.platform.models import Model
from bot.platform.store.connection import connect_server
from bot.platform.store.embedded.server import start_embedded_url
from bot.settings import Settings
from tests.emulators.claude.server import ClaudeEmulator
from tests.emulators.slack.server import SlackEmulator

# a change is judged by the same examples each time; HYPOTHESIS_PROFILE=search looks for new ones. Machines that
# run tests are small and shared: an example may be slow without being wrong.
settings.register_profile("same", deadline=None, max_examples=20, database=None, derandomize=True)
settings.register_profile("search", deadline=None, max_examples=1_500, database=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

pytest_plugins = [
    "tests.plugins.selection",
    "tests.plugins.prefork",
    "tests.plugins.sharing",
    "tests.plugins.reports",
]

_PROXIES = frozenset({"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"})
_FOREIGN = _PROXIES | {name.upper() for name in Settings.model_fields}


@pytest.fixture(scope="session")
def empty_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where tests work that have no folder of their own."""
    return tmp_path_factory.mktemp("empty")


@pytest.fixture(scope="session", autouse=True)
def _clean_environment() -> Iterator[None]:
    """No setting, proxy or ``.env`` of the person who runs the tests reaches them."""
    with pytest.MonkeyPatch.context() as patch:
        for name in _FOREIGN & os.environ.keys():
            patch.delenv(name)
        # a mirror is made of what a test serves, or not at all
        patch.setenv("PRDIGEST_MIRROR", "off")
        # a test without a store finds none: what one kept there, another would read, also on a later day
        patch.setenv("PRDIGEST_STATE_DIR", os.devnull)
        yield


@pytest.fixture(autouse=True)
def _own_folder(
    request: pytest.FixtureRequest, empty_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """Tests work in their ``tmp_path`` if they ask for it: to make one takes longer than most tests."""
    has_own = "tmp_path" in request.fixturenames
    os.chdir(request.getfixturevalue("tmp_path") if has_own else empty_folder)
    yield
    strays = [] if has_own else sorted(empty_folder.iterdir())
    for stray in strays:
        # others work there, too
        stray.rename(tmp_path_factory.mktemp("stray") / stray.name)
    assert strays == [], "ask for tmp_path to write files"


@pytest.fixture(autouse=True)
def _close_apps() -> Iterator[None]:
    yield
    # an error that a test keeps has the app in its traceback
    if apps := sys.modules.get("tests.helpers.apps"):
        while apps.OPENED:
            apps.OPENED.pop().close()


@pytest.fixture(scope="session")
def store_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    url = start_embedded_url(tmp_path_factory.mktemp("store"))
    with connect_server(url) as keeper:
        keeper.ping()
        yield url


@pytest.fixture
def store(store_url: str) -> Iterator[Redis]:
    with connect_server(store_url) as client:
        client.flushall()
        yield client


@pytest.fixture
def claude() -> Iterator[ClaudeEmulator]:
    with ClaudeEmulator() as emulator:
        yield emulator


@pytest.fixture
def model(claude: ClaudeEmulator) -> Iterator[Model]:
    from bot.platform.models.claude.connection import ClaudeConnection, make_claude_client  # noqa: PLC0415 (slow)

    with make_claude_client(claude.api_key, claude.url) as client:
        yield ClaudeConnection(client)


@pytest.fixture
def slack() -> Iterator[SlackEmulator]:
    with SlackEmulator() as emulator:
        yield emulator
