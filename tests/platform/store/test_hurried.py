"""A store that is away, for those who must answer Slack within three seconds."""

import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from redis import Redis

from bot.errors import StoreUnavailable
from bot.features.digest.posts import PostedDigest
from bot.platform.costs import RateLimiter
from bot.platform.store.connection import (
    SHORT_TIMEOUTS,
    RedisCache,
    RedisTimeouts,
    connect_embedded,
    connect_server,
)
from tests.helpers.checks import closed_port, is_one_sentence
from tests.helpers.records import digest_store, plant
from tests.helpers.worlds import within

# Slack's three seconds, less what the way there and back takes
SECONDS = 2.9

ACTS: dict[str, Callable[[Redis], object]] = {
    "get": lambda client: RedisCache(client).get("key"),
    "put": lambda client: RedisCache(client).put("key", "value", timedelta(days=1)),
    "limit": lambda client: RateLimiter(client, 2).try_acquire("U1"),
    "load": lambda client: digest_store(client).load("record"),
    "save": lambda client: plant(digest_store(client), "record", text="value"),
}


@pytest.fixture
def silent() -> Iterator[str]:
    """The address of somebody who takes connections and says nothing."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(64)
        yield f"redis://127.0.0.1:{listener.getsockname()[1]}/0"


@pytest.fixture
def full() -> Iterator[str]:
    with socket.socket() as listener, socket.socket() as first, socket.socket() as second:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for waiting in (first, second):
            waiting.setblocking(False)
            waiting.connect_ex(listener.getsockname())
        time.sleep(0.05)
        yield f"redis://127.0.0.1:{listener.getsockname()[1]}/0"


def time_refusals(url: str) -> dict[str, tuple[float, Exception]]:
    """How long each act takes there, with a client of its own, and what it raises: the quicker of two looks."""

    def run(act: Callable[[Redis], object]) -> tuple[float, Exception]:
        with connect_server(url, timeouts=SHORT_TIMEOUTS) as client:
            begun = time.monotonic()
            outcome = within(3 * SECONDS, lambda: act(client))
            assert isinstance(outcome, Exception)
            return time.monotonic() - begun, outcome

    with ThreadPoolExecutor(len(ACTS)) as pool:
        looks = [dict(zip(ACTS, pool.map(run, ACTS.values()), strict=True)) for _ in range(2)]
    return min(looks, key=lambda look: max(seconds for seconds, _ in look.values()))


@pytest.mark.parametrize("place", ["closed", "silent", "full"])
@pytest.mark.slow
def test_a_store_that_is_away_is_known_to_be_in_time(request: pytest.FixtureRequest, place: str) -> None:
    url = f"redis://127.0.0.1:{closed_port()}/0" if place == "closed" else str(request.getfixturevalue(place))
    refusals = time_refusals(url)
    assert {name: type(error) for name, (_, error) in refusals.items()} == dict.fromkeys(ACTS, StoreUnavailable)
    assert all(is_one_sentence(str(error)) for _, error in refusals.values())
    assert max(seconds for seconds, _ in refusals.values()) < SECONDS


@pytest.mark.slow
def test_a_store_that_falls_silent_after_it_answered_is_known_in_time(store_url: str, store: Redis) -> None:
    with connect_server(store_url, timeouts=SHORT_TIMEOUTS) as client:
        RedisCache(client).put("key", "value", timedelta(days=1))
        store.client_pause(3_000)
        try:
            begun = time.monotonic()
            with pytest.raises(StoreUnavailable):
                RedisCache(client).get("key")
            assert time.monotonic() - begun < SECONDS
        finally:
            store.client_unpause()
        assert RedisCache(client).get("key") == "value"


def test_a_store_that_is_there_is_used_as_by_any_other(store_url: str, store: Redis) -> None:
    with connect_server(store_url, timeouts=SHORT_TIMEOUTS) as client:
        assert {name: act(client) for name, act in ACTS.items()} == {
            "get": None,
            "put": None,
            "limit": True,
            "load": PostedDigest(),
            "save": PostedDigest(text="value"),
        }
    assert (RedisCache(store).get("key"), digest_store(store).load("record").text) == ("value", "value")


@pytest.mark.slow
def test_many_who_hurry_at_once_are_all_told_in_time(silent: str) -> None:
    with connect_server(silent, timeouts=SHORT_TIMEOUTS) as client:

        def run(_: int) -> float:
            begun = time.monotonic()
            with pytest.raises(StoreUnavailable):
                RedisCache(client).get("key")
            return time.monotonic() - begun

        with ThreadPoolExecutor(24) as pool:
            assert max(pool.map(run, range(24))) < SECONDS


def test_the_hurried_wait_less_than_the_others_in_every_way() -> None:
    usual = RedisTimeouts()
    assert SHORT_TIMEOUTS.connect < usual.connect
    assert SHORT_TIMEOUTS.answer < usual.answer
    assert SHORT_TIMEOUTS.retries < usual.retries


@pytest.mark.slow
def test_the_embedded_store_can_be_had_in_a_hurry_too(
    store_url: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert store_url
    with connect_embedded(tmp_path_factory.mktemp("hurried"), SHORT_TIMEOUTS) as client:
        RedisCache(client).put("key", "value", timedelta(days=1))
        assert RedisCache(client).get("key") == "value"
