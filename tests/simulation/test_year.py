"""A year of many channels in 12 zones: each digest that was due is posted once, or told of as skipped.

Three clocks, two of them wrong, are restarted, down for hours and killed in the middle of ticks. Jobs are lost,
late and done twice. In the autumn nothing runs for two days. People pause, resume, change and remove what they
subscribed to.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import takewhile
from random import Random
from typing import cast

import pytest

from bot.dates import Span
from bot.features.digest.posts import PostedDigest
from bot.features.digest.rules import DigestSpec
from bot.features.subscriptions.incidents import REPORTS, IncidentKind
from bot.features.subscriptions.rules import Run, RunOutcome
from bot.features.subscriptions.tables import RUN_LOG
from tests.helpers.builders import REPOSITORY
from tests.simulation.year import ADMIN, AWAY, BACK, END, MINUTE, SKEWS, TEAM, WINDOW, Posted, Year
from tests.simulation.year_people import BY_HAND, CHANNELS, TIMES, Digest, People, Subscriber, nights, walls
from tests.simulation.year_store import QuickRedis

pytestmark = pytest.mark.slow

# a job that is lost is noticed after ten minutes; the worker that gets it then may take a quarter of an hour
LATEST = timedelta(minutes=45)


@dataclass(frozen=True)
class Told:
    people: Sequence[Subscriber]
    posted: dict[str, list[Posted]]
    reports: dict[str, list[str]]
    """The ids of the troubles that each message told of, by its key."""
    records: dict[str, PostedDigest]
    """Those of digests that had days to name that were never posted."""
    messages: list[str]
    runs: Sequence[Run]
    figures: dict[str, int]
    by_hand: Mapping[str, DigestSpec]
    """What people asked for by themselves, by its key."""

    @property
    def skipped(self) -> list[str]:
        ending = f"#{IncidentKind.SKIPPED}"
        told = [name for names in self.reports.values() for name in names]
        return [name.removesuffix(ending) for name in told if name.endswith(ending)]


@pytest.fixture(scope="module")
def year(store_url: str) -> Iterator[Told]:
    with QuickRedis(store_url) as client:
        client.flushall()
        random = Random(2025)  # noqa: S311 (chance that is the same each time)
        year = Year(client, random, nights())
        people = People(year, random)
        year.run()
        yield list_told(year, people, client)


def list_told(year: Year, people: People, client: QuickRedis) -> Told:
    posted: dict[str, list[Posted]] = defaultdict(list)
    for each in year.workers.posted:
        # the simulation goes on for a while, so that the last ones can be posted
        if each.due < END:
            posted[each.name].append(each)
    load, tables = year.parts.records.load, year.parts.people.tables
    names = [key for key in keys_of(client, "report:*") if key != "report:begun"]
    reports = {key: tables.get(REPORTS, key.removeprefix("report:")) for key in names}
    records = {key: load(key) for key in keys_of(client, "digest:*") if client.hexists(key, "skipped_days")}
    return Told(
        people.all,
        posted,
        {key: list(report.incidents) for key, report in reports.items() if report},
        records,
        [key for channel, _, key, _ in year.parts.messenger.messages if channel == ADMIN],
        tables.list_recent(RUN_LOG, 1_000),
        {
            "deaths": year.deaths,
            "starts": year.starts,
            "ticks": year.ticks,
            "jobs": year.jobs,
            "refused": year.workers.refused,
            "messages": len(year.parts.messenger.messages),
        },
        year.workers.by_hand,
    )


def keys_of(client: QuickRedis, pattern: str) -> list[str]:
    return [key.decode() for key in cast("list[bytes]", client.keys(pattern))]


def in_time(subscriber: Subscriber) -> list[Digest]:
    return [digest for digest in subscriber.digests if not digest.is_lost]


def days_of(span: Span) -> tuple[date, ...]:
    return tuple(day.date for day in span.days)


def list_lost_days(subscriber: Subscriber) -> tuple[date, ...]:
    """The days that were due while nothing ran, and too late after it."""
    return tuple(day for digest in subscriber.digests if digest.is_lost for day in digest.days)


def first_after_outage(subscriber: Subscriber) -> Digest | None:
    """None for who paused or left before it came."""
    lives = takewhile(lambda life: life.since < AWAY or life.kept, subscriber.lives)
    digests = (digest for life in lives for digest in life.digests())
    return next((digest for digest in digests if digest.due >= BACK - WINDOW), None)


def key_of(subscriber: Subscriber, days: Sequence[date], zone: str) -> str:
    span = Span(days[0], days[-1], walls(zone).zone)
    return DigestSpec(subscriber.channel, REPOSITORY, span, subscriber.view).build_key(TEAM)


def key_of_lost(subscriber: Subscriber) -> str:
    """Where what was lost together is recorded; nobody changes their zone meanwhile."""
    [zone] = {digest.zone for digest in subscriber.digests if digest.is_lost}
    return key_of(subscriber, list_lost_days(subscriber), zone)


def test_each_digest_that_was_due_is_posted_once_and_nothing_else(year: Told) -> None:
    due_days = {each.name: [digest.days for digest in in_time(each)] for each in year.people}
    posted_days = {each.name: [days_of(post.span) for post in year.posted[each.name]] for each in year.people}
    assert posted_days == due_days


def test_none_is_posted_twice_even_under_another_name(year: Told) -> None:
    keys = Counter(each.key for posts in year.posted.values() for each in posts)
    assert set(keys.values()) == {1}
    assert set(year.posted) == {each.name for each in year.people}


def test_each_is_posted_soon_after_its_time_and_no_earlier_than_the_fastest_clock_says(year: Told) -> None:
    late = [
        post.at - digest.possible
        for each in year.people
        for digest, post in zip(in_time(each), year.posted[each.name], strict=True)
    ]
    assert -max(SKEWS) <= min(late)
    assert max(late) <= LATEST
    assert sorted(late)[len(late) // 2] < 2 * MINUTE


def test_none_is_posted_before_its_last_day_is_over(year: Told) -> None:
    for posts in year.posted.values():
        for post in posts:
            assert walls(str(post.span.zone)).end(post.span.last) <= post.at


def test_each_day_is_told_of_once_or_said_to_be_skipped(year: Told) -> None:
    skipped = set(year.skipped)
    for each in year.people:
        told = [day for post in year.posted[each.name] for day in days_of(post.span)]
        unposted = list_lost_days(each)
        if unposted:
            assert key_of_lost(each) in skipped
        assert sorted([*told, *unposted]) == [day for digest in each.digests for day in digest.days]
        assert len({*told, *unposted}) == len(told) + len(unposted)


def test_what_is_wanted_leaves_no_day_out(year: Told) -> None:
    """No weekend either, where nothing is posted on them; and a change of the time or the zone loses none."""
    for each in year.people:
        told: list[date] = []
        for life in each.lives:
            told = told if life.kept else []
            told += [day for digest in life.digests() for day in digest.days]
            assert told == [told[0] + timedelta(n) for n in range(len(told))]


def test_each_skipped_digest_is_told_of_once(year: Told) -> None:
    lost_keys = [key_of_lost(each) for each in year.people if list_lost_days(each)]
    assert sorted(year.skipped) == sorted(lost_keys)
    assert len(lost_keys) > CHANNELS / 3
    # together: a service that is away troubles all channels at once
    telling = [key for key, names in year.reports.items() if any(name.endswith("#skipped") for name in names)]
    assert len(telling) <= 3
    assert sorted(year.messages) == sorted(year.reports)


def test_each_skipped_digest_is_in_the_journal_at_most_once(year: Told) -> None:
    """A clock that is killed between two calls may leave it out of the journal, never out of the report."""
    noted = Counter(run.key for run in year.runs if run.outcome is RunOutcome.SKIPPED)
    assert set(noted.values()) == {1}
    assert set(noted) <= set(year.skipped)
    assert len(noted) >= len(year.skipped) - 3


def test_the_next_digest_names_what_was_skipped(year: Told) -> None:
    skipped_days: dict[str, str] = {}
    for each in year.people:
        unposted, after = list_lost_days(each), first_after_outage(each)
        if unposted and after:
            first, last = str(unposted[0]), str(unposted[-1])
            skipped_days[key_of(each, after.days, after.zone)] = first if first == last else f"{first}..{last}"
    assert {key: record.skipped_days for key, record in year.records.items() if record.is_posted} == skipped_days


def test_what_people_ask_for_by_hand_in_other_zones_is_posted_beside_it(year: Told) -> None:
    scheduled = {post.key for posts in year.posted.values() for post in posts}
    assert scheduled.isdisjoint(year.by_hand)
    # the same dates as digests that were due, which once took their place
    dates = {(edition.channel, days_of(edition.span)) for edition in year.by_hand.values()}
    due = {(each.channel, digest.days) for each in year.people for digest in in_time(each)}
    assert len(dates & due) > BY_HAND / 2


def test_the_year_was_a_hard_one(year: Told) -> None:
    assert len({each.channel for each in year.people}) == CHANNELS
    assert len(TIMES) == 12
    assert len({life.preferences.zone for each in year.people for life in each.lives}) == 12
    posted = sum(map(len, year.posted.values()))
    assert posted > 250 * CHANNELS
    assert year.figures["jobs"] > posted + 6 * CHANNELS
    assert year.figures["starts"] > 60
    assert year.figures["deaths"] > CHANNELS / 10
    assert year.figures["refused"] > CHANNELS / 2
    assert sum(len(each.lives) > 1 for each in year.people) > CHANNELS / 10
    assert sum(bool(each.lives[-1].until < END) for each in year.people) > CHANNELS / 40
    assert any(each.lives[0].preferences.weekdays for each in year.people if list_lost_days(each))
