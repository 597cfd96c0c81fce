"""The whole bot on the sample day, in this process: a local Slack over HTTP, a real store, a clock to move."""

import datetime as dt
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from threading import Event
from zoneinfo import ZoneInfo

from localslack.state.workspace import Json
from localslack.users.person import Delivery, Person
from localslack.users.transport import HttpTransport
from pydantic import SecretStr
from redis import Redis

from bot.app import App, open_app
from bot.clock import Clock
from bot.demo.sample.sources import SampleSources
from bot.jobs.queues import DramatiqJobQueue
from bot.platform import deadlines
from bot.platform.store.connection import connect_server
from bot.processes import limit_shutdown, run_processes
from bot.settings import Settings
from tests.emulators.slack.server import SlackEmulator
from tests.helpers.checks import eventually, waiting_jobs

ZONE = ZoneInfo("America/Los_Angeles")
_SECRET = "signing-secret"
_PATIENCE = 60.0


class _Given(Settings):
    """Settings that nothing in the environment changes: the fixture lives longer than a test's clean one."""

    reads_environment = False


@dataclass
class Hands:
    instant: datetime
    began: float = field(default_factory=time.monotonic)

    def now(self) -> datetime:
        return self.instant + timedelta(seconds=time.monotonic() - self.began)

    def go_to(self, hour: int, minute: int, *, days: int = 0) -> None:
        """Put it to a local time of 1 March 2026, or of a day after it; never back."""
        there = datetime(2026, 3, 1, hour, minute, tzinfo=ZONE) + timedelta(days=days)
        self.instant += max(there - self.now(), timedelta())


@dataclass
class SampleTeam:
    """A local Slack with the bot in it, whose GitHub and model are the sample day."""

    slack: SlackEmulator
    store: Redis
    hands: Hands
    base: App
    clock: Clock
    url: str

    @property
    def transport(self) -> HttpTransport:
        return HttpTransport(self.url, _SECRET)

    def person(self, user: str) -> Person:
        return Person(self.slack, self.transport, user, user.removeprefix("U0").lower())

    def settle(self) -> None:
        eventually(lambda: not waiting_jobs(self.store), _PATIENCE)

    def do(self, delivery: Delivery) -> None:
        assert delivery.ack.status == 200, delivery.ack
        self.settle()

    def tick(self, times: int = 2) -> None:
        for _ in range(times):
            self.clock.tick()
            self.settle()

    def list_posts(self, channel: str) -> list[Json]:
        return [message for message in self.slack.list_messages(channel) if "bot_id" in message]

    def replies(self, channel: str, thread: str) -> list[Json]:
        return [message for message in self.slack.list_replies(channel, thread) if "bot_id" in message]

    def list_whispers(self, user: str) -> list[Json]:
        """Return what only that person sees."""
        return [message for message in self.slack.ephemerals if message["user"] == user]

    def find(self, channel: str, beginning: str) -> Json:
        """Return the first message of the bot in a channel that begins so."""
        return next(message for message in self.list_posts(channel) if message["text"].startswith(beginning))


@contextmanager
def start_bot(
    store_url: str,
    state: Path,
    instant: datetime,
    prepare: Callable[[SlackEmulator, Redis], None],
    sleep: Callable[[float], None] = lambda seconds: None,
) -> Iterator[SampleTeam]:
    """Start the bot on a store; ``prepare`` fills Slack and the store before, ``sleep`` waits in answers."""
    hands = Hands(instant)
    sample, stopped = SampleSources(sleep), Event()
    with ExitStack() as parts:
        slack = parts.enter_context(SlackEmulator(now=lambda: hands.now().timestamp()))
        store = parts.enter_context(connect_server(store_url))
        prepare(slack, store)
        settings = _Given(
            slack_api_url=slack.url,
            slack_bot_token=SecretStr("xoxb-test"),
            slack_signing_secret=SecretStr(_SECRET),
            redis_url=store_url,
            port=0,
            prdigest_state_dir=state,
            prdigest_channel="C0DIGEST",
            prdigest_admin_channel="C0OPS",
            prdigest_user_limit=1_000,
            prdigest_repo=sample.repository,
            prdigest_name=sample.name,
            prdigest_timezone=sample.day.zone,
            prdigest_post_at=dt.time(9),
        )
        base = parts.enter_context(open_app(settings, hands.now, deadlines.sleep, sample))
        ending = parts.enter_context(limit_shutdown(stopped))
        port = parts.enter_context(run_processes(base, ending, "127.0.0.1"))
        jobs = DramatiqJobQueue(base.store, base.keyspace)
        parts.callback(jobs.close)
        team = SampleTeam(slack, store, hands, base, Clock(base, jobs), f"http://127.0.0.1:{port}/slack/events")
        team.settle()
        yield team
