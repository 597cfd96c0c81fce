"""The outside worlds of the adapters, on the loopback."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.adapters.worlds import ScriptedGitHub
from tests.emulators.claude import ClaudeEmulator
from tests.emulators.slack import SlackEmulator


@pytest.fixture
def github() -> Iterator[ScriptedGitHub]:
    with ScriptedGitHub() as emulator:
        yield emulator


@pytest.fixture
def claude() -> Iterator[ClaudeEmulator]:
    with ClaudeEmulator() as emulator:
        yield emulator


@pytest.fixture
def slack() -> Iterator[SlackEmulator]:
    with SlackEmulator() as emulator:
        yield emulator
