import itertools
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.dates import LocalDay, Span, get_today, get_yesterday, parse_day, parse_span, parse_zone
from bot.errors import UsageError
from impact.text.strings import parse_date
from tests.helpers.builders import DAY
from tests.helpers.checks import is_one_sentence
from tests.helpers.refusals import refusal
from tests.helpers.tables import check_rows

LONGEST = 31
ZONES = "UTC America/Los_Angeles Europe/Berlin Australia/Lord_Howe Pacific/Apia America/Sao_Paulo".split()

zone_names = st.sampled_from(ZONES)
dates = st.dates(date(2008, 1, 1), date(2030, 1, 1))
instants = st.datetimes(datetime(2008, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001


def span(text: str, zone: str = "America/Los_Angeles") -> Span:
    """The span as its own ``str`` would write it."""
    first, _, last = text.partition("..")
    return Span(parse_date(first), parse_date(last or first), parse_zone(zone))


def parse_text(text: str, on: str = "2026-02-28", longest: int = LONGEST) -> Span:
    return parse_span(text, LocalDay(parse_date(on), DAY.zone), longest)


@check_rows(
    {
        "nothing-is-yesterday": ("", "2026-02-28", "2026-02-27"),
        "blanks-are-nothing": (" \n\t", "2026-02-28", "2026-02-27"),
        "yesterday-over-a-month-end": ("yesterday", "2026-03-01", "2026-02-28"),
        "yesterday-over-a-year-end": ("yesterday", "2026-01-01", "2025-12-31"),
        "yesterday-is-a-leap-day": ("yesterday", "2024-03-01", "2024-02-29"),
        "today": ("today", "2026-02-28", "2026-02-28"),
        "case-and-blanks-do-not-matter": ("  ToDay ", "2026-02-28", "2026-02-28"),
        "one-day-is-today": ("1d", "2026-02-28", "2026-02-28"),
        "a-week": ("7d", "2026-02-28", "2026-02-22..2026-02-28"),
        "a-week-in-capitals": ("7D", "2026-02-28", "2026-02-22..2026-02-28"),
        "leading-zeros": ("007d", "2026-02-28", "2026-02-22..2026-02-28"),
        "a-week-over-a-month-end": ("7d", "2026-03-03", "2026-02-25..2026-03-03"),
        "a-week-over-a-leap-day": ("7d", "2024-03-03", "2024-02-26..2024-03-03"),
        "a-week-over-a-year-end": ("7d", "2026-01-03", "2025-12-28..2026-01-03"),
        "a-week-with-a-short-day": ("7d", "2026-03-10", "2026-03-04..2026-03-10"),
        "a-week-with-a-long-day": ("7d", "2026-11-03", "2026-10-28..2026-11-03"),
        "as-many-as-may-be": ("31d", "2026-03-31", "2026-03-01..2026-03-31"),
        "a-date-that-is-today": ("2026-02-28", "2026-02-28", "2026-02-28"),
        "a-date-long-ago": ("1970-01-01", "2026-02-28", "1970-01-01"),
        "a-range": ("2026-02-24..2026-02-28", "2026-02-28", "2026-02-24..2026-02-28"),
        "three-dots": ("2026-02-24...2026-02-28", "2026-02-28", "2026-02-24..2026-02-28"),
        "an-ellipsis": ("2026-02-24…2026-02-28", "2026-02-28", "2026-02-24..2026-02-28"),
        "blanks-around": ("2026-02-24 .. 2026-02-28", "2026-02-28", "2026-02-24..2026-02-28"),
        "a-range-of-one": ("2026-02-28..2026-02-28", "2026-02-28", "2026-02-28"),
        "days-in-words": ("7 days", "2026-02-28", "2026-02-22..2026-02-28"),
        "the-last-days": ("last 3 Days", "2026-02-28", "2026-02-26..2026-02-28"),
        "one-day": ("1 day", "2026-02-28", "2026-02-28"),
        "one-week": ("1w", "2026-02-28", "2026-02-22..2026-02-28"),
        "two-weeks": ("2 weeks", "2026-02-28", "2026-02-15..2026-02-28"),
        "last-week-on-a-saturday": ("last week", "2026-02-28", "2026-02-16..2026-02-22"),
        "last-week-on-a-sunday": ("Last Week", "2026-03-01", "2026-02-16..2026-02-22"),
        "last-week-on-a-monday": ("last week", "2026-03-02", "2026-02-23..2026-03-01"),
        "day-and-month": ("28 Feb", "2026-02-28", "2026-02-28"),
        "the-last-such-day": ("Feb 28", "2026-02-27", "2025-02-28"),
        "an-american-date": ("february 28th, 2025", "2026-02-28", "2025-02-28"),
        "four-letters": ("1 Sept. 2025", "2026-02-28", "2025-09-01"),
        "a-leap-day": ("29 Feb", "2026-02-28", "2024-02-29"),
        "a-range-of-named-days": ("24 Feb..28 Feb", "2026-02-28", "2026-02-24..2026-02-28"),
        "over-a-year-end": ("2025-12-31..2026-01-01", "2026-02-28", "2025-12-31..2026-01-01"),
        "a-range-of-31": ("2026-01-29..2026-02-28", "2026-02-28", "2026-01-29..2026-02-28"),
    }
)
def test_days_are_named(text: str, on: str, expected: str) -> None:
    assert parse_text(text, on) == span(expected)


@check_rows(
    {
        "a-word": ("tomorrow", "I don't recognize the date"),
        "a-number": ("7", "I don't recognize the date"),
        "no-number": ("d", "I don't recognize the date"),
        "negative": ("-7d", "I don't recognize the date"),
        "another-unit": ("7 months", "I don't recognize the date"),
        "a-named-date-that-never-was": ("30 Feb", "I don't recognize the date"),
        "two-letters-of-a-month": ("28 Fe", "I don't recognize the date"),
        "no-month": ("28 Fob 2026", "I don't recognize the date"),
        "a-named-day-to-come": ("1 March 2026", "2026-03-01 is in the future"),
        "no-weeks": ("0w", "0d is not a day"),
        "too-many-weeks": ("5w", "35 days are too many"),
        "five-digits": ("12345d", "I don't recognize the date"),
        "hundreds-of-digits": ("9" * 900 + "d", "I don't recognize the date"),
        "a-digit-that-is-no-number": ("²d", "I don't recognize the date"),
        "a-date-that-never-was": ("2026-02-29", "I don't recognize the date"),
        "two-lines": ("2026-02-28\n2026-02-27", "I don't recognize the date"),
        "two-dates": ("2026-02-24 2026-02-28", "I don't recognize the date"),
        "a-control-character": ("today\0", "I don't recognize the date"),
        "a-range-of-nothing": ("..", "I don't recognize the date"),
        "open-at-its-end": ("2026-02-28..", "I don't recognize the date"),
        "open-at-its-start": ("..2026-02-28", "I don't recognize the date"),
        "words-in-a-range": ("7d..today", "is not a date"),
        "a-range-from-no-date": ("2026-02-30..2026-03-01", "is not a date"),
        "a-range-of-three": ("2026-02-24..2026-02-25..2026-02-26", "is not a date"),
        "four-dots": ("2026-02-24....2026-02-26", "is not a date"),
        "no-days": ("0d", "0d is not a day"),
        "no-days-in-four-digits": ("0000d", "0d is not a day"),
        "reversed": ("2026-02-28..2026-02-24", "ends before it starts"),
        "reversed-far": ("9998-12-31..1970-01-01", "ends before it starts"),
        "the-next-day": ("2026-03-01", "2026-03-01 is in the future"),
        "the-last-day": ("9998-12-31", "in the future"),
        "a-range-into-the-next-day": ("2026-02-28..2026-03-01", "2026-03-01 is in the future"),
        "all-days": ("1970-01-01..9998-12-31", "in the future"),
        "a-day-too-many": ("32d", "32 days are too many"),
        "thousands": ("9999d", "9999 days are too many"),
        "a-range-a-day-too-long": ("2026-01-28..2026-02-28", "32 days are too many"),
    }
)
def test_what_names_no_days_to_look_at_is_refused_in_one_sentence(text: str, hint: str) -> None:
    with pytest.raises(UsageError, match=hint) as caught:
        parse_text(text)
    assert is_one_sentence(str(caught.value))


@pytest.mark.parametrize(("longest", "is_accepted"), [(7, True), (6, False)])
def test_as_many_days_as_the_caller_allows_are_taken(longest: int, is_accepted: bool) -> None:
    assert (refusal(lambda text: parse_text(text, longest=longest), "7d") == "") is is_accepted


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
    today = get_today(datetime.fromisoformat(now).replace(tzinfo=UTC), parse_zone(zone))
    assert today == LocalDay(parse_date(expected), parse_zone(zone))


@given(zone_names, instants)
def test_today_holds_the_instant_and_follows_yesterday(zone: str, now: datetime) -> None:
    today, before = get_today(now, parse_zone(zone)), get_yesterday(now, parse_zone(zone))
    assert now in today
    assert before.date + timedelta(days=1) == today.date


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
    parsed_span = parse_span(f"{count}d", LocalDay(on, DAY.zone), LONGEST)
    assert (len(parsed_span), parsed_span.last) == (count, on)


pieces = st.sampled_from(
    [*"today yesterday 7d 0d 9999d 2026-02-24 2026-02-28 2026-02-30 .. ... … . - d 7".split(), " ", "\n", "\x00"]
)


@given(st.lists(pieces | st.text(st.characters(), max_size=6), max_size=8).map("".join), dates)
def test_any_text_is_days_up_to_today_or_a_usage_error(text: str, on: date) -> None:
    def read(typed: str) -> None:
        parsed_span = parse_span(typed, LocalDay(on, DAY.zone), LONGEST)
        assert 1 <= len(parsed_span) <= LONGEST
        assert parsed_span.last <= on

    message = refusal(read, text)
    assert "\n" not in message
    assert not message or message.endswith(".")


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
