"""GitHub, Claude and Slack on the loopback, with the settings that lead a process to them."""

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bot.platform.slack import terminal
from bot.platform.slack.blocks import Post
from tests.emulators.claude.server import ClaudeEmulator
from tests.emulators.github.server import GitHubEmulator
from tests.emulators.github.store import changed_file, pull
from tests.emulators.slack.server import SlackEmulator
from tests.helpers.builders import NOON

CHANNEL = "C0DIGEST"
SMALL_DAY = (
    "--repo",
    "octo/engine",
    "--date",
    "2026-02-28",
    "--timezone",
    "America/Los_Angeles",
    "--name",
    "Engine",
)


@dataclass(frozen=True)
class World:
    github: GitHubEmulator
    claude: ClaudeEmulator
    slack: SlackEmulator
    settings: dict[str, str]

    def digest(self) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """The one digest in the channel: its lead message and its replies."""
        leads = self.slack.list_messages(CHANNEL)
        assert len(leads) == 1, [message["text"] for message in leads]
        return leads[0], self.slack.list_replies(CHANNEL, leads[0]["ts"])


@dataclass(frozen=True)
class Tokens:
    """What the services ask for: each its own."""

    github: str = "ghp_test"
    claude: str = "sk-ant-test"
    slack: str = "xoxb-test"


USUAL = Tokens()


@contextmanager
def world(store_url: str, team: str = "T0TEAM", tokens: Tokens = USUAL) -> Iterator[World]:
    """Start the emulators; the store is the one given, ``team`` the id of the workspace."""
    with ExitStack() as stack:
        github = stack.enter_context(GitHubEmulator(tokens.github))
        claude = stack.enter_context(ClaudeEmulator(tokens.claude))
        slack = stack.enter_context(SlackEmulator(tokens.slack, now=time.time, team_id=team))
        yield world_of(github, claude, slack, store_url)


def world_of(github: GitHubEmulator, claude: ClaudeEmulator, slack: SlackEmulator, store_url: str) -> World:
    settings = {
        "GITHUB_API_URL": github.url,
        "GITHUB_TOKEN": github.token,
        "ANTHROPIC_BASE_URL": claude.url,
        "ANTHROPIC_API_KEY": claude.api_key,
        "SLACK_API_URL": slack.url,
        "SLACK_BOT_TOKEN": slack.token,
        "REDIS_URL": store_url,
    }
    return World(github, claude, slack, settings)


def add_small_day(github: GitHubEmulator, count: int = 3) -> None:
    """``count`` pull requests of octo/engine on 2026-02-28, numbered from 101."""
    for number in range(101, 101 + count):
        patch = f"@@ -1,1 +1,2 @@\n line one\n+retries = {number}\n"
        github.add(
            "octo/engine",
            pull(
                number,
                title=f"Count retries {number}",
                merged_at=NOON + timedelta(minutes=number),
                files=(changed_file("engine/retry.py", patch=patch),),
            ),
        )


def add_yesterday(github: GitHubEmulator) -> None:
    """Two pull requests of octo/engine that were merged at noon of yesterday (UTC)."""
    noon = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0) - timedelta(days=1)
    files = (changed_file("engine/retry.py", patch="@@ -1 +1,2 @@\n one\n+retries = 3"),)
    for number in (101, 102):
        github.add("octo/engine", pull(number, merged_at=noon, files=files))


def replay(github: GitHubEmulator, shared: Path, date: str) -> list[dict[str, Any]]:
    """Load a replay day; its records."""
    github.load_replay(shared / "replay" / date)
    records: list[dict[str, Any]] = json.loads((shared / "replay" / date / "pulls.json").read_text())["pulls"]
    return records


def as_read(message: dict[str, Any]) -> str:
    return terminal.format_message(Post(message["text"], tuple(message["blocks"])))
