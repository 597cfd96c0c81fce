"""What is known of threads, on a real server: kept for good."""

from __future__ import annotations

import pytest
from redis import Redis

from bot.adapters.redis.records.thread_states import RedisThreadStateStore
from bot.domain.errors import StoreUnavailable
from bot.platform.store.connection import connect_server
from bot.services.questions.thread_muting import ThreadMuting
from tests.helpers.checks import closed_port

KEY = "thread:C0DIGEST:100.000000"


@pytest.fixture
def contexts(store: Redis) -> RedisThreadStateStore:
    return RedisThreadStateStore(store)


@pytest.mark.parametrize(
    "text", ["", "Größe 日本 \u2028 \x00 🎉", "words " * 5_000], ids=["empty", "signs", "long"]
)
def test_a_text_comes_back_as_it_was_put(contexts: RedisThreadStateStore, text: str) -> None:
    contexts.put(KEY, "older")
    contexts.put(KEY, text)
    assert contexts.get(KEY) == text


def test_of_a_thread_that_is_not_known_there_is_nothing(contexts: RedisThreadStateStore) -> None:
    assert contexts.get(KEY) is None


def test_what_can_not_be_read_is_nothing(contexts: RedisThreadStateStore, store: Redis) -> None:
    store.set(KEY, b"z no zlib")
    assert contexts.get(KEY) is None


def test_no_thread_is_forgotten(contexts: RedisThreadStateStore, store: Redis) -> None:
    store.set(KEY, b"pold", ex=60)
    contexts.put(KEY, "new")
    assert store.ttl(KEY) == -1


def test_a_silenced_thread_stays_silent_for_good(contexts: RedisThreadStateStore, store: Redis) -> None:
    attention = ThreadMuting(contexts)
    attention.start_thread("C0DIGEST", "100.0")
    attention.mute("C0DIGEST", "200.0")
    attention.mute("C0DIGEST", "300.0")
    attention.unmute("C0DIGEST", "300.0")
    assert [store.ttl(key) for key in store.scan_iter()] == [-1, -1, -1]
    assert [attention.is_listening("C0DIGEST", f"{n}00.0", is_own=False) for n in (1, 2, 3, 4)] == [
        True,
        False,
        True,
        False,
    ]
    assert [attention.is_listening("C0DIGEST", f"{n}00.0", is_own=True) for n in (1, 2, 3, 4)] == [
        True,
        False,
        True,
        True,
    ]


@pytest.mark.slow
@pytest.mark.parametrize("act", ["get", "put"])
def test_a_store_that_is_away_is_told_in_words(act: str) -> None:
    with connect_server(f"redis://127.0.0.1:{closed_port()}/0") as client, pytest.raises(StoreUnavailable):
        getattr(RedisThreadStateStore(client), act)(*([KEY, "text"] if act == "put" else [KEY]))
