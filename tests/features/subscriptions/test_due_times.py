import datetime as dt
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.dates import Span, parse_zone
from bot.features.subscriptions.rules import Timing
from impact.text.strings import parse_date
from tests.dates.wall_clocks import Walls
from tests.helpers.tables import check_rows

DAY, SECOND = timedelta(days=1), timedelta(seconds=1)

zones = st.sampled_from(sorted(available_timezones()))
dates = st.dates(dt.date(1971, 1, 1), dt.date(2036, 12, 31))
times = st.times().map(lambda time: time.replace(microsecond=0))
LOST = ("Pacific/Apia", dt.date(2011, 12, 29), dt.time(9), False)
GONE_BY_MIDNIGHT = ("America/Nuuk", dt.date(2025, 3, 28), dt.time(23, 30), False)
OVER_MIDNIGHT = ("America/St_Johns", dt.date(2006, 10, 27), dt.time(23, 30), False)


def timing(zone: str, at: str, *, weekdays: bool = False) -> Timing:
    return Timing(dt.time.fromisoformat(at), parse_zone(zone), weekdays)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def span(text: str, zone: ZoneInfo) -> Span:
    first, _, last = text.partition("..")
    return Span(parse_date(first), parse_date(last or first), zone)


def dues_of(plan: Timing, date: dt.date, count: int) -> list[datetime]:
    """The first instants of posts from a date on."""
    dues = [plan.find_first_from(date)]
    while len(dues) < count:
        dues.append(plan.find_next_after(dues[-1]))
    return dues


@check_rows(
    {
        "utc": ("UTC", "2025-02-28", "09:00", "2025-02-28T09:00"),
        "quarter-hours": ("Asia/Kathmandu", "2025-02-28", "09:00", "2025-02-28T03:15"),
        "seconds": ("America/Los_Angeles", "2025-07-01", "23:59:30", "2025-07-02T06:59:30"),
        "gap": ("America/Los_Angeles", "2025-03-09", "02:30", "2025-03-09T10:30"),
        "gap-begins": ("America/Los_Angeles", "2025-03-09", "02:00", "2025-03-09T10:00"),
        "gap-is-over": ("America/Los_Angeles", "2025-03-09", "03:00", "2025-03-09T10:00"),
        "twice": ("America/Los_Angeles", "2025-11-02", "01:30", "2025-11-02T08:30"),
        "no-more-twice": ("America/Los_Angeles", "2025-11-02", "02:00", "2025-11-02T10:00"),
        "gap-in-the-east": ("Europe/Berlin", "2025-03-30", "02:30", "2025-03-30T01:30"),
        "twice-in-the-east": ("Europe/Berlin", "2025-10-26", "02:30", "2025-10-26T00:30"),
        "gap-of-half-an-hour": ("Australia/Lord_Howe", "2025-10-05", "02:15", "2025-10-04T15:45"),
        "twice-half-an-hour": ("Australia/Lord_Howe", "2025-04-06", "01:45", "2025-04-05T14:45"),
        "gap-off-the-hour": ("Pacific/Chatham", "2025-09-28", "03:00", "2025-09-27T14:15"),
        "gap-at-midnight": ("America/Havana", "2025-03-09", "00:00", "2025-03-09T05:00"),
        "midnight-twice": ("America/Havana", "2025-11-02", "00:00", "2025-11-02T04:00"),
        "gap-after-midnight": ("America/Santiago", "2025-09-07", "00:30", "2025-09-07T04:30"),
        "twice-before-midnight": ("America/Santiago", "2025-04-05", "23:30", "2025-04-06T02:30"),
        "gap-on-a-friday": ("Africa/Cairo", "2025-04-25", "00:00", "2025-04-24T22:00"),
        "last-minute-twice": ("Africa/Cairo", "2025-10-30", "23:59", "2025-10-30T20:59"),
        "gap-before-midnight": ("America/Nuuk", "2025-03-29", "23:30", "2025-03-30T01:30"),
        "back-over-midnight": ("America/St_Johns", "2006-10-29", "00:00", "2006-10-29T02:30"),
        "before-midnight-twice": ("America/St_Johns", "2006-10-28", "23:30", "2006-10-29T02:00"),
    }
)
def test_a_local_time_is_read_as_the_calendars_standard_reads_it(zone: str, date: str, at: str, due: str) -> None:
    plan = timing(zone, at)
    assert plan.get_due_time(parse_date(date)) == utc(due)
    assert plan.is_due(utc(due))
    assert plan.find_first_from(parse_date(date)) == utc(due)


@pytest.mark.parametrize(
    ("zone", "at", "due", "days"),
    [
        pytest.param("America/Los_Angeles", "09:00", "2025-03-04T17:00", "2025-03-03", id="the-day-before"),
        pytest.param("America/Los_Angeles", "02:30", "2025-03-09T10:30", "2025-03-08", id="gap"),
        pytest.param("America/Los_Angeles", "01:30", "2025-11-02T08:30", "2025-11-01", id="twice"),
        pytest.param("America/Havana", "00:00", "2025-03-09T05:00", "2025-03-08", id="gap-at-midnight"),
        pytest.param("America/Havana", "00:00", "2025-11-02T04:00", "2025-11-01", id="midnight-twice"),
        pytest.param("America/Nuuk", "23:30", "2025-03-30T01:30", "2025-03-28", id="gap-before-midnight"),
        pytest.param("America/Nuuk", "23:30", "2025-03-31T00:30", "2025-03-29", id="after-that"),
        pytest.param("Pacific/Apia", "09:00", "2011-12-29T19:00", "2011-12-28", id="before-the-lost-day"),
        pytest.param("Pacific/Apia", "09:00", "2011-12-30T19:00", "2011-12-29..2011-12-30", id="after-it"),
        pytest.param("Pacific/Apia", "09:00", "2011-12-31T19:00", "2011-12-31", id="a-day-later"),
    ],
)
def test_a_digest_tells_of_the_days_since_the_one_before(zone: str, at: str, due: str, days: str) -> None:
    plan = timing(zone, at)
    assert plan.get_covered_days(utc(due)) == span(days, plan.zone)


@pytest.mark.parametrize(
    ("due", "days"),
    [
        pytest.param("2025-03-07T17:00", "2025-03-06", id="friday"),
        pytest.param("2025-03-10T16:00", "2025-03-07..2025-03-09", id="monday"),
        pytest.param("2025-03-11T16:00", "2025-03-10", id="tuesday"),
    ],
)
def test_mondays_digest_of_weekdays_tells_of_the_weekend_too(due: str, days: str) -> None:
    plan = timing("America/Los_Angeles", "09:00", weekdays=True)
    assert plan.is_due(utc(due))
    assert plan.get_covered_days(utc(due)) == span(days, plan.zone)


@check_rows(
    {
        "the week before": ("America/Los_Angeles", "2025-03-03T17:00", "2025-02-24..2025-03-02"),
        "clocks go forward": ("America/Los_Angeles", "2025-03-10T16:00", "2025-03-03..2025-03-09"),
        "clocks go back": ("Europe/Berlin", "2025-10-27T08:00", "2025-10-20..2025-10-26"),
        "a lost day": ("Pacific/Apia", "2012-01-01T19:00", "2011-12-26..2012-01-01"),
    }
)
def test_a_weekly_digest_tells_of_the_last_seven_days(zone: str, due: str, days: str) -> None:
    plan = Timing(dt.time(9), parse_zone(zone), weekday=0)
    assert plan.is_due(utc(due))
    assert plan.get_covered_days(utc(due)) == span(days, plan.zone)
    week = [utc(due) + DAY * ahead for ahead in range(1, 7)]
    assert [each for each in week if plan.is_due(each)] == []
    assert (plan.find_next_after(utc(due)) - utc(due)).days in (6, 7)


@given(zones, st.dates(dt.date(2012, 6, 1), dt.date(2036, 12, 31)), times, st.integers(0, 6))
@pytest.mark.slow
def test_weekly_digests_follow_each_other_without_a_gap(
    zone: str, date: dt.date, at: dt.time, weekday: int
) -> None:
    plan = Timing(at, parse_zone(zone), weekday=weekday)
    first, second = dues_of(plan, date, 2)
    assert plan.get_covered_days(second).first == plan.get_covered_days(first).last + DAY
    assert len(plan.get_covered_days(second)) == 7


@pytest.mark.parametrize("day", ["2025-03-08", "2025-03-09"])
def test_nothing_is_due_on_a_weekend_of_who_wants_weekdays(day: str) -> None:
    plan = timing("America/Los_Angeles", "09:00", weekdays=True)
    assert not plan.is_due(plan.get_due_time(parse_date(day)))
    assert plan.find_first_from(parse_date(day)) == utc("2025-03-10T16:00")
    assert plan.find_next_after(plan.get_due_time(parse_date(day))) == utc("2025-03-10T16:00")
    assert plan.find_last_before(plan.get_due_time(parse_date(day))) == utc("2025-03-07T17:00")


def test_a_weekend_is_one_on_the_clocks_of_the_zone() -> None:
    """Monday morning in Apia is still Sunday in UTC."""
    plan = timing("Pacific/Apia", "09:00", weekdays=True)
    monday = utc("2025-03-09T20:00")
    assert plan.is_due(monday)
    assert plan.get_covered_days(monday) == span("2025-03-07..2025-03-09", plan.zone)
    assert plan.find_next_after(utc("2025-03-07T00:00")) == monday


def test_a_date_that_a_zone_left_out_has_no_digest() -> None:
    plan = timing("Pacific/Apia", "09:00")
    assert plan.find_next_after(utc("2011-12-29T19:00")) == utc("2011-12-30T19:00")
    assert plan.find_first_from(parse_date("2011-12-30")) == utc("2011-12-30T19:00")
    assert plan.find_last_before(utc("2011-12-30T19:00")) == utc("2011-12-29T19:00")


@pytest.mark.parametrize(
    "instant",
    [
        pytest.param("2025-03-04T16:59:59", id="a-second-early"),
        pytest.param("2025-03-04T17:00:01", id="a-second-late"),
        pytest.param("2025-03-09T17:00", id="as-if-the-clocks-had-not-changed"),
    ],
)
def test_at_other_instants_nothing_is_due(instant: str) -> None:
    assert not timing("America/Los_Angeles", "09:00").is_due(utc(instant))


def test_the_second_time_that_a_time_comes_nothing_is_due() -> None:
    plan = timing("America/Los_Angeles", "01:30")
    assert not plan.is_due(utc("2025-11-02T09:30"))
    assert plan.find_next_after(utc("2025-11-02T08:30")) == utc("2025-11-03T09:30")


def test_the_next_is_after_and_the_last_before_and_the_first_may_be_now() -> None:
    plan, due = timing("Europe/Berlin", "09:00"), utc("2025-07-01T07:00")
    assert [plan.find_next_after(due - SECOND), plan.find_next_after(due)] == [due, due + DAY]
    assert [plan.find_last_before(due + SECOND), plan.find_last_before(due)] == [due, due - DAY]
    assert plan.find_first_from(parse_date("2025-07-01")) == due


def test_a_time_is_one_of_whole_seconds_as_the_agenda_keeps_them() -> None:
    plan = Timing(dt.time(9, 0, 0, 500_000), parse_zone("UTC"))
    assert plan.is_due(utc("2025-07-01T09:00"))


@example(*LOST)
@example("Pacific/Kwajalein", dt.date(1993, 8, 20), dt.time(0, 0), True)
@example(*GONE_BY_MIDNIGHT)
@example(*OVER_MIDNIGHT)
@given(zones, dates, times, st.booleans())
@pytest.mark.slow
def test_digests_are_due_when_the_clocks_on_the_walls_show_it(
    zone: str, date: dt.date, at: dt.time, weekdays: bool
) -> None:
    plan = Timing(at, parse_zone(zone), weekdays)
    walls = Walls(plan.zone, date, date + 9 * DAY)
    days = [date + n * DAY for n in range(10)]
    due_days = [day for day in days if not weekdays or day.weekday() < 5]
    shown = [due for day in due_days if (due := walls.due(day, at))]
    assert dues_of(plan, date, len(shown)) == shown


@example(*LOST)
@example("Pacific/Kwajalein", dt.date(1993, 8, 20), dt.time(0, 0), True)
@example(*GONE_BY_MIDNIGHT)
@example(*OVER_MIDNIGHT)
@given(zones, dates, times, st.booleans())
def test_digests_that_follow_each_other_tell_of_each_day_once(
    zone: str, date: dt.date, at: dt.time, weekdays: bool
) -> None:
    plan = Timing(at, parse_zone(zone), weekdays)
    dues = dues_of(plan, date, 9)
    assert all(before < after for before, after in pairwise(dues))
    assert all(plan.is_due(due) for due in dues)
    assert [plan.find_last_before(due) for due in dues[1:]] == dues[:-1]
    spans = [plan.get_covered_days(due) for due in dues]
    assert all(before.last + DAY == after.first for before, after in pairwise(spans))
    assert all(len(each) >= 1 for each in spans)
    walls = Walls(plan.zone, date - 4 * DAY, date + 20 * DAY)
    assert all(walls.end(each.last) <= due for each, due in zip(spans, dues, strict=True))


@given(zones, dates, times, st.booleans(), st.integers(0, 86_399))
def test_between_two_digests_the_next_is_the_second_and_the_last_the_first(
    zone: str, date: dt.date, at: dt.time, weekdays: bool, seconds: int
) -> None:
    plan = Timing(at, parse_zone(zone), weekdays)
    first = plan.find_first_from(date)
    second = plan.find_next_after(first)
    between = first + SECOND + (second - first - 2 * SECOND) * (seconds / 86_399)
    assert plan.find_next_after(between) == second
    assert plan.find_last_before(between) == first
    assert not plan.is_due(between)
