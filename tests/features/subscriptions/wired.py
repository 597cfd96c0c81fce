"""A bot whose clock is moved by hand: real wiring and store, GitHub, Claude and Slack on the loopback."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta

import pytest
from redis import Redis

from bot.app import App, open_app, prepare_worker
from bot.features.digest.posts import amend_digest, check_repository
from bot.features.subscriptions.open_pulls import post_open_pulls
from bot.features.subscriptions.rules import RunOutcome
from bot.features.subscriptions.schedule import (
    deliver_digest,
    enqueue_due,
    plan_digests,
    repair_digest,
    watch_repository,
)
from bot.features.subscriptions.tables import RUN_LOG
from bot.platform.slack.client import PostThrottle
from bot.settings import load_settings
from tests.emulators.claude.server import ClaudeEmulator
from tests.emulators.github.store import changed_file, pull
from tests.emulators.slack.server import SlackEmulator
from tests.features.digest.posting import HOME
from tests.features.subscriptions.scheduled import ADMIN, DUE, MINUTE, Wall, list_message_lines, reports
from tests.helpers.builders import NOON
from tests.helpers.doubles import Outbox, Sleeps
from tests.helpers.worlds import REPO, ScriptedGitHub
from tests.platform.slack.accepted import strings


@dataclass
class Passing:
    """Seconds that pass where somebody waits for them, and then at once."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@dataclass
class Bot:
    base: App
    services: App
    wall: Wall
    github: ScriptedGitHub
    claude: ClaudeEmulator
    slack: SlackEmulator
    is_planned: bool = False
    # how often open pull requests were to be posted
    open_posts: int = 0

    def turn(self, pause: timedelta = MINUTE) -> int:
        """Time passes, the clock looks, and a worker does what is due; how many digests were repaired."""
        jobs, scheduling = Outbox(), self.services
        scheduling.jobs = jobs
        self.wall.passes(pause)
        if not self.is_planned:
            plan_digests(self.base)
            self.is_planned = True
        enqueue_due(self.base, jobs)
        for each in jobs.of(deliver_digest):
            deliver_digest.run(scheduling, each.name, each.due)
        for post in jobs.of(post_open_pulls):
            self.open_posts += 1
            post_open_pulls.run(scheduling, post.name, post.due)
        for repair in jobs.of(repair_digest):
            repair_digest.run(scheduling, repair.key)
        for watch in jobs.of(watch_repository):
            check_repository(scheduling, watch.repository)
        for amendment in jobs.of(amend_digest):
            amend_digest.run(scheduling, amendment.key, amendment.looked_at)
        return len(jobs.of(repair_digest))

    def run(self, minutes: int, pause: int = 5) -> list[float]:
        """The minutes after nine at which what has gaps was looked at again."""
        minutes_after: list[float] = []
        for _ in range(minutes // pause):
            mended = self.turn(pause * MINUTE)
            minutes_after += [(self.wall.now - DUE) / MINUTE] * mended
        return minutes_after

    @property
    def thread(self) -> str:
        [lead] = self.slack.list_messages(HOME)
        messages = [lead, *self.slack.list_replies(HOME, lead["ts"])]
        return "\n".join("".join(strings(message.get("blocks", []))) for message in messages)

    @property
    def told(self) -> list[str]:
        return [line for message in reports(self.slack, ADMIN) for line in list_message_lines(message)[1:]]

    @property
    def outcomes(self) -> list[RunOutcome]:
        return [run.outcome for run in reversed(self.services.tables.list_recent(RUN_LOG, 99))]

    def edits(self) -> int:
        return len([call for call in self.slack.list_calls_to("chat.update") if call["channel"] == HOME])


@pytest.fixture(name="bot")
def make_bot(
    claude: ClaudeEmulator, store: Redis, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Bot]]:
    """Makes a bot with these settings, whose day has three pull requests."""
    with ExitStack() as stack:
        wall = Wall()
        github = stack.enter_context(ScriptedGitHub())
        slack = stack.enter_context(SlackEmulator(now=wall.seconds))
        slack.add_channel(ADMIN, "admins")
        add(github, 3)

        def make(**more: str) -> Bot:
            settings = {
                "GITHUB_API_URL": github.url,
                "GITHUB_TOKEN": github.token,
                "ANTHROPIC_BASE_URL": claude.url,
                "ANTHROPIC_API_KEY": claude.api_key,
                "SLACK_API_URL": slack.url,
                "SLACK_BOT_TOKEN": slack.token,
                "REDIS_URL": store_url,
                "PRDIGEST_REPO": REPO,
                "PRDIGEST_CHANNEL": HOME,
                "PRDIGEST_ADMIN_CHANNEL": ADMIN,
                "PRDIGEST_TIMEZONE": "America/Los_Angeles",
                # the emulated model finds no bug, which would take pull requests off the list
                "PRDIGEST_REVIEW_BUDGET": "0",
                **more,
            }
            for name, value in settings.items():
                monkeypatch.setenv(name, value)
            passing = Passing()
            pace = PostThrottle(passing, passing.sleep)
            base = stack.enter_context(open_app(load_settings(), wall, Sleeps(), throttle=pace))
            return Bot(base, prepare_worker(base), wall, github, claude, slack)

        yield make


def add(github: ScriptedGitHub, count: int) -> None:
    for number in range(1, count + 1):
        github.add(REPO, pull(number, merged_at=NOON, files=(changed_file(f"engine/{number}.py"),)))
