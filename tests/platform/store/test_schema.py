"""The schema of what is kept for good: a new store gets this version's, and that of another is left alone."""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import cast

import pytest
from redis import Redis

from bot.app import open_app
from bot.errors import StoreUnavailable
from bot.platform.store.connection import connect_server
from bot.platform.store.server import CURRENT_SCHEMA, SCHEMA_KEY, read_version, require_schema
from bot.settings import load_settings
from tests.helpers.checks import closed_port, is_one_sentence
from tests.helpers.worlds import MORNING


def test_a_new_store_is_stamped(store: Redis) -> None:
    assert read_version(store) is None
    require_schema(store)
    assert read_version(store) == CURRENT_SCHEMA
    assert {key: store.get(key) for key in store.scan_iter()} == {
        SCHEMA_KEY.encode(): str(CURRENT_SCHEMA).encode()
    }


def test_a_store_of_this_version_costs_one_get(store: Redis) -> None:
    require_schema(store)
    store.config_resetstat()
    require_schema(store)
    commands = cast("dict[str, dict[str, int]]", store.info("commandstats"))
    # beside the reset, connections of earlier tests may still be looked for
    others = {"cmdstat_config|resetstat", "cmdstat_client|list"}
    own = {name: figures["calls"] for name, figures in commands.items() if name not in others}
    assert own == {"cmdstat_get": 1}


def test_many_processes_may_begin_at_once(store: Redis) -> None:
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda _: require_schema(store), range(6)))
    assert read_version(store) == CURRENT_SCHEMA


NOT_OURS = {
    "newer": (
        "4",
        "A newer prdigest wrote this store (schema 4, this version supports 3): upgrade, or use another",
    ),
    "much newer": ("412", "(schema 412, this version supports 3)"),
    "older": ("2", "A prdigest before 0.1.0 wrote this store (schema 2, this version supports 3): use another"),
    "another's": ("public", "The store's key schema contains 'public': use another REDIS_URL."),
    "none": ("0", "'0'"),
    "no text": (b"\xff\n", "contains '"),
}


@pytest.mark.parametrize(("noted", "expected"), NOT_OURS.values(), ids=NOT_OURS)
def test_a_store_that_another_wrote_is_refused(store: Redis, noted: str | bytes, expected: str) -> None:
    store.set(SCHEMA_KEY, noted)
    before = store.dump(SCHEMA_KEY)
    with pytest.raises(StoreUnavailable) as caught:
        require_schema(store)
    assert expected in str(caught.value)
    assert is_one_sentence(str(caught.value))
    assert (store.dump(SCHEMA_KEY), store.dbsize()) == (before, 1)


def test_whoever_needs_lasting_records_has_the_version_looked_at(
    store: Redis, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDIS_URL", store_url)
    with open_app(load_settings(), lambda: MORNING, time.sleep) as base:
        assert base.cache.get("entry:v:octo/engine#7") is None
        assert store.get(SCHEMA_KEY) is None, "the cache alone needs no schema"
        assert base.store.get(SCHEMA_KEY) == str(CURRENT_SCHEMA).encode()
    store.set(SCHEMA_KEY, CURRENT_SCHEMA + 1)
    with (
        open_app(load_settings(), lambda: MORNING, time.sleep) as base,
        pytest.raises(StoreUnavailable, match="newer"),
    ):
        _ = base.store


@pytest.mark.slow
def test_a_store_that_is_away_is_told_in_one_sentence() -> None:
    with (
        connect_server(f"redis://127.0.0.1:{closed_port()}/0") as client,
        pytest.raises(StoreUnavailable) as caught,
    ):
        require_schema(client)
    assert is_one_sentence(str(caught.value))
