from dataclasses import replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localslack.blockkit.dates import render_date
from localslack.testing.html import parse_html
from tests.blockkit.shown import NAMES, NOW

BERLIN = replace(NAMES, zone=ZoneInfo("Europe/Berlin"), now=None)
AT = int(datetime(2026, 2, 28, 23, 5, 9, tzinfo=NAMES.zone).timestamp())


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("{date_num}", "2026-03-01"),
        ("{date_slash}", "01/03/2026"),
        ("{date_long_full}", "March 1, 2026"),
        ("{date}", "March 1st, 2026"),
        ("{date_short}", "Mar 1, 2026"),
        ("{date_long}", "Sunday, March 1st, 2026"),
        ("{date_pretty}", "March 1st, 2026"),
        ("{date_short_pretty} at {time}", "Mar 1, 2026 at 00:05"),
        ("{date_long_pretty}", "Sunday, March 1st, 2026"),
        ("{time_secs}", "00:05:09"),
        ("{ago}", "March 1st, 2026"),
        ("on {date_num}, {unknown} <b>", "on 2026-03-01, {unknown} <b>"),
        ("no token", "no token"),
    ],
)
def test_a_format_is_filled_in_on_the_readers_clock(form: str, text: str) -> None:
    assert parse_html(render_date(AT, form, BERLIN)).text == text


@pytest.mark.parametrize(
    ("away", "form", "text"),
    [
        (timedelta(0), "{date_short_pretty} at {time}", "Today at 12:00"),
        (timedelta(0), "posted {date_pretty}", "posted today"),
        (timedelta(hours=-13), "{date_long_pretty}", "Yesterday"),
        (timedelta(hours=12), "{date_pretty}", "Tomorrow"),
        (timedelta(days=-2), "{date_pretty}", "February 27th"),
        (timedelta(days=-182), "{date_short}", "Aug 31"),
        (timedelta(days=-184), "{date_short}", "Aug 29, 2025"),
        (timedelta(days=-1), "{day_divider_pretty}", "Yesterday"),
        (timedelta(days=-59), "{day_divider_pretty}", "Thursday, January 1st"),
        (timedelta(days=-60), "{day_divider_pretty}", "Wednesday, December 31st, 2025"),
        (timedelta(days=-8), "{date_long}", "Saturday, February 21st"),
        (timedelta(days=1), "{date}", "March 2nd"),
        (timedelta(days=2), "{date}", "March 3rd"),
        (timedelta(days=10), "{date}", "March 11th"),
        (timedelta(hours=1), "{time}", "13:00"),
        (timedelta(seconds=-1), "{ago}", "1 second ago"),
        (timedelta(minutes=-3), "{ago}", "3 minutes ago"),
        (timedelta(hours=2), "{ago}", "In 2 hours"),
        (timedelta(days=-9), "{ago}", "9 days ago"),
    ],
)
def test_days_nearby_have_words_and_no_year(away: timedelta, form: str, text: str) -> None:
    assert parse_html(render_date(int((NOW + away).timestamp()), form, NAMES)).text == text


def test_it_says_when_exactly() -> None:
    shown = parse_html(render_date(AT, "{date}", BERLIN)).find_one("time")
    assert shown["datetime"] == "2026-03-01T00:05:09+01:00"
    assert shown["title"] == "Sunday, March 1st, 2026 at 00:05:09"


def test_it_may_be_a_link() -> None:
    assert (
        parse_html(render_date(AT, "{date}", BERLIN, "https://a.example")).find_one("a")["href"]
        == "https://a.example"
    )
    assert parse_html(render_date(AT, "{date}", BERLIN, "javascript:alert(1)")).find_all("a") == []


@pytest.mark.parametrize("timestamp", [10**15, -(10**15), "9" * 5_000, "x", None, 1.5, "1.5"])
def test_what_is_no_instant_is_its_fallback(timestamp: object) -> None:
    assert render_date(timestamp, "{date}", NAMES, "https://a.example", "<then>") == "&lt;then&gt;"


@given(st.integers(-(10**13), 10**13), st.text(max_size=30), st.booleans())
def test_any_instant_has_a_text(timestamp: int, form: str, is_now: bool) -> None:
    names = replace(NAMES, now=(lambda: NOW) if is_now else None)
    parse_html(render_date(timestamp, f"{form}{{date_long_pretty}}{{ago}}{{time}}", names, fallback=form))
