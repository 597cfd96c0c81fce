"""The outside worlds of the adapters, on the loopback."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.adapters.worlds import ScriptedGitHub


@pytest.fixture
def github() -> Iterator[ScriptedGitHub]:
    with ScriptedGitHub() as emulator:
        yield emulator
