"""That somebody was welcomed, on a real server: kept for good."""

from __future__ import annotations

import pytest
from redis import Redis

from bot.errors import StoreUnavailable
from bot.platform.store.connection import connect_server
from bot.platform.store.records import ThreadStateStore
from tests.helpers.checks import closed_port

KEY = "welcomed:U0ADA"


@pytest.fixture
def contexts(store: Redis) -> ThreadStateStore:
    return ThreadStateStore(store)


@pytest.mark.parametrize(
    "text", ["", "Größe 日本 \u2028 \x00 🎉", "words " * 5_000], ids=["empty", "signs", "long"]
)
def test_a_text_comes_back_as_it_was_put(contexts: ThreadStateStore, text: str) -> None:
    contexts.put(KEY, "older")
    contexts.put(KEY, text)
    assert contexts.get(KEY) == text


def test_of_a_thread_that_is_not_known_there_is_nothing(contexts: ThreadStateStore) -> None:
    assert contexts.get(KEY) is None


def test_what_can_not_be_read_is_nothing(contexts: ThreadStateStore, store: Redis) -> None:
    store.set(KEY, b"z no zlib")
    assert contexts.get(KEY) is None


def test_no_thread_is_forgotten(contexts: ThreadStateStore, store: Redis) -> None:
    store.set(KEY, b"pold", ex=60)
    contexts.put(KEY, "new")
    assert store.ttl(KEY) == -1


@pytest.mark.slow
@pytest.mark.parametrize("act", ["get", "put"])
def test_a_store_that_is_away_is_told_in_words(act: str) -> None:
    with connect_server(f"redis://127.0.0.1:{closed_port()}/0") as client, pytest.raises(StoreUnavailable):
        getattr(ThreadStateStore(client), act)(*([KEY, "text"] if act == "put" else [KEY]))
