"""Scripts adapt a fork to what upstream changed, from what the tools say alone; the fork's own test passes."""

import shutil
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, ExitStack
from functools import partial
from pathlib import Path

import anyio
import pytest
from mcp import Client

from impact.testing.clones import git
from tests.helpers.agents import (
    FORK,
    FORK_TEST,
    TEAM,
    AgentWorld,
    build_sync,
    connect_http,
    connect_stdio,
    make_fork,
    run_fork_test,
    serve_http,
)
from tests.mcp.toy_agent import Ask, SyncAgent, adapt_fork, ask_program, ask_server

pytestmark = pytest.mark.slow


TEST = "from plugin.main import start\n\nassert start() == ({'depth': 1}, 'cpu'), start()\n"


@pytest.fixture
def fork(there: AgentWorld) -> Iterator[Path]:
    folder = make_fork({**there.files, **TEAM, "plugin/__init__.py": "", "test_main.py": TEST})
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


@pytest.mark.parametrize("way", ["stdio", "http", "impact"])
def test_a_sync_of_ten_commits_touches_nothing_that_is_no(there: AgentWorld, way: str, tmp_path: Path) -> None:
    files = build_sync(tmp_path / "clones")
    fork = make_fork({**files, **FORK, "test_main.py": FORK_TEST})
    assert run_fork_test(fork).returncode == 1
    head = git(there.folder / "plugin", "rev-parse", "main")

    async def work(ask: Ask) -> SyncAgent:
        agent = SyncAgent(ask, fork, head)
        await agent.adapt(f"{git(there.folder / 'engine', 'rev-list', '--max-parents=0', 'main')}..HEAD")
        return agent

    async def work_over_mcp(connection: AbstractAsyncContextManager[Client]) -> SyncAgent:
        async with connection as client:
            return await work(partial(ask_server, client.call_tool))

    with ExitStack() as stack:
        if way == "impact":
            agent = anyio.run(work, partial(ask_program, there.folder))
        elif way == "stdio":
            agent = anyio.run(work_over_mcp, connect_stdio(there, tmp_path / "log"))
        else:
            address = stack.enter_context(serve_http(there, tmp_path / "log"))
            agent = anyio.run(work_over_mcp, connect_http(address))
    assert [row["pr"] for row in agent.rows] == [*range(11, 21)]
    assert [row["pr"] for row in agent.rows if row["level"] != "no"] == [12, 14, 16, 18]
    # what was reverted on the way is no work either
    assert agent.guided == [12, 14, 16]
    assert agent.advice == "## Migration\n\nPass a device; `cpu` is as before."
    assert agent.reasons["plugin/main.py", 7] == "one level is enough here"
    assert agent.overrides == [("engine.core.Scheduler.schedule", "Keep the order of a config.")]
    changed = {path for path, text in FORK.items() if (fork / path).read_text() != text}
    assert changed == {path for path, _ in agent.changed}
    assert agent.changed == [("plugin/main.py", 7), ("plugin/main.py", 2), ("plugin/own.py", 1)]
    adapted = run_fork_test(fork)
    assert (adapted.returncode, adapted.stderr) == (0, "")
    shutil.rmtree(fork)
