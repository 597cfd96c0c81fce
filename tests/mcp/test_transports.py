import datetime as dt
import json
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import pytest
from mcp import Client, MCPError
from mcp.types import CallToolResult, ListToolsResult, TextResourceContents

from bot.features.digest.posts import POSTED_DIGESTS
from bot.features.merges.review import BugReview
from bot.features.reviews.reading import ReviewResult
from bot.features.reviews.service import REVIEWS, build_key, find_reviewer
from bot.mcp.calls import NOTICE
from bot.mcp.tools import TOOLS
from bot.platform.store.connection import connect_server
from bot.platform.store.tables import Store
from impact.repository import Repository
from tests.emulators.github.store import sha
from tests.helpers.agents import (
    SECRET_TITLE,
    TOKEN,
    UNREAD,
    AgentWorld,
    connect_http,
    connect_stdio,
    next_offset,
    open_base,
    read_text,
    serve_http,
)
from tests.helpers.builders import finding
from tests.helpers.checks import eventually
from tests.helpers.processes.command import prdigest, started

pytestmark = pytest.mark.slow

# that asks for a device: the same commits have the same hashes
SYNC_COMMIT = "62f7082fc5d1ca01d1fab5054ee897507d874f3d"
# arguments of each tool, and what its result holds
CALLS: dict[str, tuple[dict[str, Any], str]] = {
    "list_pull_requests": ({"days": "7d"}, "#1 Ask for a device"),
    "search": ({"days": "7d", "any_of": ["device"]}, "engine/core.py:1: +def make(config, device):"),
    "pull_request": ({"number": 1}, "Because of 1."),
    "read_diff": ({"number": 1, "paths": ["engine/run.py"]}, '+    return make(config, "cpu")'),
    "taken_back": ({"days": "7d"}, "#2 (Explain the engine) was reverted by #4"),
    "read_file": ({"number": 1, "path": "engine/core.py"}, "1: +def make(config, device):"),
    "find_uses": ({"number": 1, "name": "make"}, "engine/run.py:5"),
    "read_discussion": ({"number": 1}, "No issue, comment or review with words."),
    "where_is": ({"number": 1}, "I couldn't read the tags of octo/engine (the bot keeps no clone)"),
    "file_at_commit": ({"commit": sha("merge 3"), "path": "engine/core.py"}, "2:     return config, device"),
    "day_report": ({"days": "DAY"}, "Ask for a device"),
    "outcomes": ({"number": 2}, '"outcome": "reverted", "by": 4'),
    "bug_findings": ({"days": "7d"}, '"trigger": "a request has no tokens"'),
    "contract_changes": ({"number": 3}, '"name": "engine.utils"'),
    "suspects": (
        {"since": "7d", "traceback": "TypeError: make() missing 1 required positional argument: 'device'"},
        "1. #1 Ask for a device",
    ),
    "touches": ({"days": "7d"}, '"path": "plugin/main.py", "line": 5'),
    "pending": ({}, "of octo/engine since its pin v1.0 (0 days ago)"),
    # there is no clone that has tags: tests/features/test_releases.py
    "release": ({}, "I know no tags of octo/engine, since the bot keeps no clone"),
    "find_profile_uses": ({"name": "make"}, "plugin/main.py:5 calls engine.core.make"),
    "lessons": ({"name": "make"}, "the history of your code (this bot keeps no mirror of the repositories)"),
    "upgrade_plan": ({"start": sha("merge 1")[:12]}, "# "),
    "judge_commits": ({"range": "2025-01-05..HEAD"}, '"pr": 11, "title": "Explain the engine", "level": "no"'),
    "commit_guide": ({"commit": SYNC_COMMIT}, "Pass a device; `cpu` is as before."),
    "uses_by_kind": ({"kinds": ["override"], "base": SYNC_COMMIT}, '"why": "Keep the order of a config."'),
}
REPORTS = "prdigest://reports/octo/engine/"
INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}}
Connection = Callable[[], AbstractAsyncContextManager[Client]]


@pytest.fixture(scope="module")
def log(there: AgentWorld) -> Path:
    return there.folder / "server.log"


@pytest.fixture(scope="module", params=["stdio", "http"])
def connect(request: pytest.FixtureRequest, there: AgentWorld, log: Path) -> Iterator[Connection]:
    day = ("--repo", "octo/engine", "--date", there.day)
    assert prdigest("report", *day, settings=there.settings, folder=there.folder).returncode == 0
    there.world.claude.requests.clear()
    keep_review(there)
    if request.param == "stdio":
        yield lambda: connect_stdio(there, log)
        return
    with serve_http(there, log) as address:
        yield lambda: connect_http(address)


def keep_review(there: AgentWorld) -> None:
    """Keep a review of the first merge, as its digest would."""
    with open_base(there.settings) as base:
        reviewer = find_reviewer(base)
        assert reviewer is not None
        merge = base.pulls.fetch_pull_request(Repository.parse("octo/engine"), 1)
        base.cached.put(REVIEWS, ReviewResult(BugReview((finding(),))), *build_key(reviewer, merge))


@dataclass
class Found:
    listed: ListToolsResult
    results: dict[str, CallToolResult]
    pages: list[str] = field(default_factory=list)
    whole: str = ""
    rows: list[Any] = field(default_factory=list)
    every: list[Any] = field(default_factory=list)
    resources: list[str] = field(default_factory=list)
    report: str = ""
    missing: str = ""


async def use_all(connect: Connection, there: AgentWorld) -> Found:
    async with connect() as client:
        answers = Found(await client.list_tools(), {})
        for name, (arguments, _) in CALLS.items():
            call_arguments = {key: there.day if value == "DAY" else value for key, value in arguments.items()}
            answers.results[name] = await client.call_tool(name, call_arguments)
        await turn_pages(client, answers)
        answers.resources = [each.uri for each in (await client.list_resources()).resources]
        (content,) = (await client.read_resource(f"{REPORTS}{there.day}")).contents
        assert isinstance(content, TextResourceContents)
        answers.report = content.text
        with pytest.raises(MCPError) as missing:
            await client.read_resource(f"{REPORTS}{dt.date.fromisoformat(there.day) - UNREAD}")
        answers.missing = str(missing.value)
        return answers


async def turn_pages(client: Client, answers: Found) -> None:
    offset: int | None = 0
    while offset is not None:
        page = await client.call_tool("list_pull_requests", {"days": "7d", "length": 500, "offset": offset})
        answers.pages.append(strip_fence(read_text(page)))
        offset = next_offset(page)
    answers.whole = strip_fence(read_text(await client.call_tool("list_pull_requests", {"days": "7d"})))
    offset = 0
    while offset is not None:
        page = await client.call_tool("contract_changes", {"days": "7d", "limit": 1, "offset": offset})
        answers.rows += list_items(page)
        offset = next_offset(page)
    answers.every = list_items(await client.call_tool("contract_changes", {"days": "7d"}))


def list_items(result: CallToolResult) -> list[Any]:
    assert isinstance(result.structured_content, dict)
    return list(result.structured_content["items"])


def strip_fence(text: str) -> str:
    return "\n".join(text.split("\n")[2:-2])


@pytest.fixture(scope="module")
def found_merges(connect: Connection, there: AgentWorld) -> Found:
    with connect_server(there.settings["REDIS_URL"]) as store:
        key = f"digest:T0TEAM:C0DIGEST:octo/engine:{there.day}@+0000"
        Store(store).add_member(POSTED_DIGESTS, key, datetime.now(UTC), "octo/engine")
    return anyio.run(use_all, connect, there)


def test_every_tool_answers_and_asks_no_model(found_merges: Found, there: AgentWorld, log: Path) -> None:
    assert [tool.name for tool in found_merges.listed.tools] == [tool.name for tool in TOOLS] == list(CALLS)
    for shown in found_merges.listed.tools:
        assert shown.title
        assert shown.annotations
        assert (shown.annotations.read_only_hint, shown.annotations.destructive_hint) == (True, False)
        jsonschema.Draft202012Validator.check_schema(shown.input_schema)
    for tool in TOOLS:
        result, (_, expected) = found_merges.results[tool.name], CALLS[tool.name]
        assert result.is_error == (tool.name == "release"), (tool.name, read_text(result))
        assert expected in read_text(result), (tool.name, read_text(result))
        # a first page is short
        assert len(read_text(result)) < 8_000
        assert (result.structured_content is None) == (tool.item is None or bool(result.is_error))
    assert there.world.claude.requests == []
    assert TOKEN not in log.read_text()
    assert SECRET_TITLE not in str(found_merges.results)


def test_pages_together_are_the_whole(found_merges: Found) -> None:
    assert len(found_merges.pages) > 1
    assert all(len(page) <= 500 for page in found_merges.pages)
    assert "\n".join(found_merges.pages) == found_merges.whole
    assert len(found_merges.rows) > 1
    assert found_merges.rows == found_merges.every


def test_reports_are_resources(found_merges: Found, there: AgentWorld) -> None:
    assert found_merges.resources == [f"{REPORTS}{there.day}"]
    assert "Drop what is old" in found_merges.report
    assert found_merges.report.startswith(f"{NOTICE}\n<data id=")
    assert found_merges.missing.startswith("There is no report of octo/engine on ")


def test_standard_output_holds_nothing_but_messages(there: AgentWorld, tmp_path: Path) -> None:
    asked = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "nothing", "arguments": {}}},
        {"jsonrpc": "2.0", "id": 3, "method": "no/such/method"},
    ]
    typed = "".join(f"{json.dumps(each)}\n" for each in asked) + "no json\n"
    settings = {**there.settings, "PRDIGEST_LOG_LEVEL": "DEBUG"}
    output, log = tmp_path / "said", tmp_path / "log"
    source, pen = os.pipe()
    with output.open("wb") as out, log.open("wb") as errors:
        standard = (source, out.fileno(), errors.fileno())
        process = started("mcp", settings=settings, folder=there.folder, files=standard)
    os.close(source)
    os.write(pen, typed.encode())
    # the end of standard input ends what is still asked
    eventually(lambda: {1, 2, 3} <= {json.loads(line).get("id") for line in output.read_text().splitlines()})
    os.close(pen)
    assert process.wait(20) == 0
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in output.read_text().splitlines())
    assert log.read_text()
    assert "Traceback" not in log.read_text()


def test_without_a_token_there_is_no_server_over_http(there: AgentWorld) -> None:
    settings = {name: value for name, value in there.settings.items() if name != "PRDIGEST_MCP_TOKEN"}
    done = prdigest("mcp", "--http", settings=settings, folder=there.folder)
    assert done.returncode == 2
    assert done.stderr.startswith("Set PRDIGEST_MCP_TOKEN to ")
    done = prdigest("mcp", settings={**settings, "PRDIGEST_MCP_TOKEN": "short"}, folder=there.folder)
    assert done.returncode == 2
    assert "PRDIGEST_MCP_TOKEN can't be used: use 32 characters or more" in done.stderr
