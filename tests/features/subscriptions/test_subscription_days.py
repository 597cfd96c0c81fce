import datetime as dt
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.dates import Span, parse_zone
from bot.features.digest.rules import DigestSpec
from bot.features.merges.requests import DigestView, ViewLevel
from bot.features.subscriptions.rules import Subscription, Timing
from bot.platform.pulls.paths import Filters
from impact.repository import Repository
from impact.text.strings import parse_date
from tests.helpers.builders import REPOSITORY, make_view

BERLIN = parse_zone("Europe/Berlin")
RISKY = DigestView(only=ViewLevel.RISKY)
SATURDAY, WEEKEND = (
    Span(parse_date("2026-02-28"), parse_date(last), BERLIN) for last in ("2026-02-28", "2026-03-01")
)
PLAIN = DigestSpec("C0DIGEST", REPOSITORY, SATURDAY)
DAILY = Subscription("C0DIGEST", REPOSITORY, Timing(dt.time(9), BERLIN), by="U0ASKER")


@pytest.mark.parametrize(
    ("edition", "title", "key"),
    [
        pytest.param(
            PLAIN,
            "octo/engine, Saturday 28 February 2026",
            "digest:T0TEAM:C0DIGEST:octo/engine:2026-02-28@+0100",
            id="a-day",
        ),
        pytest.param(
            replace(PLAIN, span=WEEKEND),
            "octo/engine, 28 February – 1 March 2026",  # noqa: RUF001 (a dash)
            "digest:T0TEAM:C0DIGEST:octo/engine:2026-02-28..2026-03-01@+0100",
            id="days",
        ),
        pytest.param(
            replace(PLAIN, view=RISKY),
            "octo/engine, Saturday 28 February 2026, only:risky",
            f"digest:T0TEAM:C0DIGEST:octo/engine:2026-02-28@+0100:{RISKY.fingerprint}",
            id="a-view",
        ),
    ],
)
def test_an_edition_has_a_title_for_people_and_a_key_for_its_record(
    edition: DigestSpec, title: str, key: str
) -> None:
    assert edition.title == title
    assert edition.build_key("T0TEAM") == key


channels = st.sampled_from(["C1", "C2"])
repositories = st.builds(Repository, st.sampled_from(["a", "b"]), st.sampled_from(["x", "y"]))
# zones whose offsets agree for a while: beside the date line, and with clocks that change on other nights
zones = st.sampled_from(
    [
        *(
            "Europe/Berlin",
            "Europe/Paris",
            "Europe/Athens",
            "Asia/Jerusalem",
            "Asia/Tokyo",
            "UTC",
            "Africa/Abidjan",
        ),
        *("America/Los_Angeles", "America/Havana", "America/New_York", "Pacific/Apia", "Pacific/Kiritimati"),
        *("Pacific/Honolulu", "Australia/Lord_Howe", "Asia/Kathmandu"),
    ]
).map(parse_zone)
days = st.dates(dt.date(2026, 2, 27), dt.date(2026, 3, 30))
spans = st.builds(
    lambda first, more, zone: Span(first, first + dt.timedelta(days=more), zone), days, st.integers(0, 3), zones
)
views = st.builds(
    make_view,
    st.builds(Filters, authors=st.lists(st.sampled_from("ab"), max_size=2).map(tuple)),
    st.sampled_from(list(ViewLevel)),
)
editions = st.builds(DigestSpec, channels, repositories, spans, views)


def content(edition: DigestSpec) -> object:
    """What a digest is made of: where it goes, what of which intervals it shows, and what it calls them."""
    intervals = [(day.date, day.start, day.end) for day in edition.span.days]
    return edition.channel, edition.repository, intervals, edition.view


@given(editions, editions)
def test_two_wishes_share_an_identity_if_their_content_is_equal_and_never_otherwise(
    one: DigestSpec, other: DigestSpec
) -> None:
    assert (one.build_key("T1") == other.build_key("T1")) is (content(one) == content(other))
    assert one.build_key("T1") != other.build_key("T2")


@given(editions, zones)
def test_a_zone_with_other_days_makes_another_digest(edition: DigestSpec, zone: ZoneInfo) -> None:
    moved = replace(edition, span=replace(edition.span, zone=zone))
    assert (moved.build_key("T1") == edition.build_key("T1")) is (content(moved) == content(edition))


@pytest.mark.parametrize(
    ("zone", "first", "last", "offsets"),
    [
        pytest.param("Asia/Tokyo", "2026-02-28", "2026-02-28", "+0900", id="east"),
        pytest.param("America/St_Johns", "2026-02-28", "2026-02-28", "-0330", id="half-an-hour-west"),
        pytest.param("America/Los_Angeles", "2026-03-08", "2026-03-08", "-0800-0700", id="23-hours"),
        pytest.param("Asia/Jerusalem", "2026-03-27", "2026-03-29", "+0200+0300+0300+0300", id="changed-on-friday"),
        pytest.param("Europe/Athens", "2026-03-27", "2026-03-29", "+0200+0200+0200+0300", id="changed-on-sunday"),
        pytest.param("Africa/Monrovia", "1970-02-28", "1970-02-28", "-004430", id="seconds"),
    ],
)
def test_days_are_named_with_the_offsets_of_their_midnights(
    zone: str, first: str, last: str, offsets: str
) -> None:
    assert Span(parse_date(first), parse_date(last), parse_zone(zone)).utc_offsets == offsets


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(replace(DAILY, timing=Timing(dt.time(18), parse_zone("UTC"), weekdays=True)), id="time"),
        pytest.param(replace(DAILY, by="U2", follows="U2"), id="person"),
        pytest.param(replace(DAILY, is_paused=True, is_open=True), id="state"),
        pytest.param(replace(DAILY, repository=Repository("Octo", "ENGINE")), id="spelling"),
    ],
)
def test_a_channel_has_one_subscription_for_a_repository_and_a_view(other: Subscription) -> None:
    assert other.id == DAILY.id


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(replace(DAILY, channel="C1DIGEST"), id="channel"),
        pytest.param(replace(DAILY, repository=Repository("octo", "engine2")), id="repository"),
        pytest.param(replace(DAILY, view=RISKY), id="view"),
    ],
)
def test_others_have_others(other: Subscription) -> None:
    assert other.id != DAILY.id


def test_an_id_is_short_enough_to_be_typed_and_the_same_in_each_version() -> None:
    assert DAILY.id == "55a9560f"


@pytest.mark.parametrize(
    ("subscription", "personal", "fixed"),
    [
        pytest.param(DAILY, False, False, id="channel"),
        pytest.param(replace(DAILY, channel="D0ASKER"), True, False, id="direct-messages"),
        pytest.param(replace(DAILY, channel="G0PRIVATE"), False, False, id="private-channel"),
        pytest.param(replace(DAILY, by=""), False, True, id="settings"),
    ],
)
def test_whose_a_subscription_is(subscription: Subscription, personal: bool, fixed: bool) -> None:
    assert (subscription.is_personal, subscription.is_fixed) == (personal, fixed)


def test_the_edition_of_an_instant_is_for_its_channel_and_view_and_tells_of_the_day_before() -> None:
    due = datetime(2026, 3, 1, 8, tzinfo=UTC)
    assert replace(DAILY, view=RISKY).build_digest_spec(due) == replace(PLAIN, view=RISKY)
    weekly = replace(DAILY, timing=replace(DAILY.timing, weekdays=True))
    monday = due + timedelta(days=1)
    assert str(weekly.build_digest_spec(monday).span) == "2026-02-27..2026-03-01"
