"""Whoever asks hears within the promised time what became of it, whatever GitHub, Claude or Slack do."""

import datetime as dt
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from redis import Redis

from bot.app import App, open_app, prepare_worker
from bot.dates import parse_zone
from bot.features.digest.service import answer_overview
from bot.features.merges.requests import DigestRequest
from bot.features.questions.rules import Question
from bot.features.questions.service import enqueue_question
from bot.features.risks.service import list_risks
from bot.features.subscriptions.rules import Subscription, Timing
from bot.features.subscriptions.schedule import deliver_digest
from bot.features.summaries.service import answer_summaries
from bot.jobs.queues import DramatiqJobQueue, JobTimeLimits
from bot.platform import deadlines
from bot.platform.deadlines import ShutdownSignal
from bot.platform.slack.answers import ResponseTimes
from bot.platform.slack.requests import Audience, SlackRequest
from bot.platform.store.due_queue import NextDigest
from bot.settings import load_settings
from handlers.digest import answer_digest
from impact.repository import Repository
from tests.emulators.drip import Drip
from tests.helpers.checks import eventually
from tests.helpers.doubles import slack_request
from tests.helpers.processes.jobs import enqueue, working
from tests.helpers.records import digest_store
from tests.helpers.subscriptions import StoredSubscriptions
from tests.helpers.world import CHANNEL, World, add_small_day, world

pytestmark = pytest.mark.slow

# seconds between two bytes; what jobs may take and askers are promised, shorter than those of a bot
INTERVAL = 0.2
TIMES = JobTimeLimits(quick=3.0, long=6.0)
PROMISES = ResponseTimes(
    first_response=3.5,
    started_notice=60.0,
    progress_notice=0.5,
    reply_reserve=2.0,
    apology_reserve=1.0,
    short_outage=0.5,
    question_time=2.5,
    display_reserve=1.0,
)
# seconds in which all is over with these limits, on a machine that has much else to do
SOON = 20.0


@dataclass
class Team:
    """Jobs at work, and what stands before the services."""

    world: World
    base: App
    services: App
    jobs: DramatiqJobQueue
    drips: dict[str, Drip]

    def make_request(self, key: str = "command:1.2.3") -> SlackRequest:
        return slack_request(key, response_url=self.world.slack.make_response_url(CHANNEL, "U0ASKER"))

    def slow(self, *names: str) -> None:
        for name in names:
            self.drips[name].interval = INTERVAL

    @property
    def whispers(self) -> list[str]:
        return [message["text"] for message in self.world.slack.ephemerals]

    def is_told(self, words: str) -> bool:
        return any(words in whisper for whisper in self.whispers)


@pytest.fixture
def team(store: Redis, store_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Team]:
    variables = {"github": "GITHUB_API_URL", "claude": "ANTHROPIC_BASE_URL", "slack": "SLACK_API_URL"}
    with ExitStack() as stack:
        there, ending = stack.enter_context(world(store_url)), ShutdownSignal()
        add_small_day(there.github)
        drips = {name: stack.enter_context(Drip(there.settings[variable])) for name, variable in variables.items()}
        own = {variables[name]: drip.url for name, drip in drips.items()}
        for name, value in {**there.settings, **own, "PRDIGEST_REPO": "octo/engine"}.items():
            monkeypatch.setenv(name, value)
        base = stack.enter_context(
            open_app(load_settings(), lambda: datetime.now(UTC), deadlines.sleep, response_times=PROMISES)
        )
        base.sources.open_sources()
        services = prepare_worker(base)
        jobs = stack.enter_context(closing(DramatiqJobQueue(store, base.keyspace, services, ending, TIMES)))
        stack.enter_context(working(jobs.make_workers(2)))
        stack.callback(ending.trigger)
        yield Team(there, base, services, jobs, drips)


def seconds_until(is_so: Callable[[], bool]) -> float:
    began = time.monotonic()
    eventually(is_so, SOON)
    return time.monotonic() - began


def test_who_asks_for_a_summary_hears_that_github_does_not_answer(team: Team) -> None:
    team.slow("github")
    enqueue(team.jobs, team.services, answer_summaries, team.make_request(), "101 102")
    assert seconds_until(lambda: len(team.whispers) == 2) < SOON / 2
    assert all("GitHub is not responding: try again" in whisper for whisper in team.whispers)


def test_a_list_of_risks_that_github_holds_up_ends_in_time(team: Team) -> None:
    team.drips["github"].match = "/files"
    team.slow("github")
    enqueue(team.jobs, team.services, list_risks, team.make_request(), "2026-02-28")
    assert seconds_until(lambda: bool(team.world.slack.list_messages(CHANNEL) or team.whispers)) < SOON / 2


def test_a_model_that_drips_leaves_a_summary_of_facts_in_time(team: Team) -> None:
    team.slow("claude")
    enqueue(team.jobs, team.services, answer_summaries, team.make_request(), "101")
    assert seconds_until(lambda: bool(team.world.slack.list_messages(CHANNEL))) < SOON / 2
    assert "did not answer in time" in str(team.world.slack.list_messages(CHANNEL)[0]["blocks"])


def test_who_asks_for_what_takes_long_hears_that_it_is_worked_on_and_then_what_failed(team: Team) -> None:
    def list_texts() -> list[str]:
        return [message["text"] for message in team.world.slack.list_messages(CHANNEL)]

    team.slow("github")
    days = DigestRequest.parse("2026-02-27..2026-02-28", team.services.repositories, team.services.get_today())
    answer_overview.send_to(team.jobs, team.make_request(), days, Audience.CHANNEL)
    assert seconds_until(lambda: bool(list_texts())) < SOON / 2
    assert "still working on it" in list_texts()[0]
    assert seconds_until(lambda: team.is_told("GitHub is not responding")) < SOON
    # it was where the answer would have been
    assert list_texts() == []


def test_who_waits_for_an_answer_that_slack_does_not_take_is_told_another_way(team: Team) -> None:
    team.drips["slack"].match = "chat.postMessage"
    team.slow("slack")
    enqueue(team.jobs, team.services, answer_summaries, team.make_request(), "101")
    assert seconds_until(lambda: team.is_told("Slack does not accept my answer right now")) < SOON / 2
    team.drips["slack"].heal()
    eventually(lambda: bool(team.world.slack.list_messages(CHANNEL)), SOON)
    assert len(team.whispers) == 1


def test_who_asks_in_a_thread_hears_what_went_wrong(team: Team) -> None:
    thread = team.world.slack.add_message(CHANNEL, "hello there")
    asked = Question(slack_request(f"mention:{CHANNEL}:{thread}", thread=thread), "what is new?", thread)
    team.slow("github", "claude")
    enqueue_question(team.services.tables, team.jobs, asked)
    assert seconds_until(lambda: bool(team.whispers or team.world.slack.list_replies(CHANNEL, thread))) < SOON / 2


def test_who_asks_for_a_digest_hears_what_failed(team: Team) -> None:
    team.slow("github")
    day = DigestRequest.parse("2026-02-28", team.services.repositories, team.services.get_today())
    answer_digest.send_to(team.jobs, team.make_request(), day)
    assert seconds_until(lambda: team.is_told("GitHub is not responding")) < SOON


def test_a_digest_of_the_schedule_ends_and_its_next_try_is_planned(team: Team) -> None:
    subscription = Subscription(
        CHANNEL, Repository("octo", "engine"), Timing(dt.time(9), parse_zone("UTC")), by="U0ASKER"
    )
    scheduling, due = team.services, datetime(2026, 3, 1, 9, tzinfo=UTC)
    name, key = subscription.id, scheduling.digest_records.find_digest(subscription.build_digest_spec(due)).key
    StoredSubscriptions(team.base.store).put(subscription)
    scheduling.due_queue.add(NextDigest(name), due)
    team.slow("github")
    deliver_digest.send_to(team.jobs, name, due)
    records = digest_store(team.base.store)
    assert seconds_until(lambda: records.load(key).retry_at is not None) < SOON
    assert "too slowly" in records.load(key).error
