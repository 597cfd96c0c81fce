"""An upstream with a few merges, a team that builds on it, and ways to reach the MCP server over both."""

import difflib
import os
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.error import URLError

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.types import CallToolResult, TextContent

from bot.app import App, open_app
from bot.features.profiles.service import PinnedMerge, ProfileEntry
from bot.features.touches import tasks
from bot.mcp.calls import AgentTools
from bot.mcp.server import PAGE_META
from bot.platform import deadlines
from bot.platform.costs import RateLimiter
from bot.platform.store.connection import connect_server
from bot.settings import load_settings
from impact.repository import Repository
from impact.testing.clones import building
from tests.emulators.github.store import changed_file, pull, sha
from tests.emulators.github.trees import Entry, FixedTree, TreeCommit
from tests.helpers.checks import closed_port, eventually
from tests.helpers.processes.command import environment, started
from tests.helpers.world import World, world

TOKEN = "a-token-of-the-tests-0123456789-0123456789"
UPSTREAM, PLUGIN, PRIVATE = "octo/engine", "octo/plugin", "octo/vault"
# what the bot's own token of GitHub may read, and nobody who asks may
SECRET_TITLE = "canary-of-the-vault-7e10"
MAKE = "def make(config{more}):\n    return config{result}\n"
BEGIN = {
    "engine/__init__.py": "",
    "engine/core.py": MAKE.format(more="", result=""),
    "engine/run.py": "from engine.core import make\n\n\ndef run(config):\n    return make(config)\n",
    "engine/utils.py": "def old_name():\n    return 1\n",
    "README.md": "# Engine\n",
}
# the title of each merge, and what it changes; None removes a file
MERGES: dict[str, dict[str, str | None]] = {
    "Ask for a device": {
        "engine/core.py": MAKE.format(more=", device", result=", device"),
        "engine/run.py": BEGIN["engine/run.py"].replace("make(config)", 'make(config, "cpu")'),
    },
    "Explain the engine": {"README.md": "# The engine\n\nIt runs.\n"},
    "Drop what is old": {"engine/utils.py": None},
    'Revert "Explain the engine" (#2)': {"README.md": "# Engine\n"},
}
# a sync of ten commits: what each changes upstream, in files of its own
CORE = """class Scheduler:
    def __init__(self, config):
        self.config = config

    def schedule(self):
        return _order(self.config)


def _order(config):
    return sorted(config)


"""
UTILS = "def old_name():\n    return 1\n\n\ndef unused():\n    return 2\n\n\ndef keep():\n    return 3\n"
RENAMED = UTILS.replace("old_name", "new_name")
USED = RENAMED.replace("def unused():\n    return 2\n\n\n", "")
MAKING = "def make(config, device):\n    made = Scheduler(config)\n    made.device = device\n    return made\n"
SYNC_BEGIN = {
    "engine/__init__.py": "",
    "engine/core.py": f"{CORE}def make(config):\n    return Scheduler(config)\n",
    "engine/run.py": BEGIN["engine/run.py"],
    "engine/utils.py": UTILS,
}
SYNC: dict[str, dict[str, str | None]] = {
    "Explain the engine (#11)": {"README.md": "# The engine\n"},
    "Ask for a device (#12)\n\n## Migration\n\nPass a device; `cpu` is as before.": {
        "engine/core.py": f"{CORE}{MAKING}",
        "engine/run.py": BEGIN["engine/run.py"].replace("make(config)", 'make(config, "cpu")'),
    },
    "Add a tool (#13)": {"engine/extra.py": "def tool():\n    return 4\n"},
    "Call it by its new name (#14)": {"engine/utils.py": RENAMED},
    "Order differently (#15)": {
        "engine/core.py": f"{CORE}{MAKING}".replace("sorted(config)", "sorted([*config])")
    },
    "Move the scheduler (#16)": {
        "engine/core.py": f"from engine import scheduler\n\n\n{MAKING}".replace(
            "Scheduler", "scheduler.Scheduler"
        ),
        "engine/scheduler.py": CORE,
    },
    "Drop what nobody uses (#17)": {"engine/utils.py": USED},
    "Drop what somebody uses (#18)": {"engine/utils.py": USED.partition("\n\n\n")[0] + "\n"},
    'Revert "Drop what somebody uses (#18)" (#19)\n\nThis reverts octo/engine#18.': {"engine/utils.py": USED},
    "Test a tool (#20)": {"tests/test_extra.py": "from engine.extra import tool\n\nassert tool()\n"},
}
FORK = {
    "plugin/__init__.py": "",
    "plugin/main.py": """from engine.core import make
from engine.utils import keep, old_name


def start():
    # one level is enough here
    return make({'depth': 1})


def names():
    return [old_name(), keep()]
""",
    "plugin/own.py": """from engine.core import Scheduler


class Ordered(Scheduler):
    def schedule(self):
        \"\"\"Keep the order of a config.\"\"\"
        return _order(self.config)


def _order(config):
    return list(config)
""",
}
FORK_TEST = """from plugin.main import names, start
from plugin.own import Ordered

assert start().device == "cpu"
assert names() == [1, 3]
assert Ordered([2, 1]).schedule() == [2, 1]
"""
# before the other merges
UNREAD = timedelta(days=10)
TEAM = {"plugin/main.py": "from engine.core import make\n\n\ndef start():\n    return make({'depth': 1})\n"}


@dataclass(frozen=True)
class AgentWorld:
    """The emulators, and the settings of a server. ``files`` are upstream's after the last merge."""

    world: World
    settings: dict[str, str]
    day: str
    files: Mapping[str, str]
    folder: Path


@contextmanager
def open_agent_world(store_url: str, folder: Path) -> Iterator[AgentWorld]:
    """A day of merges that is over, a profile of a team, and a repository that nobody may ask about."""
    noon = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0) - timedelta(days=1)
    build_sync(folder)
    with connect_server(store_url) as store, world(store_url) as there:
        store.flushall()
        files = _add_merges(there, noon)
        # of a day without a digest
        there.github.add(UPSTREAM, pull(90, merged_at=noon - UNREAD))
        there.github.add(PRIVATE, pull(1, title=SECRET_TITLE, merged_at=noon))
        there.github.add(PLUGIN, pull(1, merged_at=noon - timedelta(days=30)))
        there.github.add_commit(PLUGIN, TreeCommit(sha("merge 1"), _build_tree(TEAM)))
        settings = {
            **there.settings,
            "PRDIGEST_REPO": UPSTREAM,
            "PRDIGEST_MCP_PROFILES": "plugin",
            "PRDIGEST_MCP_CLONES": f"{folder / 'engine'}, {folder / 'plugin'}",
            "PRDIGEST_MCP_CALLS": "10000",
            "PRDIGEST_MCP_TOKEN": TOKEN,
        }
        # no agent needs them
        settings.pop("SLACK_BOT_TOKEN")
        with open_base(settings) as base:
            add_profile(base, "plugin")
        yield AgentWorld(there, settings, str(noon.date()), files, folder)


def build_sync(folder: Path) -> dict[str, str]:
    """Two clones: upstream, whose sync begins behind its first commit, and a fork. Return its files at the end."""
    files = dict(SYNC_BEGIN)
    with building(folder / "engine") as builder:
        builder.commit("Begin (#10)", {path: text.encode() for path, text in files.items()})
        for message, changes in SYNC.items():
            builder.commit(message, {path: text.encode() for path, text in changes.items() if text is not None})
            files |= {path: text for path, text in changes.items() if text is not None}
    with building(folder / "plugin") as builder:
        builder.commit("Begin", {path: text.encode() for path, text in FORK.items()})
    return files


def _add_merges(there: World, noon: datetime) -> dict[str, str]:
    files = dict(BEGIN)
    parent = TreeCommit(sha("merge 0"), _build_tree(files))
    for number, (title, changes) in enumerate(MERGES.items(), 1):
        before = dict(files)
        for path, text in changes.items():
            files.pop(path, None)
            files |= {} if text is None else {path: text}
        changed = tuple(_build_change(path, before.get(path), text) for path, text in changes.items())
        body = "This reverts #2: nobody needs it." if title.startswith("Revert") else f"Because of {number}."
        record = pull(number, title=title, body=body, merged_at=noon + timedelta(minutes=number), files=changed)
        there.github.add(UPSTREAM, record)
        parent = TreeCommit(sha(f"merge {number}"), _build_tree(files), parent)
        there.github.add_commit(UPSTREAM, parent)
    return files


def _build_change(path: str, before: str | None, after: str | None) -> dict[str, Any]:
    old, new = ((text or "").splitlines() for text in (before, after))
    patch = "\n".join([*difflib.unified_diff(old, new, lineterm="")][2:])
    return changed_file(path, patch, status="removed" if after is None else "modified")


def _build_tree(files: Mapping[str, str]) -> FixedTree:
    return FixedTree({path: Entry(text.encode()) for path, text in files.items()})


def add_profile(base: App, name: str) -> None:
    entry = ProfileEntry.build(name, Repository.parse(UPSTREAM), (), Repository.parse(PLUGIN))
    added = tasks.add_profile(base, entry)
    assert added.uses
    base.profiles.put(replace(added, pin=PinnedMerge("v1.0", sha("merge 1"), base.now().astimezone(UTC))))


@contextmanager
def open_base(
    settings: Mapping[str, str], now: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> Iterator[App]:
    with pytest.MonkeyPatch.context() as process:
        for name, value in settings.items():
            process.setenv(name, value)
        loaded = load_settings()
    with open_app(loaded, now, deadlines.sleep) as base:
        yield base


def make_tools(app: App, limiter: RateLimiter | None = None) -> AgentTools:
    return AgentTools(app, "test", lambda: 0.0, lambda: "0badc0de", limiter=limiter)


@asynccontextmanager
async def connect_stdio(there: AgentWorld, log: Path, **settings: str) -> AsyncIterator[Client]:
    """A client that has started the server by its command line; ``log`` gets what it writes to standard error."""
    # the SDK's own way to start it inherits standard error of this process
    line = f'exec "{sys.executable}" -m bot mcp 2>>"{log}"'
    variables = environment(**{**there.settings, **settings})
    start = StdioServerParameters(command="/bin/sh", args=["-c", line], env=variables, cwd=there.folder)
    async with Client(start) as client:
        yield client


@contextmanager
def serve_http(there: AgentWorld, log: Path, **settings: str) -> Iterator[str]:
    """The address of a server in a process of its own; ``log`` gets what it writes."""
    port = closed_port()
    server_settings = {**there.settings, "PRDIGEST_MCP_ADDRESS": str(port), **settings}
    with log.open("ab") as file, Path(os.devnull).open("rb") as nothing:
        standard = (nothing.fileno(), file.fileno(), file.fileno())
        process = started("mcp", "--http", settings=server_settings, folder=there.folder, files=standard)
    try:
        eventually(lambda: process.poll() is not None or is_alive(port))
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        assert process.wait(20) == 0, log.read_text()


def is_alive(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=2) as answer:
            return bool(answer.status == 200)
    except URLError:
        return False


@asynccontextmanager
async def connect_http(address: str, token: str = TOKEN) -> AsyncIterator[Client]:
    async with (
        create_mcp_http_client(headers={"Authorization": f"Bearer {token}"}) as http,
        Client(streamable_http_client(f"{address}/mcp", http_client=http)) as client,
    ):
        yield client


def read_text(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


def next_offset(result: CallToolResult) -> int | None:
    """Where the page after this one begins."""
    assert result.meta is not None
    offset = result.meta[PAGE_META]["next_offset"]
    assert offset is None or isinstance(offset, int)
    return offset


def run_fork_test(folder: Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-B", "test_main.py"]
    return subprocess.run(
        line, cwd=folder, env=environment(), capture_output=True, text=True, timeout=60, check=False
    )


def make_fork(files: Mapping[str, str]) -> Path:
    """A folder with files, such as a team's code, upstream after its merges, and a test of the team's own."""
    folder = Path(tempfile.mkdtemp(prefix="fork"))
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder
