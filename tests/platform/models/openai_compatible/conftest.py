"""An OpenAI-compatible server on the loopback."""

from collections.abc import Iterator

import pytest

from tests.emulators.openai_compatible.server import OpenAIEmulator


@pytest.fixture
def model_server() -> Iterator[OpenAIEmulator]:
    """A server that is right about everything: no test's own answer is wrong."""
    with OpenAIEmulator() as emulator:
        yield emulator
        assert emulator.problems == []
