"""What a Slack that begins again forgets, and what it keeps."""

from datetime import timedelta

import pytest
from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from bot.errors import StoreUnavailable
from bot.features import import_features
from bot.platform.store.connection import RedisCache
from bot.platform.store.erasure import reset_store
from bot.platform.store.keys import FAMILIES, DurableFamily
from bot.platform.store.server import SCHEMA_KEY, require_schema
from tests.helpers.checks import closed_port

KEPT = ("llm:1", "entry:1", "files:1", "day:1", "history:o/r:2026-02-28", "backfilled:o/r:UTC", "spent:2026-02-28")
GONE = ("answer:1:post", "sent:1", "regular:1", "waiting:C1:1.5", "rate:U1", "lease:llm:1", "dramatiq:prdigest")


def test_what_was_bought_and_read_stays_and_all_else_goes(store: Redis) -> None:
    require_schema(store)
    import_features()
    durable = [family for family in FAMILIES if isinstance(family, DurableFamily)]
    keys = [family.prefix + ("1" if family.prefix.endswith(":") else "") for family in durable]
    for key in (*KEPT, *GONE, *keys):
        store.set(key, "x")
    reset_store(store)
    assert {key.decode() for key in store.scan_iter()} == {
        *KEPT,
        "history:1",
        "backfilled:1",
        "deprecations:1",
        "renamed",
        SCHEMA_KEY,
    }


@pytest.mark.slow
def test_of_very_many_none_stays(store: Redis) -> None:
    for number in range(1_203):
        store.set(f"thread:{number}", "x")
    reset_store(store)
    assert store.dbsize() == 0


def test_an_empty_store_and_one_that_was_forgotten_before(store: Redis) -> None:
    reset_store(store)
    reset_store(store)
    assert store.dbsize() == 0


def test_what_models_wrote_is_found_again(store: Redis) -> None:
    cache = RedisCache(store)
    cache.put("llm:1", "said", timedelta(days=1))
    reset_store(store)
    assert cache.get("llm:1") == "said"


def test_a_store_that_is_away_is_said() -> None:
    with Redis(port=closed_port(), retry=Retry(NoBackoff(), 0)) as away, pytest.raises(StoreUnavailable):
        reset_store(away)
