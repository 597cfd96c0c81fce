"""Feeds on request: read once in some minutes, by one request at a time, and since a commit or a day."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest

from bot.domain.archive.models import RemovalDeadline
from bot.domain.errors import StoreUnavailable, UsageError
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.domain.pull_requests.path_classes import get_default_classes
from bot.domain.time.day import LocalDay
from bot.services.archive.contract_selection import render_contract_changes
from bot.services.archive.day_reader import ArchiveReader, KeptMerges
from bot.services.archive.feeds import FEED_CONTRACT_DAYS, FeedsBusy, FeedService
from tests.helpers.builders import REPOSITORY, pull
from tests.helpers.data.archive import DATE, END, HEADING, day, days, deadline, merge


class History:
    """One merge on ``DATE``; it counts how often it is read, and waits while it is held."""

    def __init__(self) -> None:
        self.reads = 0
        self.error: StoreUnavailable | None = None
        self.has_begun, self.may_go_on = threading.Event(), threading.Event()
        self.may_go_on.set()

    def record_merges(self, pulls: object) -> None:
        raise NotImplementedError

    def read_merges(self, repository: Repository, since: object, until: object) -> Sequence[PullRequest]:
        self.reads += 1
        self.has_begun.set()
        assert self.may_go_on.wait(10)
        if self.error:
            raise self.error
        return [pull(1, merged_at=END - timedelta(hours=1))]


class Clock:
    """The time, which a test moves."""

    def __init__(self) -> None:
        self.now = END + timedelta(hours=3)


def make_service(history: History, clock: Clock) -> FeedService:
    reader = ArchiveReader(KeptMerges(lambda: history, lambda _: None, lambda _: None, get_default_classes))

    def today(zone: ZoneInfo | None = None) -> LocalDay:
        return LocalDay(clock.now.date(), zone or ZoneInfo("UTC"))

    def list_deadlines(_: Repository) -> tuple[RemovalDeadline, ...]:
        return (deadline(),)

    return FeedService(REPOSITORY, HEADING, reader, list_deadlines, today, lambda: clock.now)


def test_all_feeds_are_made_of_one_reading_for_some_minutes() -> None:
    history, clock = History(), Clock()
    service = make_service(history, clock)
    assert b"Change number 1" in service.make_atom()
    assert b'"number":1' in service.make_contract_changes("")
    assert b"--old" in service.make_calendar()
    assert history.reads == 1
    clock.now += timedelta(minutes=6)
    service.make_atom()
    assert history.reads == 2


def test_a_request_beside_another_gets_what_was_read_before_or_is_sent_away() -> None:
    history, clock = History(), Clock()
    service = make_service(history, clock)
    history.may_go_on.clear()
    first = threading.Thread(target=service.make_atom)
    first.start()
    assert history.has_begun.wait(10)
    with pytest.raises(FeedsBusy):
        service.make_calendar()
    history.may_go_on.set()
    first.join(10)
    history.has_begun.clear()
    history.may_go_on.clear()
    clock.now += timedelta(minutes=6)
    second = threading.Thread(target=service.make_atom)
    second.start()
    assert history.has_begun.wait(10)
    assert b"--old" in service.make_calendar()
    history.may_go_on.set()
    second.join(10)


def test_a_store_that_is_away_is_asked_again() -> None:
    history = History()
    service = make_service(history, Clock())
    history.error = StoreUnavailable("away")
    with pytest.raises(StoreUnavailable):
        service.make_atom()
    history.error = None
    assert b"Change number 1" in service.make_atom()


def test_today_and_what_is_older_than_a_month_are_in_no_feed() -> None:
    history, clock = History(), Clock()
    clock.now = END - timedelta(hours=2)
    assert b"Change" not in make_service(history, clock).make_atom()
    clock.now = END + timedelta(days=FEED_CONTRACT_DAYS + 1)
    assert json.loads(make_service(history, clock).make_contract_changes(""))["merges"] == []


def select(since: str) -> list[int]:
    return [each["number"] for each in json.loads(render_contract_changes(days(2), HEADING, since))["merges"]]


@pytest.mark.parametrize(
    ("since", "numbers"),
    [
        ("", [1, 2, 3, 4]),
        (f"{2:040x}", [3, 4]),
        (f"{4:040X}", []),
        (str(DATE), [3, 4]),
        (str(DATE - timedelta(days=90)), [1, 2, 3, 4]),
        (str(DATE + timedelta(days=1)), []),
    ],
)
def test_changes_are_those_after_a_commit_or_from_a_day_on(since: str, numbers: list[int]) -> None:
    assert select(since) == numbers


@pytest.mark.parametrize(
    "since",
    [f"{9:040x}", "0" * 12, "00", "x", "2026-13-01", "../../etc", "0" * 5_000, "2026-02-28\n", "٢٠٢٦-٠٢-٢٨"],
    ids=repr,
)
def test_another_text_gets_a_sentence(since: str) -> None:
    with pytest.raises(UsageError) as raised:
        select(since)
    assert len(str(raised.value)) < 200


def test_merges_are_in_the_order_in_which_they_were_merged() -> None:
    late, early = merge(1, merged_at=END - timedelta(hours=1)), merge(2, merged_at=END - timedelta(hours=2))
    fields = json.loads(render_contract_changes([day(late, early)], HEADING))
    assert [each["number"] for each in fields["merges"]] == [2, 1]
