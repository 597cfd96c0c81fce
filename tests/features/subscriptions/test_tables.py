import datetime as dt
import json
from dataclasses import replace
from zoneinfo import ZoneInfo

import pytest
from redis import Redis

from bot.app import App
from bot.dates import parse_zone
from bot.features.merges.requests import DigestView, ViewLevel
from bot.features.subscriptions.rules import RunOutcome, Subscription, Timing
from bot.features.subscriptions.tables import (
    RUN_LOG,
    SUBSCRIPTIONS,
    get_channel_zone,
    get_subscription,
    get_subscriptions,
    list_subscriptions,
    put_subscription,
    record_run,
)
from bot.platform.pulls.paths import Filters
from bot.settings import load_settings
from impact.repository import Repository
from tests.helpers.apps import make_app
from tests.helpers.builders import REPOSITORY
from tests.helpers.subscriptions import StoredSubscriptions

UTC = parse_zone("UTC")
FIXED = Subscription("C0DIGEST", REPOSITORY, Timing(dt.time(9), UTC))
RISKY = Subscription("C0DIGEST", REPOSITORY, Timing(dt.time(7), UTC), DigestView(only=ViewLevel.RISKY), by="U1")
LATE = Subscription("C0OTHER", REPOSITORY, Timing(dt.time(18), UTC), by="U1")
ACME = Subscription("C0OTHER", Repository("acme", "web.app"), Timing(dt.time(23), UTC), by="U2")


MADE = (LATE, RISKY, ACME)


def open_app(store: Redis, fixed: Subscription | None = FIXED) -> App:
    for each in MADE:
        StoredSubscriptions(store).put(each)
    own = {"prdigest_repo": fixed.repository, "prdigest_channel": fixed.channel} if fixed else {}
    timing = {"prdigest_post_at": FIXED.timing.at, "prdigest_timezone": FIXED.timing.zone}
    return make_app(store, settings=load_settings().model_copy(update={**own, **timing}))


def test_that_of_the_settings_comes_first_then_by_repository_and_time(store: Redis) -> None:
    assert list_subscriptions(open_app(store)) == [FIXED, ACME, RISKY, LATE]


def test_without_one_in_the_settings_there_are_those_that_people_made(store: Redis) -> None:
    app = open_app(store, None)
    assert list_subscriptions(app) == [ACME, RISKY, LATE]
    assert get_subscriptions(app, [FIXED.id, ""]) == {}


@pytest.mark.parametrize(
    "channel", ["C0DIGEST", "C0NOBODY", "C0OTHE", "C0OTHER", "0OTHER", "", "web.app", 'C0"', "U1"]
)
def test_those_of_a_channel_are_the_same_as_among_all(store: Redis, channel: str) -> None:
    """Part of an id, a repository and a person are no channel."""
    app = open_app(store)
    assert list_subscriptions(app, channel) == [
        each for each in list_subscriptions(app) if each.channel == channel
    ]


def test_some_are_found_at_once(store: Redis) -> None:
    app = open_app(store)
    assert get_subscriptions(app, [LATE.id, FIXED.id, "nothing"]) == {LATE.id: LATE, FIXED.id: FIXED}
    assert (get_subscriptions(app, []), get_subscription(app, RISKY.id)) == ({}, RISKY)


def test_the_settings_win_over_what_somebody_had_made_of_the_same(store: Redis) -> None:
    app = open_app(store)
    StoredSubscriptions(store).put(replace(FIXED, by="U1", timing=Timing(dt.time(1), UTC), is_paused=True))
    assert list_subscriptions(app) == [FIXED, ACME, RISKY, LATE]
    assert get_subscription(app, FIXED.id) == FIXED


FULL = Subscription(
    "D0ASKER",
    Repository("acme", "web.app"),
    Timing(dt.time(23, 59, 30), parse_zone("Asia/Kathmandu"), weekdays=True),
    DigestView(Filters(("csrc/**",), ("Ädä",), ("good first issue",), ("bots",)), ViewLevel.RISKY),
    by="U1",
    follows="U2",
    is_paused=True,
    is_open=True,
)


def test_what_is_kept_comes_back_with_what_a_version_added_ignored(store: Redis) -> None:
    app = make_app(store)
    put_subscription(app, FULL)
    put_subscription(app, LATE)
    assert [get_subscription(app, each.id) for each in (FULL, LATE)] == [FULL, LATE]
    value = json.loads(app.tables.read_fields(SUBSCRIPTIONS)[LATE.id])
    assert {"is_open", "follows"}.isdisjoint(value)
    store.hset("subscriptions", LATE.id, "p" + json.dumps({**value, "mood": "cheerful"}))
    assert get_subscription(app, LATE.id) == LATE
    assert [store.ttl(name) for name in ("subscriptions", "journal")] == [-1, -2]


def test_the_last_runs_are_kept_newest_first(store: Redis) -> None:
    app = make_app(store)
    for number in range(410):
        record_run(app, f"digest:{number}", RunOutcome.POSTED, "Größe")
    runs = app.tables.list_recent(RUN_LOG, 1_000)
    assert [run.key for run in runs] == [f"digest:{number}" for number in range(409, 9, -1)]
    assert (runs[0].detail, len(app.tables.list_recent(RUN_LOG, 2)), store.ttl("journal")) == ("Größe", 2, -1)


@pytest.mark.parametrize("text", ['{"version": 1}', '{"version": 2, "channel": "C0OTHER"}', "not JSON"])
def test_one_that_cant_be_read_keeps_nobody_from_theirs(
    store: Redis, caplog: pytest.LogCaptureFixture, text: str
) -> None:
    app = open_app(store)
    store.hset("subscriptions", "later", f"p{text}")
    for _ in range(2):
        assert list_subscriptions(app) == [FIXED, ACME, RISKY, LATE]
    assert list_subscriptions(app, "C0OTHER") == [ACME, LATE]
    assert get_subscriptions(app, ["later", LATE.id]) == {"later": None, LATE.id: LATE}
    assert [line for line in caplog.messages if "can't be read" in line] in (
        [f"a subscription can't be read: {text}"],
        [],
    )


TOKYO = parse_zone("Asia/Tokyo")


@pytest.mark.parametrize(
    ("zones", "expected"),
    [
        pytest.param([], UTC, id="none-is-the-usual-one"),
        pytest.param([TOKYO], TOKYO, id="its-own"),
        pytest.param([TOKYO, TOKYO], TOKYO, id="in-common"),
        pytest.param([TOKYO, UTC], None, id="several"),
    ],
)
def test_the_zone_of_a_channel_is_that_of_its_subscriptions(
    store: Redis, zones: list[ZoneInfo], expected: ZoneInfo | None
) -> None:
    for number, zone in enumerate(zones):
        timing, repository = Timing(dt.time(9), zone), Repository("acme", f"app{number}")
        StoredSubscriptions(store).put(Subscription("C0TOKYO", repository, timing, by="U1"))
    assert get_channel_zone(open_app(store), "C0TOKYO") == expected
