"""What people do in Slack and what comes of it: ``prdigest run`` as a process, over HTTP and over Socket Mode.

Tests share a process. Each has channels, people, pull requests and repositories of its own, so that no test sees
what another did.
"""

import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from http.client import HTTPException
from itertools import count
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from localslack.socket_mode import SocketTransport
from localslack.state.workspace import Json
from localslack.users.person import Person
from localslack.users.transport import HttpTransport
from redis import Redis

from tests.emulators.claude.server import Step
from tests.emulators.github.faults import FailureKind
from tests.emulators.github.store import changed_file, pull
from tests.emulators.slack.blocks import actions, button
from tests.helpers.checks import eventually, waiting_jobs
from tests.helpers.processes.command import Process
from tests.helpers.world import World

TRANSPORTS = ("http", "socket")
# for what depends on how a request comes: each kind of payload once, its acknowledgement, what is delivered again
both_transports = pytest.mark.parametrize("transport", TRANSPORTS, indirect=True)
SECRET = "signing-secret"
REPO = "octo/engine"
SECTIONS = ("What changed and why", "Technical impact", "Potential risks", "Key insights")
# seventeen points by the rules: far more than the usual size, and a title that speaks of speed
RISKY: dict[str, Any] = {
    "title": "Speed up attention kernels",
    "files": (changed_file("csrc/attention.cu", additions=450, deletions=350),),
}
_OTHERS = 120


def noon_zone() -> ZoneInfo:
    """A zone in which it is about noon: there, today has begun and will not end during a test."""
    ahead = 12 - datetime.now(UTC).hour
    return ZoneInfo(f"Etc/GMT{-ahead:+d}" if ahead else "UTC")


def allowed_repositories() -> list[str]:
    """Besides ``REPO``: one for each test that asks about days."""
    return [f"octo/part-{number}" for number in range(1, _OTHERS)]


@dataclass
class Supply:
    """What no test had yet."""

    numbers: Iterator[int] = field(default_factory=lambda: count(20_001))
    repositories: Iterator[str] = field(default_factory=lambda: iter(allowed_repositories()))


@dataclass
class Bot:
    """The bot as a process with its own store, the world around it, and ways to use and to look at it."""

    transport: str
    world: World
    store: Redis
    process: Process
    log_file: Path
    zone: ZoneInfo
    supply: Supply

    # what a test has for itself

    def person(self, **fields: Any) -> Person:
        """Somebody who never asked before."""
        user = f"U0P{next(self.supply.numbers)}"
        return replace(Person(self.world.slack, self.wire, user=user), **fields)

    def channel(self, **fields: Any) -> str:
        """An empty channel, with the bot in it unless ``member`` is false."""
        name = f"C0R{next(self.supply.numbers)}"
        self.world.slack.add_channel(name, name.lower(), **fields)
        return name

    def pull(self, repository: str = REPO, **fields: Any) -> int:
        """The number of a pull request that nobody asked about."""
        number = next(self.supply.numbers)
        self.world.github.add(repository, pull(number, **{"title": f"Change {number}", **fields}))
        return number

    def unused_number(self) -> int:
        return next(self.supply.numbers)

    def repository(self) -> str:
        """One that people may ask about and that has nothing yet."""
        return next(self.supply.repositories)

    def noon(self, days_ago: int) -> datetime:
        """Noon of a day; of today, a moment that is over."""
        now = datetime.now(self.zone)
        return now.replace(hour=11, minute=30) - timedelta(days=days_ago)

    # what came of it

    def settle(self) -> None:
        """Until all that was asked so far is done: work is on the queue before Slack is told."""
        eventually(lambda: not waiting_jobs(self.store), 60)

    def list_posts(self, channel: str) -> list[Json]:
        """The bot's messages in the channel, once nothing is left to do."""
        self.settle()
        return [message for message in self.world.slack.list_messages(channel) if "bot_id" in message]

    def list_thread_posts(self, channel: str, thread: str) -> list[Json]:
        """The bot's messages in a thread, once nothing is left to do."""
        self.settle()
        return [message for message in self.world.slack.list_replies(channel, thread) if "bot_id" in message]

    def list_whispers(self, person: Person) -> list[Json]:
        """What only this person sees, once nothing is left to do."""
        self.settle()
        return [shown for shown in self.world.slack.ephemerals if shown["user"] == person.user]

    def windows(self, title: str) -> list[Json]:
        """The windows of that title, as Slack shows them, once nothing is left to do."""
        self.settle()
        modals = [view for view in self.world.slack.views if view["type"] == "modal"]
        return [view for view in modals if view["title"]["text"] == title]

    def calls(self) -> tuple[int, int]:
        """How often GitHub and Claude were asked so far."""
        self.settle()
        return len(self.world.github.calls), len(self.world.claude.requests)

    def log(self) -> str:
        return self.log_file.read_text()

    # the process

    @property
    def port(self) -> str:
        return self.world.settings["PORT"]

    @property
    def wire(self) -> HttpTransport | SocketTransport:
        return SocketTransport(self.world.slack.socket) if self.transport == "socket" else self.http

    @property
    def http(self) -> HttpTransport:
        return HttpTransport(f"http://127.0.0.1:{self.port}/slack/events", SECRET)

    def get(self, path: str) -> int:
        """The status of a page; 0 if nobody listens."""
        return status_of(f"http://127.0.0.1:{self.port}{path}")

    def wait(self) -> None:
        eventually(lambda: self.process.poll() is not None or self.get("/readyz") == 200)
        assert self.process.poll() is None, self.log()


def status_of(url: str, token: str = "") -> int:
    """The status of a page; 0 if there was no answer."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=10) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code
    except (OSError, HTTPException):
        return 0


def old_button(action_id: str, value: str) -> Json:
    ts = f"{time.time():.6f}"
    return {
        "type": "message",
        "ts": ts,
        "text": "old",
        "blocks": [actions(button(action_id=action_id, value=value))],
    }


def labels(message: Json) -> list[str]:
    row = message["blocks"][-1]
    assert row["type"] == "actions"
    return [str((element.get("text") or element.get("placeholder"))["text"]) for element in row["elements"]]


@contextmanager
def slow_claude(bot: Bot, seconds: float) -> Iterator[None]:
    bot.world.claude.latency = seconds
    try:
        yield
    finally:
        bot.settle()
        bot.world.claude.latency = 0.0


@contextmanager
def failing_github(bot: Bot, fault: FailureKind) -> Iterator[None]:
    """GitHub's facts can't be had in the block."""
    bot.world.github.fail_next(fault, 12, "/graphql")
    try:
        yield
    finally:
        bot.settle()
        # nobody may GET this, so a 404 says that no failure is left
        eventually(lambda: status_of(f"{bot.world.github.url}/graphql", bot.world.github.token) == 404)


@contextmanager
def claude_that(bot: Bot, answers: Callable[[dict[str, Any]], Step]) -> Iterator[None]:
    usual, bot.world.claude.respond = bot.world.claude.respond, answers
    try:
        yield
    finally:
        bot.settle()
        bot.world.claude.respond = usual
