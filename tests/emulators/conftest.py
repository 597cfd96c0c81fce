"""The emulators, and the clients that the product asks the real services with."""

from collections.abc import Iterator

import pytest
from anthropic import Anthropic, DefaultHttpxClient

from bot.platform.http.httpx_clients import get_tls_context
from tests.emulators.claude.server import ClaudeEmulator
from tests.emulators.github.client import start_emulator
from tests.emulators.github.server import GitHubEmulator


@pytest.fixture
def sdk(claude: ClaudeEmulator) -> Iterator[Anthropic]:
    # nothing here speaks TLS: a context for each test takes longer than the test
    http = DefaultHttpxClient(verify=get_tls_context())
    with Anthropic(
        base_url=claude.url, api_key=claude.api_key, max_retries=0, timeout=5, http_client=http
    ) as client:
        yield client


@pytest.fixture(scope="module")
def strict() -> Iterator[Anthropic]:
    """A client of one emulator for the tests that only look at what is refused."""
    with (
        ClaudeEmulator() as emulator,
        Anthropic(base_url=emulator.url, api_key=emulator.api_key, max_retries=0) as client,
    ):
        yield client


@pytest.fixture
def hub() -> Iterator[GitHubEmulator]:
    with start_emulator() as emulator:
        yield emulator


@pytest.fixture(scope="module")
def unchanged_emulator() -> Iterator[GitHubEmulator]:
    """One emulator for the tests that only read; its REST search limit is out of their way."""
    with start_emulator() as emulator:
        emulator.set_limit("search", 1000)
        yield emulator
