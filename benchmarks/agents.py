"""What the protocol adds to the tools of agents: the time of each call against the service beneath it.

It is that of the processor, client included: nothing waits here, and other processes don't count.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from statistics import median
from typing import Any

import anyio
from mcp import Client

from benchmarks.day import add_large_day, measure_command, open_empty_world
from benchmarks.table import Table
from bot.app import App
from bot.features.profiles.service import PinnedMerge, ProfileEntry
from bot.mcp.calls import AgentTools, open_session, parse_arguments
from bot.mcp.declaration import Tool
from bot.mcp.server import build_server
from bot.mcp.tools import TOOLS
from impact.profile.models import Profile, Use, UseKind
from impact.repository import Repository
from tests.emulators.github.store import sha
from tests.helpers.agents import open_base
from tests.helpers.builders import NOON
from tests.helpers.world import SMALL_DAY

ROUNDS = 9
MAX_RATIO = 1.5
# seconds; nobody waits for a service that takes less, nor for the protocol around it
LEAST = 0.02
DAYS = "2026-02-28"
PATH = "src/part_1.py"
CALLS: dict[str, dict[str, Any]] = {
    "list_pull_requests": {"days": DAYS},
    "search": {"days": DAYS, "any_of": ["weights"]},
    "pull_request": {"number": 7},
    "read_diff": {"number": 7},
    "taken_back": {"days": DAYS},
    "read_file": {"number": 7, "path": PATH},
    "find_uses": {"number": 7, "name": "weights"},
    "read_discussion": {"number": 7},
    "where_is": {"number": 7},
    "file_at_commit": {"commit": sha("merge 7"), "path": PATH},
    "day_report": {"days": DAYS},
    "outcomes": {"days": DAYS},
    "bug_findings": {"days": DAYS},
    "contract_changes": {"days": DAYS},
    "suspects": {"since": DAYS, "traceback": "TypeError: total() missing 1 required positional argument: 'a'"},
    "touches": {"days": DAYS},
    "pending": {},
    "release": {},
    "find_profile_uses": {"name": "total"},
    "lessons": {"name": "total"},
    "upgrade_plan": {"start": sha("merge 1")},
}


@contextmanager
def open_large_day() -> Iterator[App]:
    """Yield what tools read of a day of 43 large pull requests whose digest was made, with a profile."""
    with open_empty_world() as there:
        add_large_day(there.github)
        measure_command(there, "report", *SMALL_DAY)
        there.settings.update(
            PRDIGEST_REPO="octo/engine",
            PRDIGEST_TIMEZONE="America/Los_Angeles",
            PRDIGEST_MCP_PROFILES="plugin",
            PRDIGEST_MCP_CALLS="10000",
        )
        with open_base(there.settings, lambda: NOON + timedelta(days=1)) as base:
            use = Use(UseKind.CALL, "src.part_1.total", "plugin/main.py", 7, "total()", ("src.part_1.total",))
            profile = Profile("plugin", ("src",), "octo/plugin", "", NOON, (use,), {}, 1)
            pin = PinnedMerge(sha("merge 1"), sha("merge 1"), NOON)
            entry = ProfileEntry("plugin", Repository("octo", "engine"), ("src",), uses=1, files=1, pin=pin)
            base.profiles.put(entry, profile)
            yield base


def time_agent_tools(table: Table) -> None:
    """Time each tool through the protocol against the service beneath it, both with what is kept by then."""
    with open_large_day() as app:
        rows = anyio.run(_time_all, app)
    for name, (service, whole) in rows.items():
        print(f"{name}: service {service * 1_000:.1f} ms, through the protocol {whole * 1_000:.1f} ms")
        ratio = (max(service, LEAST) + max(whole - service, 0.0)) / max(service, LEAST)
        table.print_row(f"MCP {name}: times the service, or {LEAST * 1_000:.0f} ms", ratio, MAX_RATIO, "times")


async def _time_all(app: App) -> dict[str, tuple[float, float]]:
    server = build_server(AgentTools(app, "benchmark", time.monotonic, lambda: "benchmark"))
    rows = {}
    # streams with messages as JSON, as over standard input and output
    async with Client(server, mode="legacy") as client:
        for tool in TOOLS:
            if tool.needs == "clones" or tool.name == "release":
                # git takes nearly all of it, and tells of tags
                continue
            arguments = CALLS[tool.name]
            await client.call_tool(tool.name, arguments)
            services, wholes = [], []
            # in turn, so that what slows the machine slows both
            for _ in range(ROUNDS):
                services.append(_time(partial(_run_service, tool, app, arguments)))
                began = time.process_time()
                result = await client.call_tool(tool.name, arguments)
                wholes.append(time.process_time() - began)
                assert not result.is_error, (tool.name, result.content)
            rows[tool.name] = median(services), median(wholes)
    return rows


def _run_service(tool: Tool, app: App, arguments: dict[str, Any]) -> None:
    tool.run(open_session(app), parse_arguments(tool, arguments))


def _time(work: Callable[[], None]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began
