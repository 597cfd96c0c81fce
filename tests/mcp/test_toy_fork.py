"""A script adapts a fork of an upstream whose function asks for more than before; the fork's own test passes."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from tests.helpers.agents import AgentWorld, connect_http, make_fork, run_fork_test, serve_http
from tests.mcp.toy_agent import adapt_fork

pytestmark = pytest.mark.slow


@pytest.fixture
def fork(there: AgentWorld) -> Iterator[Path]:
    folder = make_fork(there.files)
    yield folder
    shutil.rmtree(folder)


def test_a_fork_is_adapted_from_what_the_tools_say(there: AgentWorld, fork: Path, tmp_path: Path) -> None:
    broken = run_fork_test(fork)
    assert broken.returncode == 1
    assert "missing 1 required positional argument: 'device'" in broken.stderr

    async def adapt(address: str) -> list[str]:
        async with connect_http(address) as client:
            return await adapt_fork(client.call_tool, fork, there.day)

    with serve_http(there, tmp_path / "log") as address:
        assert anyio.run(adapt, address) == ["plugin/main.py:5"]
    adapted = run_fork_test(fork)
    assert (adapted.returncode, adapted.stderr) == (0, "")
    assert there.world.claude.requests == []
