import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from redis import Redis

from bot.errors import StoreUnavailable
from bot.platform.costs import RateLimiter
from bot.platform.store.connection import SHORT_TIMEOUTS, connect_server
from tests.helpers.checks import closed_port, is_one_sentence


def counts(store: Redis, name: str) -> dict[int, int]:
    """What is counted of a name, by the second."""
    keys = [str(key, "ascii") for key in store.scan_iter(f"rate:{name}@*")]
    return {int(key.rpartition("@")[2]): int(store.get(key) or 0) for key in keys}


@pytest.mark.parametrize("limit", [1, 2, 20])
def test_as_many_as_the_limit_are_admitted_within_a_minute(store: Redis, limit: int) -> None:
    limiter = RateLimiter(store, limit)
    admissions = [limiter.try_acquire("T0TEAM:U0ASKER") for _ in range(limit + 3)]
    assert admissions == [True] * limit + [False] * 3


def test_names_are_counted_apart(store: Redis) -> None:
    limiter = RateLimiter(store, 1)
    names = ("T0TEAM:U1", "T0TEAM:U2", "T0ELSE:U1")
    assert [limiter.try_acquire(name) for name in names] == [True] * 3
    assert [limiter.try_acquire(name) for name in names] == [False] * 3


def test_all_processes_count_together(store: Redis, store_url: str) -> None:
    with connect_server(store_url) as other:
        admissions = [RateLimiter(client, 3).try_acquire("U1") for client in (store, other) * 3]
    assert admissions == [True] * 3 + [False] * 3


def test_threads_that_come_at_once_are_not_admitted_twice(store: Redis) -> None:
    limiter = RateLimiter(store, 5)
    with ThreadPoolExecutor(10) as pool:
        admissions = list(pool.map(lambda _: limiter.try_acquire("U1"), range(30)))
    assert admissions.count(True) == 5


def test_what_is_refused_does_not_count(store: Redis) -> None:
    limiter = RateLimiter(store, 2)
    for _ in range(10):
        limiter.try_acquire("U1")
    assert sum(counts(store, "U1").values()) == 2


@pytest.mark.parametrize(("seconds", "admitted"), [(5, False), (50, False), (65, True), (120, True)])
def test_what_was_asked_over_a_minute_ago_does_not_count(store: Redis, seconds: int, admitted: bool) -> None:
    limiter = RateLimiter(store, 2)
    assert limiter.try_acquire("U1")
    (second,) = counts(store, "U1")
    # as if a request of that name had come so many seconds before
    store.set(f"rate:U1@{second - seconds}", 1, ex=60)
    assert limiter.try_acquire("U1") is admitted


def test_what_is_counted_runs_out_by_itself(store: Redis) -> None:
    RateLimiter(store, 2).try_acquire("U1")
    assert [0 < int(str(store.ttl(key))) <= 60 for key in store.scan_iter()] == [True]


def test_a_store_that_is_away_is_told_in_one_sentence() -> None:
    with (
        connect_server(f"redis://127.0.0.1:{closed_port()}/0", timeouts=SHORT_TIMEOUTS) as client,
        pytest.raises(StoreUnavailable, match="REDIS_URL") as caught,
    ):
        RateLimiter(client, 2).try_acquire("U1")
    assert is_one_sentence(str(caught.value))


def test_counting_takes_no_time_that_somebody_notices(store: Redis) -> None:
    limiter = RateLimiter(store, 20)
    begun = time.monotonic()
    for n in range(20):
        limiter.try_acquire(f"U{n}")
    assert time.monotonic() - begun < 2
