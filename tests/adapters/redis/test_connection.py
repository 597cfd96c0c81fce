"""The cache, the records and the leases, on a real server."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from redis import Redis

from bot.adapters.redis.connection import RedisCache, RedisPostRecords, connect, require_durable
from bot.domain.errors import StoreUnavailable
from tests.helpers.checks import closed_port, eventually, is_one_sentence

DAY = timedelta(days=1)


@pytest.fixture
def cache(store: Redis) -> RedisCache:
    return RedisCache(store)


@pytest.fixture
def records(store: Redis) -> RedisPostRecords:
    return RedisPostRecords(store)


VALUES = {
    "empty": "",
    "short": "a",
    "marks": "p",
    "not-ascii": "Größe 日本 \u2028 \x00 🎉",
    "at-the-limit": "x" * 1_000,
    "below-the-limit": "y" * 999,
    "large": "".join(f"line {n} +new -old\n" for n in range(60_000)),
    "large-and-not-ascii": "日本語" * 100_000,
}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_a_value_comes_back_as_it_was_put(cache: RedisCache, value: str) -> None:
    cache.put("key", value, DAY)
    assert cache.get("key") == value


def test_what_was_never_put_is_none(cache: RedisCache) -> None:
    assert cache.get("nothing") is None


def test_the_last_value_counts(cache: RedisCache) -> None:
    cache.put("key", "old", DAY)
    cache.put("key", "new", DAY)
    assert cache.get("key") == "new"


def test_large_values_are_kept_small(cache: RedisCache, store: Redis) -> None:
    cache.put("key", VALUES["large"], DAY)
    assert int(str(store.strlen("key"))) < len(VALUES["large"]) / 4


def test_every_cached_value_runs_out(cache: RedisCache, store: Redis) -> None:
    cache.put("key", "value", timedelta(hours=2))
    assert 7_190 <= int(str(store.ttl("key"))) <= 7_200


def test_a_value_that_ran_out_is_gone(cache: RedisCache) -> None:
    cache.put("key", "value", timedelta(seconds=1))
    assert eventually(lambda: cache.get("key") is None)


def test_records_are_added_to_and_never_run_out(records: RedisPostRecords, store: Redis) -> None:
    records.save("digest:1", plan="x" * 5_000, begun="now")
    records.save("digest:1", lead="1.1", plan="")
    assert records.load("digest:1") == {"plan": "", "begun": "now", "lead": "1.1"}
    assert store.ttl("digest:1") == -1


def test_records_with_a_lifetime_run_out_after_the_last_that_was_added(store: Redis) -> None:
    records = RedisPostRecords(store, timedelta(hours=2))
    records.save("answer:1", begun="now")
    store.expire("answer:1", 60)
    records.save("answer:1", done="later", text="x" * 5_000)
    assert 7_190 <= int(str(store.ttl("answer:1"))) <= 7_200
    assert records.load("answer:1") == {"begun": "now", "done": "later", "text": "x" * 5_000}


def test_records_that_ran_out_are_gone(store: Redis) -> None:
    records = RedisPostRecords(store, timedelta(seconds=1))
    records.save("answer:1", done="now")
    assert eventually(lambda: records.load("answer:1") == {})


def test_records_without_a_lifetime_take_none_from_others_of_another_key(store: Redis) -> None:
    RedisPostRecords(store, timedelta(hours=2)).save("answer:1", done="now")
    RedisPostRecords(store).save("digest:1", done="now")
    assert (store.ttl("digest:1"), int(str(store.ttl("answer:1"))) > 0) == (-1, True)


def test_a_digest_never_begun_has_no_record(records: RedisPostRecords) -> None:
    assert records.load("digest:never") == {}


def test_the_rights_to_post_different_digests_do_not_exclude_each_other(
    records: RedisPostRecords, store: Redis
) -> None:
    with records.exclusive("digest:1"), records.exclusive("digest:2"):
        assert store.dbsize() == 2
    assert store.dbsize() == 0


def test_the_right_to_post_is_free_after_its_holder_failed(records: RedisPostRecords) -> None:
    with pytest.raises(KeyError), records.exclusive("digest:1"):
        raise KeyError
    with records.exclusive("digest:1"):
        pass


def test_a_lease_has_one_holder_among_threads(cache: RedisCache) -> None:
    inside: list[int] = []
    peaks: list[int] = []

    def work(number: int) -> None:
        with cache.lease("question"):
            inside.append(number)
            peaks.append(len(inside))
            inside.remove(number)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert peaks == [1] * 8


def test_leases_of_other_names_are_not_waited_for(cache: RedisCache, store: Redis) -> None:
    with cache.lease("one"), cache.lease("two"):
        assert store.dbsize() == 2


def test_a_lease_is_free_after_its_holder_failed(cache: RedisCache, store: Redis) -> None:
    with pytest.raises(KeyError), cache.lease("question"):
        raise KeyError
    assert store.dbsize() == 0


# --- a store that is not there, or not fit


AWAY: dict[str, Callable[[Redis], object]] = {
    "get": lambda client: RedisCache(client).get("key"),
    "put": lambda client: RedisCache(client).put("key", "value", DAY),
    "lease": lambda client: RedisCache(client).lease("key").__enter__(),
    "load": lambda client: RedisPostRecords(client).load("key"),
    "save": lambda client: RedisPostRecords(client).save("key", field="value"),
    "save for a while": lambda client: RedisPostRecords(client, DAY).save("key", field="value"),
    "exclusive": lambda client: RedisPostRecords(client).exclusive("key").__enter__(),
    "require_durable": require_durable,
}


def test_a_store_that_is_away_is_told_in_one_sentence() -> None:
    def said(act: Callable[[Redis], object]) -> str:
        with connect(f"redis://127.0.0.1:{closed_port()}/0") as client, pytest.raises(StoreUnavailable) as caught:
            act(client)
        return str(caught.value)

    with ThreadPoolExecutor(len(AWAY)) as pool:
        found = dict(zip(AWAY, pool.map(said, AWAY.values()), strict=True))
    assert {name: ("REDIS_URL" in text, is_one_sentence(text)) for name, text in found.items()} == dict.fromkeys(
        AWAY, (True, True)
    )


@pytest.mark.parametrize(
    "url", ["", "localhost", "http://localhost:6379", "redis://localhost:port", "redis://h/0?db=x"]
)
def test_an_address_that_is_none_names_the_setting(url: str) -> None:
    with pytest.raises(StoreUnavailable, match="REDIS_URL") as caught:
        connect(url)
    assert is_one_sentence(str(caught.value))


def test_a_wrong_address_does_not_show_its_password() -> None:
    with pytest.raises(StoreUnavailable) as caught:
        connect("redis://user:hunter2@localhost:port")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("policy", ["noeviction", "volatile-lru", "volatile-ttl"])
def test_a_server_that_keeps_what_has_no_expiry_is_taken(store: Redis, policy: str) -> None:
    store.config_set("maxmemory-policy", policy)
    try:
        require_durable(store)
        assert store.config_get("maxmemory-policy") == {"maxmemory-policy": policy}
    finally:
        store.config_set("maxmemory-policy", "noeviction")


@pytest.mark.parametrize("policy", ["allkeys-lru", "allkeys-lfu", "allkeys-random"])
def test_a_server_that_may_drop_records_is_refused(store: Redis, policy: str) -> None:
    store.config_set("maxmemory-policy", policy)
    try:
        with pytest.raises(StoreUnavailable, match=policy) as caught:
            require_durable(store)
        assert is_one_sentence(str(caught.value))
    finally:
        store.config_set("maxmemory-policy", "noeviction")
