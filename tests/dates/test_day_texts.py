from datetime import date, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.dates import LocalDay, parse_coming_day, parse_zone
from bot.errors import UsageError
from impact.text.strings import parse_date
from tests.helpers.checks import is_one_sentence
from tests.helpers.refusals import refusal
from tests.helpers.tables import check_rows


@pytest.mark.parametrize("name", ["America/Los_Angeles", "Europe/Berlin", "UTC", "Etc/GMT+8", "Asia/Kathmandu"])
def test_a_zone_is_known_by_its_name(name: str) -> None:
    assert parse_zone(name).key == name


@check_rows(
    [
        "",
        " ",
        "PST",
        "Mars/Olympus",
        "America",
        "America/Los Angeles",
        "../../etc/passwd",
        "/etc/localtime",
        "tzdata.zi",
        "leapseconds",
        "a//b",
        ".",
        "UTC\n",
        "\0",
        "é",
        "\ud800",
        "x" * 300,
    ]
)
def test_what_is_no_zone_is_refused_in_one_sentence(name: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_zone(name)
    assert is_one_sentence(str(caught.value))


@given(st.text(max_size=40))
@example("Europe/")
@example("Europe/Berlin/..")
def test_any_text_is_a_zone_or_a_usage_error(name: str) -> None:
    assert "\n" not in refusal(parse_zone, name)


# a Friday
FRIDAY = LocalDay(date(2026, 11, 27), parse_zone("UTC"))


@check_rows(
    {
        "2026-12-07": ("2026-12-07", "2026-12-07"),
        "7 Dec": ("7 Dec", "2026-12-07"),
        "7 December 2026": ("7 December 2026", "2026-12-07"),
        "jan 4": ("jan 4", "2027-01-04"),
        "the day of today in a year": ("27 Nov", "2027-11-27"),
        "tomorrow": ("Tomorrow", "2026-11-28"),
        "monday": ("monday", "2026-11-30"),
        "the weekday of today": ("fri", "2026-12-04"),
        "3d": ("3d", "2026-11-30"),
        "2 weeks": ("2 weeks", "2026-12-11"),
    }
)
def test_a_day_to_come_is_read(text: str, day: str) -> None:
    assert str(parse_coming_day(text, FRIDAY)) == day


@check_rows(
    [
        "",
        "today",
        "0d",
        "yesterday",
        "2026-11-27",
        "2026-01-01",
        "2028-01-01",
        "400d",
        "soon",
        "mo",
        "31 Feb",
        "٣d",
    ]
)
def test_what_is_no_day_to_come_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_coming_day(text, FRIDAY)
    assert is_one_sentence(str(caught.value))


def test_a_date_is_read() -> None:
    assert parse_date("2026-02-28") == date(2026, 2, 28)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2026-02-29",
        "2026-13-01",
        "2026-2-28",
        "28.02.2026",
        "2026-02-28T00:00",
        " 2026-02-28",
        "2026-02-28\n",
        "٢٠٢٦-٠٢-٢٨",
        "20260228",
        "2026-W09-6",
        "2026W096",
    ],
    ids=ascii,
)
def test_what_is_no_date_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_date(text)
    assert is_one_sentence(str(caught.value))


@pytest.mark.parametrize(
    ("text", "zone"), [("9999-12-31", "America/Los_Angeles"), ("0001-01-01", "Pacific/Auckland")]
)
def test_a_date_at_the_end_of_time_is_a_day_or_a_usage_error(text: str, zone: str) -> None:
    def length(typed: str) -> timedelta:
        local_day = LocalDay(parse_date(typed), parse_zone(zone))
        return local_day.end - local_day.start

    message = refusal(length, text)
    assert not message or is_one_sentence(message)
