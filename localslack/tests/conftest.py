"""A clean environment, and the local Slack with the client that apps ask it with."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from slack_sdk import WebClient

from localslack.testing.emulator import SlackEmulator
from tests.client import client_of

# the same examples each time; HYPOTHESIS_PROFILE=search looks for new ones
settings.register_profile("same", deadline=None, max_examples=20, database=None, derandomize=True)
settings.register_profile("search", deadline=None, max_examples=1_500, database=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No proxy and no file of the person who runs the tests reaches them."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def slack() -> Iterator[SlackEmulator]:
    with SlackEmulator() as emulator:
        yield emulator


@pytest.fixture
def web(slack: SlackEmulator) -> WebClient:
    return client_of(slack)
