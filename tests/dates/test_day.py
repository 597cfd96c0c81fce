from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.dates import LocalDay, get_yesterday, parse_zone
from impact.text.strings import parse_date
from tests.helpers.tables import check_rows

# zones with every kind of change since GitHub exists: none, an hour, half an hour, at midnight, a lost day
ZONES = (
    "UTC America/Los_Angeles Europe/Berlin Asia/Kolkata Asia/Kathmandu Australia/Lord_Howe Pacific/Apia"
    " America/Sao_Paulo America/Havana Asia/Beirut Africa/Cairo America/Santiago America/Nuuk Pacific/Chatham"
).split()
# the years of GitHub, in which the clocks of ZONES never went back over a midnight
FIRST, LAST = datetime(2008, 1, 1, tzinfo=UTC), datetime(2030, 1, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)

zone_names = st.sampled_from(ZONES)
dates = st.dates(FIRST.date(), LAST.date())
instants = st.datetimes(FIRST.replace(tzinfo=None), LAST.replace(tzinfo=None), timezones=st.just(UTC))


def day(text: str, zone: str) -> LocalDay:
    return LocalDay(parse_date(text), parse_zone(zone))


@check_rows(
    {
        "UTC": ("UTC", "2026-02-28", "2026-02-28T00:00", 24),
        "winter": ("America/Los_Angeles", "2026-02-28", "2026-02-28T08:00", 24),
        "summer": ("America/Los_Angeles", "2026-07-01", "2026-07-01T07:00", 24),
        "los-angeles-short": ("America/Los_Angeles", "2026-03-08", "2026-03-08T08:00", 23),
        "los-angeles-long": ("America/Los_Angeles", "2026-11-01", "2026-11-01T07:00", 25),
        "berlin-short": ("Europe/Berlin", "2026-03-29", "2026-03-28T23:00", 23),
        "berlin-long": ("Europe/Berlin", "2026-10-25", "2026-10-24T22:00", 25),
        "half-hour-longer": ("Australia/Lord_Howe", "2026-04-05", "2026-04-04T13:00", 24.5),
        "half-hour-shorter": ("Australia/Lord_Howe", "2026-10-04", "2026-10-03T13:30", 23.5),
        "quarter-hours": ("Asia/Kathmandu", "2026-02-28", "2026-02-27T18:15", 24),
        "midnight-does-not-exist": ("America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00", 23),
        "back-at-midnight": ("America/Sao_Paulo", "2018-02-17", "2018-02-17T02:00", 25),
        "midnight-twice": ("America/Havana", "2026-11-01", "2026-11-01T04:00", 25),
        "before-the-lost-day": ("Pacific/Apia", "2011-12-29", "2011-12-29T10:00", 24),
        "the-day-that-never-was": ("Pacific/Apia", "2011-12-30", "2011-12-30T10:00", 0),
        "after-the-lost-day": ("Pacific/Apia", "2011-12-31", "2011-12-30T10:00", 24),
    }
)
def test_a_day_starts_and_lasts_as_the_clocks_of_its_zone_say(
    zone: str, text: str, start: str, hours: float
) -> None:
    local_day = day(text, zone)
    assert local_day.start == datetime.fromisoformat(start).replace(tzinfo=UTC)
    assert local_day.end - local_day.start == timedelta(hours=hours)


@given(zone_names, dates)
def test_days_follow_each_other_without_gap_or_overlap(zone: str, when: date) -> None:
    first, second = (LocalDay(local_date, parse_zone(zone)) for local_date in (when, when + timedelta(days=1)))
    assert first.end == second.start
    assert first.start <= first.end


@given(zone_names, instants)
def test_an_instant_is_in_the_day_of_its_local_date_and_in_no_other(zone: str, instant: datetime) -> None:
    local = instant.astimezone(parse_zone(zone)).date()
    days = (local + timedelta(days=offset) for offset in (-2, -1, 0, 1, 2))
    assert [candidate for candidate in days if instant in LocalDay(candidate, parse_zone(zone))] == [local]


@given(zone_names, dates)
def test_both_ends_of_a_day_are_where_the_local_date_changes(zone: str, when: date) -> None:
    local_day = LocalDay(when, parse_zone(zone))
    if local_day.start == local_day.end:
        return  # the day that never was has no instants
    assert (
        local_day.to_local_time(local_day.start).date(),
        local_day.to_local_time(local_day.end - SECOND).date(),
    ) == (when, when)
    assert (
        local_day.to_local_time(local_day.start - SECOND).date()
        < when
        < local_day.to_local_time(local_day.end).date()
    )


@pytest.mark.parametrize(("offset", "inside"), [(-SECOND, False), (0 * SECOND, True)], ids=["before", "first"])
def test_a_day_holds_its_first_instant_and_not_its_end(offset: timedelta, inside: bool) -> None:
    local_day = day("2026-03-08", "America/Los_Angeles")
    assert (local_day.start + offset in local_day) is inside
    assert (local_day.end + offset in local_day) is not inside


def test_an_instant_given_in_another_zone_is_found_in_the_day() -> None:
    berlin = datetime(2026, 3, 1, 8, 59, 59, tzinfo=parse_zone("Europe/Berlin"))
    assert berlin in day("2026-02-28", "America/Los_Angeles")
    assert berlin + SECOND not in day("2026-02-28", "America/Los_Angeles")


@pytest.mark.parametrize(
    ("zone", "text", "abbreviation"),
    [
        ("America/Los_Angeles", "2026-03-07", "PST"),
        ("America/Los_Angeles", "2026-03-08", "PST"),
        ("America/Los_Angeles", "2026-03-09", "PDT"),
        ("America/Los_Angeles", "2026-11-01", "PDT"),
        ("America/Los_Angeles", "2026-11-02", "PST"),
        ("Europe/Berlin", "2026-07-01", "CEST"),
        ("UTC", "2026-02-28", "UTC"),
        ("America/Sao_Paulo", "2018-11-04", "-02"),
    ],
)
def test_the_abbreviation_is_that_of_the_start_of_the_day(zone: str, text: str, abbreviation: str) -> None:
    assert day(text, zone).abbreviation == abbreviation


@pytest.mark.parametrize(
    ("now", "zone", "expected"),
    [
        pytest.param("2026-03-01T08:00", "America/Los_Angeles", "2026-02-28", id="midnight-itself"),
        pytest.param("2026-03-01T07:59", "America/Los_Angeles", "2026-02-27", id="a-minute-before-midnight"),
        pytest.param("2026-03-01T08:00", "Pacific/Auckland", "2026-02-28", id="ahead-of-UTC"),
        pytest.param("2026-02-28T11:00", "Pacific/Auckland", "2026-02-28", id="already-tomorrow-there"),
        pytest.param("2026-01-01T12:00", "UTC", "2025-12-31", id="new-year"),
        pytest.param("2024-03-01T12:00", "UTC", "2024-02-29", id="leap-day"),
        pytest.param("2026-03-09T07:00", "America/Los_Angeles", "2026-03-08", id="after-the-short-day"),
    ],
)
def test_yesterday_is_the_last_complete_local_day(now: str, zone: str, expected: str) -> None:
    yesterday = get_yesterday(datetime.fromisoformat(now).replace(tzinfo=UTC), parse_zone(zone))
    assert yesterday == day(expected, zone)


@given(zone_names, instants)
def test_yesterday_is_over(zone: str, now: datetime) -> None:
    assert get_yesterday(now, parse_zone(zone)).end <= now
