"""Consecutive days: how people name them, and what they are called."""

from __future__ import annotations

import itertools
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.errors import UsageError
from bot.domain.time.date_range import Span, parse_day, parse_span
from bot.domain.time.day import LocalDay, get_today, get_yesterday, parse_date, parse_zone
from tests.domain.refusals import refusal
from tests.helpers.builders import DAY
from tests.helpers.checks import is_one_sentence

LONGEST = 31
ZONES = "UTC America/Los_Angeles Europe/Berlin Australia/Lord_Howe Pacific/Apia America/Sao_Paulo".split()

zone_names = st.sampled_from(ZONES)
dates = st.dates(date(2008, 1, 1), date(2030, 1, 1))
instants = st.datetimes(datetime(2008, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001


def span(text: str, zone: str = "America/Los_Angeles") -> Span:
    """The span as its own ``str`` would write it."""
    first, _, last = text.partition("..")
    return Span(parse_date(first), parse_date(last or first), parse_zone(zone))


def named(text: str, on: str = "2026-02-28", longest: int = LONGEST) -> Span:
    return parse_span(text, LocalDay(parse_date(on), DAY.zone), longest)


@pytest.mark.parametrize(
    ("text", "on", "expected"),
    [
        pytest.param("", "2026-02-28", "2026-02-27", id="nothing-is-yesterday"),
        pytest.param(" \n\t", "2026-02-28", "2026-02-27", id="blanks-are-nothing"),
        pytest.param("yesterday", "2026-03-01", "2026-02-28", id="yesterday-over-a-month-end"),
        pytest.param("yesterday", "2026-01-01", "2025-12-31", id="yesterday-over-a-year-end"),
        pytest.param("yesterday", "2024-03-01", "2024-02-29", id="yesterday-is-a-leap-day"),
        pytest.param("today", "2026-02-28", "2026-02-28", id="today"),
        pytest.param("  ToDay ", "2026-02-28", "2026-02-28", id="case-and-blanks-do-not-matter"),
        pytest.param("1d", "2026-02-28", "2026-02-28", id="one-day-is-today"),
        pytest.param("7d", "2026-02-28", "2026-02-22..2026-02-28", id="a-week"),
        pytest.param("7D", "2026-02-28", "2026-02-22..2026-02-28", id="a-week-in-capitals"),
        pytest.param("007d", "2026-02-28", "2026-02-22..2026-02-28", id="leading-zeros"),
        pytest.param("7d", "2026-03-03", "2026-02-25..2026-03-03", id="a-week-over-a-month-end"),
        pytest.param("7d", "2024-03-03", "2024-02-26..2024-03-03", id="a-week-over-a-leap-day"),
        pytest.param("7d", "2026-01-03", "2025-12-28..2026-01-03", id="a-week-over-a-year-end"),
        pytest.param("7d", "2026-03-10", "2026-03-04..2026-03-10", id="a-week-with-a-short-day"),
        pytest.param("7d", "2026-11-03", "2026-10-28..2026-11-03", id="a-week-with-a-long-day"),
        pytest.param("31d", "2026-03-31", "2026-03-01..2026-03-31", id="as-many-as-may-be"),
        pytest.param("2026-02-28", "2026-02-28", "2026-02-28", id="a-date-that-is-today"),
        pytest.param("1970-01-01", "2026-02-28", "1970-01-01", id="a-date-long-ago"),
        pytest.param("2026-02-24..2026-02-28", "2026-02-28", "2026-02-24..2026-02-28", id="a-range"),
        pytest.param("2026-02-24...2026-02-28", "2026-02-28", "2026-02-24..2026-02-28", id="three-dots"),
        pytest.param("2026-02-24…2026-02-28", "2026-02-28", "2026-02-24..2026-02-28", id="an-ellipsis"),
        pytest.param("2026-02-24 .. 2026-02-28", "2026-02-28", "2026-02-24..2026-02-28", id="blanks-around"),
        pytest.param("2026-02-28..2026-02-28", "2026-02-28", "2026-02-28", id="a-range-of-one"),
        pytest.param("7 days", "2026-02-28", "2026-02-22..2026-02-28", id="days-in-words"),
        pytest.param("last 3 Days", "2026-02-28", "2026-02-26..2026-02-28", id="the-last-days"),
        pytest.param("1 day", "2026-02-28", "2026-02-28", id="one-day"),
        pytest.param("1w", "2026-02-28", "2026-02-22..2026-02-28", id="a-week"),
        pytest.param("2 weeks", "2026-02-28", "2026-02-15..2026-02-28", id="two-weeks"),
        pytest.param("last week", "2026-02-28", "2026-02-16..2026-02-22", id="last-week-on-a-saturday"),
        pytest.param("Last Week", "2026-03-01", "2026-02-16..2026-02-22", id="last-week-on-a-sunday"),
        pytest.param("last week", "2026-03-02", "2026-02-23..2026-03-01", id="last-week-on-a-monday"),
        pytest.param("28 Feb", "2026-02-28", "2026-02-28", id="day-and-month"),
        pytest.param("Feb 28", "2026-02-27", "2025-02-28", id="the-last-such-day"),
        pytest.param("february 28th, 2025", "2026-02-28", "2025-02-28", id="an-american-date"),
        pytest.param("1 Sept. 2025", "2026-02-28", "2025-09-01", id="four-letters"),
        pytest.param("29 Feb", "2026-02-28", "2024-02-29", id="a-leap-day"),
        pytest.param("24 Feb..28 Feb", "2026-02-28", "2026-02-24..2026-02-28", id="a-range-of-named-days"),
        pytest.param("2025-12-31..2026-01-01", "2026-02-28", "2025-12-31..2026-01-01", id="over-a-year-end"),
        pytest.param("2026-01-29..2026-02-28", "2026-02-28", "2026-01-29..2026-02-28", id="a-range-of-31"),
    ],
)
def test_days_are_named(text: str, on: str, expected: str) -> None:
    assert named(text, on) == span(expected)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        pytest.param("tomorrow", "I don't recognize the date", id="a-word"),
        pytest.param("7", "I don't recognize the date", id="a-number"),
        pytest.param("d", "I don't recognize the date", id="no-number"),
        pytest.param("-7d", "I don't recognize the date", id="negative"),
        pytest.param("7 months", "I don't recognize the date", id="another-unit"),
        pytest.param("30 Feb", "I don't recognize the date", id="a-named-date-that-never-was"),
        pytest.param("28 Fe", "I don't recognize the date", id="two-letters-of-a-month"),
        pytest.param("28 Fob 2026", "I don't recognize the date", id="no-month"),
        pytest.param("1 March 2026", "2026-03-01 is in the future", id="a-named-day-to-come"),
        pytest.param("0w", "0d is not a day", id="no-weeks"),
        pytest.param("5w", "35 days are too many", id="too-many-weeks"),
        pytest.param("12345d", "I don't recognize the date", id="five-digits"),
        pytest.param("9" * 900 + "d", "I don't recognize the date", id="hundreds-of-digits"),
        pytest.param("²d", "I don't recognize the date", id="a-digit-that-is-no-number"),
        pytest.param("2026-02-29", "I don't recognize the date", id="a-date-that-never-was"),
        pytest.param("2026-02-28\n2026-02-27", "I don't recognize the date", id="two-lines"),
        pytest.param("2026-02-24 2026-02-28", "I don't recognize the date", id="two-dates"),
        pytest.param("today\0", "I don't recognize the date", id="a-control-character"),
        pytest.param("..", "I don't recognize the date", id="a-range-of-nothing"),
        pytest.param("2026-02-28..", "I don't recognize the date", id="open-at-its-end"),
        pytest.param("..2026-02-28", "I don't recognize the date", id="open-at-its-start"),
        pytest.param("7d..today", "is not a date", id="words-in-a-range"),
        pytest.param("2026-02-30..2026-03-01", "is not a date", id="a-range-from-no-date"),
        pytest.param("2026-02-24..2026-02-25..2026-02-26", "is not a date", id="a-range-of-three"),
        pytest.param("2026-02-24....2026-02-26", "is not a date", id="four-dots"),
        pytest.param("0d", "0d is not a day", id="no-days"),
        pytest.param("0000d", "0d is not a day", id="no-days-in-four-digits"),
        pytest.param("2026-02-28..2026-02-24", "ends before it starts", id="reversed"),
        pytest.param("9998-12-31..1970-01-01", "ends before it starts", id="reversed-far"),
        pytest.param("2026-03-01", "2026-03-01 is in the future", id="the-next-day"),
        pytest.param("9998-12-31", "in the future", id="the-last-day"),
        pytest.param("2026-02-28..2026-03-01", "2026-03-01 is in the future", id="a-range-into-the-next-day"),
        pytest.param("1970-01-01..9998-12-31", "in the future", id="all-days"),
        pytest.param("32d", "32 days are too many", id="a-day-too-many"),
        pytest.param("9999d", "9999 days are too many", id="thousands"),
        pytest.param("2026-01-28..2026-02-28", "32 days are too many", id="a-range-a-day-too-long"),
    ],
)
def test_what_names_no_days_to_look_at_is_refused_in_one_sentence(text: str, hint: str) -> None:
    with pytest.raises(UsageError, match=hint) as caught:
        named(text)
    assert is_one_sentence(str(caught.value))


@pytest.mark.parametrize(("longest", "taken"), [(7, True), (6, False)])
def test_as_many_days_as_the_caller_allows_are_taken(longest: int, taken: bool) -> None:
    assert (refusal(lambda text: named(text, longest=longest), "7d") == "") is taken


@pytest.mark.parametrize(
    ("now", "zone", "expected"),
    [
        pytest.param("2026-03-01T08:00", "America/Los_Angeles", "2026-03-01", id="midnight-itself"),
        pytest.param("2026-03-01T07:59", "America/Los_Angeles", "2026-02-28", id="a-minute-before-midnight"),
        pytest.param("2026-02-28T11:00", "Pacific/Auckland", "2026-03-01", id="already-tomorrow-there"),
        pytest.param("2026-03-08T09:59", "America/Los_Angeles", "2026-03-08", id="before-the-clocks-go-forward"),
        pytest.param("2026-03-09T06:59", "America/Los_Angeles", "2026-03-08", id="last-minute-of-the-short-day"),
        pytest.param("2026-03-09T07:00", "America/Los_Angeles", "2026-03-09", id="after-the-short-day"),
        pytest.param("2026-11-02T07:59", "America/Los_Angeles", "2026-11-01", id="last-minute-of-the-long-day"),
        pytest.param("2026-11-02T08:00", "America/Los_Angeles", "2026-11-02", id="after-the-long-day"),
        pytest.param("2026-10-24T22:00", "Europe/Berlin", "2026-10-25", id="berlin-long-day"),
        pytest.param("2018-11-04T02:59", "America/Sao_Paulo", "2018-11-03", id="before-a-midnight-that-is-not"),
        pytest.param("2018-11-04T03:00", "America/Sao_Paulo", "2018-11-04", id="at-a-midnight-that-is-not"),
        pytest.param("2011-12-30T10:00", "Pacific/Apia", "2011-12-31", id="the-day-after-the-lost-one"),
    ],
)
def test_today_is_the_date_on_the_clocks_of_the_zone(now: str, zone: str, expected: str) -> None:
    found = get_today(datetime.fromisoformat(now).replace(tzinfo=UTC), parse_zone(zone))
    assert found == LocalDay(parse_date(expected), parse_zone(zone))


@given(zone_names, instants)
def test_today_holds_the_instant_and_follows_yesterday(zone: str, now: datetime) -> None:
    found, before = get_today(now, parse_zone(zone)), get_yesterday(now, parse_zone(zone))
    assert now in found
    assert before.date + timedelta(days=1) == found.date


@pytest.mark.parametrize(
    ("text", "zone", "hours"),
    [
        pytest.param("2026-03-07..2026-03-09", "America/Los_Angeles", [24, 23, 24], id="los-angeles-short"),
        pytest.param("2026-10-31..2026-11-02", "America/Los_Angeles", [24, 25, 24], id="los-angeles-long"),
        pytest.param("2026-03-28..2026-03-30", "Europe/Berlin", [24, 23, 24], id="berlin-short"),
        pytest.param("2026-10-24..2026-10-26", "Europe/Berlin", [24, 25, 24], id="berlin-long"),
        pytest.param("2026-04-04..2026-04-05", "Australia/Lord_Howe", [24, 24.5], id="half-an-hour"),
        pytest.param("2011-12-29..2011-12-31", "Pacific/Apia", [24, 0, 24], id="a-day-that-never-was"),
    ],
)
def test_the_days_of_a_span_are_as_long_as_the_clocks_make_them(text: str, zone: str, hours: list[float]) -> None:
    assert [(day.end - day.start) / timedelta(hours=1) for day in span(text, zone).days] == hours


@pytest.mark.parametrize(
    ("text", "title"),
    [
        pytest.param("2026-02-28", "Saturday 28 February 2026", id="one-day"),
        pytest.param("2026-03-01", "Sunday 1 March 2026", id="one-digit"),
        pytest.param("2026-02-22..2026-02-28", "22 – 28 February 2026", id="one-month"),  # noqa: RUF001
        pytest.param("2026-02-24..2026-03-02", "24 February – 2 March 2026", id="two-months"),  # noqa: RUF001
        pytest.param("2025-12-30..2026-01-02", "30 December 2025 – 2 January 2026", id="two-years"),  # noqa: RUF001
        pytest.param("2025-02-01..2026-02-01", "1 February 2025 – 1 February 2026", id="same-day"),  # noqa: RUF001
    ],
)
def test_a_title_says_each_thing_once(text: str, title: str) -> None:
    assert span(text).title == title


@given(dates, st.integers(1, LONGEST), zone_names)
def test_the_days_of_a_span_follow_each_other_from_first_to_last(first: date, count: int, zone: str) -> None:
    made = Span(first, first + timedelta(days=count - 1), parse_zone(zone))
    days = made.days
    assert len(days) == len(made) == count
    assert (days[0].date, days[-1].date) == (made.first, made.last)
    assert all(one.end == other.start for one, other in itertools.pairwise(days))
    assert all(day.date in made for day in days)


@given(dates, st.integers(1, LONGEST))
def test_a_span_holds_neither_the_day_before_nor_the_day_after(first: date, count: int) -> None:
    made = Span(first, first + timedelta(days=count - 1), DAY.zone)
    assert made.first - timedelta(days=1) not in made
    assert made.last + timedelta(days=1) not in made


def test_a_span_from_the_day_after_its_last_is_empty() -> None:
    made = Span(date(2026, 3, 1), date(2026, 2, 28), DAY.zone)
    assert (len(made), made.days) == (0, ())


@given(dates, st.integers(1, LONGEST), st.integers(0, 1_000), zone_names)
def test_a_span_reads_back_as_the_same_on_any_later_day(first: date, count: int, later: int, zone: str) -> None:
    made = Span(first, first + timedelta(days=count - 1), parse_zone(zone))
    assert parse_span(str(made), LocalDay(made.last + timedelta(days=later), parse_zone(zone)), LONGEST) == made


@given(st.integers(1, LONGEST), dates)
def test_last_days_end_today_and_are_as_many_as_was_said(count: int, on: date) -> None:
    found = parse_span(f"{count}d", LocalDay(on, DAY.zone), LONGEST)
    assert (len(found), found.last) == (count, on)


pieces = st.sampled_from(
    [*"today yesterday 7d 0d 9999d 2026-02-24 2026-02-28 2026-02-30 .. ... … . - d 7".split(), " ", "\n", "\x00"]
)


@given(st.lists(pieces | st.text(st.characters(), max_size=6), max_size=8).map("".join), dates)
def test_any_text_is_days_up_to_today_or_a_usage_error(text: str, on: date) -> None:
    def read(typed: str) -> None:
        found = parse_span(typed, LocalDay(on, DAY.zone), LONGEST)
        assert 1 <= len(found) <= LONGEST
        assert found.last <= on

    said = refusal(read, text)
    assert "\n" not in said
    assert not said or said.endswith(".")


def test_a_day_is_named_as_in_slack_and_is_not_to_come() -> None:
    today, named = LocalDay(parse_date("2026-03-01"), parse_zone("UTC")), {}
    days = ("today", "Yesterday ", "2026-03-01", "2026-02-27")
    for text in (*days, "2026-03-02", "28.2.", "tomorrow", "7d", "2026-02-27..2026-02-28"):
        try:
            named[text] = str(parse_day(text, today).date)
        except UsageError as error:
            named[text] = str(error).partition(":")[0]
    assert named == {
        "today": "2026-03-01",
        "Yesterday ": "2026-02-28",
        "2026-03-01": "2026-03-01",
        "2026-02-27": "2026-02-27",
        "2026-03-02": "2026-03-02 is still to come",
        "28.2.": "'28.2.' is not a date",
        "tomorrow": "'tomorrow' is not a date",
        "7d": "'7d' is not a date",
        "2026-02-27..2026-02-28": "'2026-02-27..2026-02-28' is not a date",
    }
