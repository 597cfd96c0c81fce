from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from redis import Redis

from bot.doctor.checks import check_clock_skew, check_processes
from bot.features.questions.service import answer_questions
from bot.features.subscriptions.rules import Run, RunOutcome, Subscription, Timing
from bot.features.subscriptions.schedule import repair_digest
from bot.jobs.queues import LOST_JOBS, DramatiqJobQueue, send_private_notice
from bot.platform.dramatiq.broker import LossReason, LostJob
from bot.platform.store.connection import UNPREFIXED, RedisCache
from bot.platform.store.keys import LAST_TICK
from bot.platform.store.tables import Store
from bot.text import format_duration
from impact.repository import Repository
from tests.doctor.findings import NOW, format_findings, now
from tests.helpers.apps import make_app
from tests.helpers.doubles import slack_request
from tests.helpers.subscriptions import RunLog

SECOND = timedelta(seconds=1)
START = "Start `prdigest clock` or `prdigest run`."


def test_jobs_that_were_set_aside_are_listed_for_a_week(store: Redis) -> None:
    for number in range(7):
        job = LostJob(
            f"id {number}", "summary", LossReason.ENDLESS, NOW - number * 29 * 3_600 * SECOND, "U1", "C1", "abc"
        )
        Store(store).append(LOST_JOBS, job)
    Store(store).append(LOST_JOBS, LostJob("one more", "watch", LossReason.ENDLESS, NOW))
    lines = format_findings(check_processes(make_app(store, now=now), ()))
    job_lines = [line for line in lines if "Failed job" in line]
    assert len(job_lines) == 6
    assert job_lines[0].startswith("- Failed job: the job watch, ")
    assert "the job summary [abc]" in job_lines[1] + job_lines[2]
    assert ", asked by U1 in C1: it crashed three times" in job_lines[2]
    assert job_lines[5] == "- Failed job: and 2 more"


# --- the time


def test_clocks_that_agree_are_told_with_how_far_apart_they_are() -> None:
    assert format_findings(check_clock_skew({"Slack": SECOND, "GitHub": None, "the store": -60 * SECOND})) == [
        "+ Time of this machine against Slack: 1 s apart",
        "+ Time of this machine against the store: 60 s apart",
    ]


SLACK = "Set this machine's clock by NTP: the bot rejects Slack's signatures if it is five minutes off."
STORE = (
    "Set the clocks of this machine and of the store's machine by NTP: expiry and waiting times depend on both."
)
APART = [
    ("Slack", 61 * SECOND, f"61 s behind -> {SLACK}"),
    ("Slack", -7_300 * SECOND, f"2 h ahead -> {SLACK}"),
    ("GitHub", 150 * SECOND, f"2 min behind -> {SLACK}"),
    ("the store", 200_000 * SECOND, f"2 days behind -> {STORE}"),
]


@pytest.mark.parametrize(("whose", "ahead", "explanation"), APART)
def test_a_clock_that_is_wrong_is_a_failure(whose: str, ahead: timedelta, explanation: str) -> None:
    assert format_findings(check_clock_skew({whose: ahead})) == [
        f"! Time of this machine against {whose}: {explanation}"
    ]


def test_one_clock_of_the_world_outside_is_enough() -> None:
    assert len(format_findings(check_clock_skew({"Slack": SECOND, "GitHub": SECOND}))) == 1


def test_without_any_other_clock_nothing_is_known() -> None:
    assert format_findings(check_clock_skew({"Slack": None})) == [
        "- Time of this machine: not checked: no other clock to compare with"
    ]


DURATIONS = [(-5, "0 s"), (0.6, "1 s"), (119, "119 s"), (120, "2 min"), (7_199, "119 min"), (172_800, "2 days")]


@pytest.mark.parametrize(("seconds", "phrase"), DURATIONS)
def test_a_duration_is_told_as_people_say_it(seconds: float, phrase: str) -> None:
    assert format_duration(timedelta(seconds=seconds)) == phrase


# --- the clock process


def clock_line(store: Redis) -> str:
    return format_findings(check_processes(make_app(store, now=now), ()))[0]


TICKS = {
    "just now": (NOW.isoformat(), "+ Clock process: last ticked 0 s ago"),
    "three minutes ago": ((NOW - 180 * SECOND).isoformat(), "+ Clock process: last ticked 3 min ago"),
    "before that": ((NOW - 181 * SECOND).isoformat(), f"! Clock process: last ticked 3 min ago -> {START}"),
    "hours ago": ((NOW - 8_000 * SECOND).isoformat(), f"! Clock process: last ticked 2 h ago -> {START}"),
    "without a zone": ("2026-03-01T17:20:00", "+ Clock process: last ticked 0 s ago"),
    "nonsense": ("tick", f"! Clock process: not running in the last day -> {START}"),
}


@pytest.mark.parametrize(("tick", "expected_line"), TICKS.values(), ids=TICKS)
def test_when_a_clock_last_ticked_is_told(store: Redis, tick: str, expected_line: str) -> None:
    RedisCache(store).put(LAST_TICK.build_key(), tick, timedelta(days=1))
    assert clock_line(store) == expected_line


def test_before_the_first_start_nothing_is_wrong_with_processes(store: Redis) -> None:
    assert format_findings(check_processes(make_app(store, now=now), ())) == [
        "- Clock process: not running (never started)",
        "- Worker: not running (never started)",
        "+ Jobs: none waiting",
    ]


def beat_once(store: Redis) -> None:
    Fixture(store).beat("worker", NOW - timedelta(days=2))


def test_a_clock_that_has_stopped_is_a_failure(store: Redis) -> None:
    beat_once(store)
    assert clock_line(store) == f"! Clock process: not running in the last day -> {START}"


def subscription(**changes: Any) -> Subscription:
    timing = Timing(time(9, 0), ZoneInfo("UTC"))
    return replace(Subscription("C0DIGEST", Repository("octo", "engine"), timing, by="U0ADA"), **changes)


NEEDS = {
    "nobody": ((), False),
    "the settings": ((subscription(by=""),), False),
    "somebody who paused it": ((subscription(is_paused=True),), False),
    "somebody": ((subscription(by=""), subscription()), True),
}


@pytest.mark.parametrize(("subscriptions", "is_needed"), NEEDS.values(), ids=NEEDS)
def test_a_digest_by_cron_needs_no_clock_unless_somebody_subscribed(
    store: Redis, subscriptions: tuple[Subscription, ...], *, is_needed: bool
) -> None:
    RunLog(store).add_run(Run(NOW - timedelta(days=2), "digest", RunOutcome.POSTED))
    line = format_findings(check_processes(make_app(store, now=now), subscriptions))[0]
    never = "- Clock process: not running (never started)"
    assert line == (f"! Clock process: not running in the last day -> {START}" if is_needed else never)


# --- workers and jobs


class Fixture:
    """Dramatiq's heartbeats and queues as workers and web processes leave them."""

    def __init__(self, store: Redis) -> None:
        self.store = store

    def beat(self, name: str, at: datetime) -> None:
        self.store.zadd("dramatiq:__heartbeats__", {name: at.timestamp() * 1_000})

    def lines(self, meanwhile: Callable[[], None] = lambda: None) -> list[str]:
        return format_findings(check_processes(make_app(self.store, now=now, sleep=lambda _: meanwhile()), ()))[1:]


@pytest.fixture
def fixture(store: Redis) -> Fixture:
    return Fixture(store)


WORKER = "Start `prdigest worker` or `prdigest run`."


def test_a_worker_whose_heart_beats_lives_whatever_its_clock_says(fixture: Fixture) -> None:
    beats = iter(range(100))
    fixture.beat("worker", NOW - timedelta(hours=1))
    lines = fixture.lines(lambda: fixture.beat("worker", NOW - timedelta(hours=1) + next(beats) * SECOND))
    assert lines == ["+ Worker: running", "+ Jobs: none waiting"]


def test_without_any_heartbeat_there_never_was_one(fixture: Fixture) -> None:
    RedisCache(fixture.store).put(LAST_TICK.build_key(), NOW.isoformat(), timedelta(days=1))
    assert fixture.lines() == [f"! Worker: not running (never started) -> {WORKER}", "+ Jobs: none waiting"]


def test_a_worker_that_died_is_told_with_when(fixture: Fixture) -> None:
    fixture.beat("worker", NOW - timedelta(minutes=40))
    fixture.beat("another", NOW - timedelta(minutes=9))
    assert fixture.lines()[0] == f"! Worker: not running (last seen 9 min ago) -> {WORKER}"


def test_whoever_only_puts_jobs_on_a_queue_is_no_worker(fixture: Fixture) -> None:
    fixture.beat("web", NOW)
    enqueued = iter([True])

    def put_job() -> None:
        # a process that is new to the store, not one that goes on beating
        if next(enqueued, False):
            fixture.beat("another web", NOW)

    assert fixture.lines(put_job)[0] == f"! Worker: not running (last seen 0 s ago) -> {WORKER}"


def test_jobs_are_counted_on_every_queue_that_there_is(fixture: Fixture) -> None:
    with closing(DramatiqJobQueue(fixture.store, UNPREFIXED)) as jobs:
        send_private_notice.send_to(jobs, slack_request(), "")
        repair_digest.send_to(jobs, "")
        repair_digest.send_to(jobs, "")
        answer_questions.send_to(jobs, "")
    assert fixture.lines()[1] == (
        "! Jobs: 4 waiting (prdigest 1, prdigest-long 2, prdigest-questions 1) -> "
        "Start `prdigest worker` or `prdigest run` to run them."
    )


FURTHER = "Start more workers, or raise PRDIGEST_WORKER_THREADS."
COUNTS = [
    (1_000, "- Jobs: 1,000 waiting (prdigest 1,000)"),
    (1_001, f"! Jobs: 1,001 waiting (prdigest 1,001) -> {FURTHER}"),
]


@pytest.mark.parametrize(("count", "expected_line"), COUNTS)
def test_many_jobs_are_a_failure_also_where_a_worker_lives(
    fixture: Fixture, count: int, expected_line: str
) -> None:
    fixture.store.rpush("dramatiq:prdigest", *range(count))
    beats = iter(range(100))
    fixture.beat("worker", NOW)
    assert fixture.lines(lambda: fixture.beat("worker", NOW + next(beats) * SECOND))[1] == expected_line
