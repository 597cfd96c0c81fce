"""Where subscriptions are looked up: those that people made, and the one of the settings."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from zoneinfo import ZoneInfo

import pytest
from redis import Redis

from bot.adapters.redis.due_queue import RedisSubscriptionStore
from bot.domain.digest.view import DigestView, ViewLevel
from bot.domain.pull_requests.models import Repository
from bot.domain.subscriptions.models import Subscription, Timing
from bot.domain.time.day import parse_zone
from bot.services.subscriptions.repository import SubscriptionRepository
from tests.helpers.builders import REPOSITORY

UTC = parse_zone("UTC")
FIXED = Subscription("C0DIGEST", REPOSITORY, Timing(dt.time(9), UTC))
RISKY = Subscription("C0DIGEST", REPOSITORY, Timing(dt.time(7), UTC), DigestView(only=ViewLevel.RISKY), by="U1")
LATE = Subscription("C0OTHER", REPOSITORY, Timing(dt.time(18), UTC), by="U1")
ACME = Subscription("C0OTHER", Repository("acme", "web.app"), Timing(dt.time(23), UTC), by="U2")


@pytest.fixture
def kept_subscriptions(store: Redis) -> RedisSubscriptionStore:
    subscription_store = RedisSubscriptionStore(store)
    for each in (LATE, RISKY, ACME):
        subscription_store.put(each)
    return subscription_store


@pytest.fixture
def directory(kept_subscriptions: RedisSubscriptionStore) -> SubscriptionRepository:
    return SubscriptionRepository(kept_subscriptions, FIXED)


def test_that_of_the_settings_comes_first_then_by_repository_and_time(directory: SubscriptionRepository) -> None:
    assert list(directory.list_all()) == [FIXED, ACME, RISKY, LATE]


def test_without_one_in_the_settings_there_are_those_that_people_made(
    kept_subscriptions: RedisSubscriptionStore,
) -> None:
    directory = SubscriptionRepository(kept_subscriptions, None)
    assert list(directory.list_all()) == [ACME, RISKY, LATE]
    assert directory.get(FIXED.id) is None
    assert directory.get("") is None
    assert directory.get_many([FIXED.id, ""]) == {}


def test_those_of_a_channel_are_of_that_channel(directory: SubscriptionRepository) -> None:
    assert list(directory.list_for_channel("C0DIGEST")) == [FIXED, RISKY]
    assert list(directory.list_for_channel("C0OTHER")) == [ACME, LATE]
    assert list(directory.list_for_channel("C0NOBODY")) == []


@pytest.mark.parametrize("channel", ["C0OTHE", "C0OTHER", "0OTHER", "", "web.app", 'C0"', "U1"])
def test_those_of_a_channel_are_the_same_as_among_all(directory: SubscriptionRepository, channel: str) -> None:
    """Part of an id, a repository and a person are no channel."""
    among_all = [each for each in directory.list_all() if each.channel == channel]
    assert list(directory.list_for_channel(channel)) == among_all


@pytest.mark.parametrize("known", [FIXED, RISKY, ACME], ids=["settings", "view", "person"])
def test_one_is_found_by_its_id(directory: SubscriptionRepository, known: Subscription) -> None:
    assert directory.get(known.id) == known
    assert directory.get_many([known.id, "nothing"]) == {known.id: known}


def test_some_are_found_at_once(directory: SubscriptionRepository) -> None:
    assert directory.get_many([LATE.id, FIXED.id]) == {LATE.id: LATE, FIXED.id: FIXED}
    assert directory.get_many([]) == {}


def test_the_settings_win_over_what_somebody_had_made_of_the_same(
    directory: SubscriptionRepository, kept_subscriptions: RedisSubscriptionStore
) -> None:
    kept_subscriptions.put(replace(FIXED, by="U1", timing=Timing(dt.time(1), UTC), is_paused=True))
    assert list(directory.list_all()) == [FIXED, ACME, RISKY, LATE]
    assert directory.get(FIXED.id) == FIXED
    assert directory.get_many([FIXED.id]) == {FIXED.id: FIXED}


def test_one_that_somebody_made_can_be_paused(
    directory: SubscriptionRepository, kept_subscriptions: RedisSubscriptionStore
) -> None:
    directory.pause(LATE)
    assert directory.get(LATE.id) == replace(LATE, is_paused=True)


def test_that_of_the_settings_cant_be_paused(
    directory: SubscriptionRepository, kept_subscriptions: RedisSubscriptionStore
) -> None:
    directory.pause(FIXED)
    assert directory.get(FIXED.id) == FIXED
    assert kept_subscriptions.get(FIXED.id) is None


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
    kept_subscriptions: RedisSubscriptionStore,
    directory: SubscriptionRepository,
    zones: list[ZoneInfo],
    expected: ZoneInfo | None,
) -> None:
    for number, zone in enumerate(zones):
        timing, repository = Timing(dt.time(9), zone), Repository("acme", f"app{number}")
        kept_subscriptions.put(Subscription("C0TOKYO", repository, timing, by="U1"))
    assert directory.get_time_zone("C0TOKYO", UTC) == expected
