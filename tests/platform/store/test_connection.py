from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest
from redis import Redis

from bot.errors import StoreUnavailable
from bot.features.digest.posts import PostedDigest
from bot.platform.models.completion import ANSWERS
from bot.platform.slack.answers import AnsweredRequest
from bot.platform.store.connection import UNPREFIXED, RedisCache, connect_server, require_durable
from bot.platform.store.leases import hold_lease
from bot.platform.store.tables import Store
from tests.helpers.builders import NOON
from tests.helpers.checks import closed_port, eventually, is_one_sentence
from tests.helpers.records import Digests, answer_store, digest_store, plant

DAY = timedelta(days=1)


@pytest.fixture
def cache(store: Redis) -> RedisCache:
    return RedisCache(store)


@pytest.fixture
def records(store: Redis) -> Digests:
    return digest_store(store)


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


@pytest.mark.slow
def test_a_value_that_ran_out_is_gone(cache: RedisCache) -> None:
    cache.put("key", "value", timedelta(seconds=1))
    assert eventually(lambda: cache.get("key") is None)


def test_records_are_added_to_and_never_run_out(records: Digests, store: Redis) -> None:
    plant(records, "digest:1", plan_json="x" * 5_000, begun_at=NOON)
    plant(records, "digest:1", lead="1.1", plan_json="")
    assert records.load("digest:1") == PostedDigest(begun_at=NOON, lead="1.1")
    assert store.ttl("digest:1") == -1


def test_what_another_process_wrote_meanwhile_stays(records: Digests) -> None:
    before = plant(records, "digest:1", text="Engine", repair_attempts=1)
    plant(records, "digest:1", repair_attempts=2)
    records.save("digest:1", before, replace(before, text="Engine, 3 merged"))
    assert records.load("digest:1") == PostedDigest(text="Engine, 3 merged", repair_attempts=2)


def test_records_with_a_lifetime_run_out_after_the_last_that_was_added(store: Redis) -> None:
    records = answer_store(store, timedelta(hours=2))
    plant(records, "answer:1", begun_at=NOON)
    store.expire("answer:1", 60)
    plant(records, "answer:1", answered_at=NOON, draft_json="x" * 5_000)
    assert 7_190 <= int(str(store.ttl("answer:1"))) <= 7_200
    assert records.load("answer:1") == AnsweredRequest(NOON, NOON, draft_json="x" * 5_000)


@pytest.mark.slow
def test_records_that_ran_out_are_gone(store: Redis) -> None:
    records = answer_store(store, timedelta(seconds=1))
    plant(records, "answer:1", answered_at=NOON)
    assert eventually(lambda: records.load("answer:1") == AnsweredRequest())


def test_records_without_a_lifetime_take_none_from_others_of_another_key(store: Redis) -> None:
    plant(answer_store(store, timedelta(hours=2)), "answer:1", answered_at=NOON)
    plant(digest_store(store), "digest:1", posted_at=NOON)
    assert (store.ttl("digest:1"), int(str(store.ttl("answer:1"))) > 0) == (-1, True)


def test_a_digest_never_begun_has_no_record(records: Digests) -> None:
    assert records.load("digest:never") == PostedDigest()


def test_the_rights_to_post_different_digests_do_not_exclude_each_other(records: Digests, store: Redis) -> None:
    with records.hold_lock("digest:1"), records.hold_lock("digest:2"):
        assert store.dbsize() == 2
    assert store.dbsize() == 0


def test_the_right_to_post_is_free_after_its_holder_failed(records: Digests) -> None:
    with pytest.raises(KeyError), records.hold_lock("digest:1"):
        raise KeyError
    with records.hold_lock("digest:1"):
        pass


def test_a_lease_has_one_holder_among_threads(store: Redis) -> None:
    inside: list[int] = []
    peaks: list[int] = []

    def work(number: int) -> None:
        with hold_lease(store, UNPREFIXED, "question"):
            inside.append(number)
            peaks.append(len(inside))
            inside.remove(number)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert peaks == [1] * 8


def test_leases_of_other_names_are_not_waited_for(store: Redis) -> None:
    with hold_lease(store, UNPREFIXED, "one"), hold_lease(store, UNPREFIXED, "two"):
        assert store.dbsize() == 2


def test_a_lease_is_free_after_its_holder_failed(store: Redis) -> None:
    with pytest.raises(KeyError), hold_lease(store, UNPREFIXED, "question"):
        raise KeyError
    assert store.dbsize() == 0


# --- a store that is not there, or not fit


AWAY: dict[str, Callable[[Redis], object]] = {
    "get": lambda client: RedisCache(client).get("key"),
    "put": lambda client: RedisCache(client).put("key", "value", DAY),
    "lease": lambda client: Store(client).hold_lease(ANSWERS, "key").__enter__(),
    "load": lambda client: digest_store(client).load("key"),
    "save": lambda client: plant(digest_store(client), "key", text="value"),
    "save for a while": lambda client: plant(answer_store(client, DAY), "key", message="value"),
    "exclusive": lambda client: digest_store(client).hold_lock("key").__enter__(),
    "require_durable": require_durable,
}


@pytest.mark.slow
def test_a_store_that_is_away_is_told_in_one_sentence() -> None:
    def catch_refusal(act: Callable[[Redis], object]) -> str:
        with (
            connect_server(f"redis://127.0.0.1:{closed_port()}/0") as client,
            pytest.raises(StoreUnavailable) as caught,
        ):
            act(client)
        return str(caught.value)

    with ThreadPoolExecutor(len(AWAY)) as pool:
        messages = dict(zip(AWAY, pool.map(catch_refusal, AWAY.values()), strict=True))
    assert {
        name: ("REDIS_URL" in text, is_one_sentence(text)) for name, text in messages.items()
    } == dict.fromkeys(AWAY, (True, True))


@pytest.mark.parametrize(
    "url", ["", "localhost", "http://localhost:6379", "redis://localhost:port", "redis://h/0?db=x"]
)
def test_an_address_that_is_none_names_the_setting(url: str) -> None:
    with pytest.raises(StoreUnavailable, match="REDIS_URL") as caught:
        connect_server(url)
    assert is_one_sentence(str(caught.value))


def test_a_wrong_address_does_not_show_its_password() -> None:
    with pytest.raises(StoreUnavailable) as caught:
        connect_server("redis://user:hunter2@localhost:port")
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
