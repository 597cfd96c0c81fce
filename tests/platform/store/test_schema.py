"""The schema of what is kept for good: what an older version wrote is read, a newer one's is left alone."""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any, cast

import pytest
from redis import Redis

from bot.adapters.redis.records.feedback import RedisFeedbackStore
from bot.adapters.redis.records.thread_states import RedisThreadStateStore
from bot.app import open_app
from bot.domain.conversations.thread import RememberedMessage, ThreadMemory
from bot.domain.errors import StoreUnavailable
from bot.domain.subscriptions.models import DigestSpec
from bot.domain.time.date_range import Span
from bot.platform.store.connection import connect_server
from bot.platform.store.schema import (
    CURRENT_SCHEMA,
    SCHEMA_KEY,
    migrate_schema,
)
from bot.ports import ThreadMessage
from bot.services.digest.posted_digest import PostedDigest
from bot.services.digest.posting_plan import PostingPlan
from bot.services.digest.records import DigestRecords
from bot.services.questions.feedback import AnswerFeedback
from bot.services.questions.thread_memory import ThreadMemories
from bot.services.questions.thread_muting import ThreadMuting
from bot.settings import load_settings
from tests.adapters.worlds import MORNING
from tests.helpers.builders import DAY, NOON, REPOSITORY
from tests.helpers.checks import closed_port, is_one_sentence
from tests.helpers.records import digest_store
from tests.services.doubles import MemoryCache

CHANNEL, THREAD, DIRECT = "C0DIGEST", "100.000000", "D0ADA"
DIGEST = "digest:T0TEAM:C0DIGEST:octo/engine:2026-02-28"
LONG = "What was said of it. " * 100
MONTH, QUARTER = 30 * 86_400, 90 * 86_400
# as the version before wrote it, byte by byte
THREAD_1 = (
    b'p{"about":"digest:T0TEAM:C0DIGEST:octo/engine:2026-02-28","said":[{"by":"person","text":"Who?","is_short":'
    b'false},{"by":"bot","text":"Ada.","is_short":true}],"answered":"event:C0DIGEST:100.5"}'
)
LONG_THREAD_1 = b"z" + zlib.compress(
    f'{{"about":"","said":[{{"by":"bot","text":"{LONG}","is_short":false}}],"answered":""}}'.encode()
)
DIGEST_1: dict[Any, bytes] = {
    b"begun": b"p2026-03-01T08:00:00+00:00",
    b"plan": b"p",
    b"lead": b"p1772352000.000100",
    b"done": b"p2026-03-01T08:00:09+00:00",
}
BEGUN_1: dict[Any, bytes] = {
    b"begun": b"p2026-03-01T08:00:00+00:00",
    b"plan": b"z" + zlib.compress(json.dumps({"lead": {"text": LONG}, "thread": [], "attachment": None}).encode()),
}
VOTE_1 = (
    b'p{"verdict": "good", "at": "2026-03-01T09:00:00+00:00", "user": "U0ADA", "question": "Gr\\u00f6\\u00dfe?"}'
)


def written_by_version_1(store: Redis) -> None:
    store.set(f"thread:{CHANNEL}:{THREAD}", THREAD_1, ex=MONTH)
    store.set(f"thread:{DIRECT}:{THREAD}", LONG_THREAD_1, ex=MONTH)
    store.set(f"attention:{CHANNEL}:{THREAD}", b"pquiet", ex=QUARTER)
    store.set(f"attention:{DIRECT}:{THREAD}", b"pbegun", ex=QUARTER)
    store.hset(DIGEST, mapping=DIGEST_1)
    store.hset(DIGEST.replace("28", "27"), mapping=BEGUN_1)
    store.hset("votes", "C0DIGEST:100.7:U0ADA", cast("str", VOTE_1))
    store.set("entry:v:octo/engine#7", b"p{}", ex=MONTH)
    store.hset("answer:command:1.2.3:risks", "done", "pnow")
    store.expire("answer:command:1.2.3:risks", 86_400)


def lifetimes(store: Redis) -> dict[str, int]:
    return {cast("bytes", key).decode(): int(str(store.ttl(key))) for key in store.scan_iter()}


class NoSlack:
    """``ThreadReader`` that nobody is to read."""

    def list_messages(self, channel: str, thread: str) -> Sequence[ThreadMessage]:
        raise AssertionError("the thread is known")


def test_what_version_1_wrote_is_read(store: Redis) -> None:
    written_by_version_1(store)
    migrate_schema(store)
    memories = ThreadMemories(RedisThreadStateStore(store), NoSlack())
    attention = ThreadMuting(RedisThreadStateStore(store))
    records = digest_store(store)
    votes = AnswerFeedback(MemoryCache(), RedisFeedbackStore(store), lambda: NOON)
    spec = DigestSpec(CHANNEL, REPOSITORY, Span(DAY.date, DAY.date, DAY.zone))
    messages = (RememberedMessage("person", "Who?"), RememberedMessage("bot", "Ada.", is_short=True))
    assert memories.load_memory(CHANNEL, THREAD, "900.0") == ThreadMemory(DIGEST, messages, "event:C0DIGEST:100.5")
    assert memories.load_memory(DIRECT, THREAD, "900.0") == ThreadMemory("", (RememberedMessage("bot", LONG),))
    assert not attention.is_listening(CHANNEL, THREAD, is_own=True)
    assert attention.is_listening(DIRECT, THREAD, is_own=False)
    tracked_digest = DigestRecords(records, lambda: "T0TEAM").find_digest(spec)
    assert tracked_digest.record == PostedDigest(
        begun_at=datetime(2026, 3, 1, 8, tzinfo=UTC),
        lead="1772352000.000100",
        posted_at=datetime(2026, 3, 1, 8, 0, 9, tzinfo=UTC),
    )
    assert records.load(DIGEST.replace("28", "27")).plan == PostingPlan({"text": LONG}, (), None)
    assert [(vote.verdict, vote.question) for vote in votes.iterate_votes()] == [("good", "Größe?")]


def test_threads_do_not_expire_any_more_and_the_cache_does(store: Redis) -> None:
    written_by_version_1(store)
    migrate_schema(store)
    key_lifetimes = lifetimes(store)
    lasting = {key for key, lifetime in key_lifetimes.items() if lifetime == -1}
    assert lasting == {key for key in key_lifetimes if key.startswith(("thread:", "attention:", "digest:"))} | {
        "votes",
        SCHEMA_KEY,
    }
    assert (key_lifetimes["entry:v:octo/engine#7"], key_lifetimes["answer:command:1.2.3:risks"]) == (MONTH, 86_400)


@pytest.mark.slow
def test_all_of_many_threads_are_found(store: Redis) -> None:
    with store.pipeline() as together:
        for number in range(3_000):
            together.set(f"thread:C0DIGEST:{number}", b"p{}", ex=MONTH)
        together.execute()
    migrate_schema(store)
    assert set(lifetimes(store).values()) == {-1}


def test_an_empty_store_is_stamped_and_nothing_is_said(store: Redis, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "bot.platform.store.schema")
    migrate_schema(store)
    assert caplog.records == []
    assert {key: store.get(key) for key in store.scan_iter()} == {
        SCHEMA_KEY.encode(): str(CURRENT_SCHEMA).encode()
    }


def test_a_store_of_this_version_costs_one_get(store: Redis) -> None:
    migrate_schema(store)
    store.config_resetstat()
    migrate_schema(store)
    commands = cast("dict[str, dict[str, int]]", store.info("commandstats"))
    # beside the reset, connections of earlier tests may still be looked for
    others = {"cmdstat_config|resetstat", "cmdstat_client|list"}
    own = {name: figures["calls"] for name, figures in commands.items() if name not in others}
    assert own == {"cmdstat_get": 1}


def test_what_a_process_that_died_began_is_finished(store: Redis) -> None:
    written_by_version_1(store)
    store.persist(f"thread:{CHANNEL}:{THREAD}")
    store.set("lease:schema", "of the dead", px=300)
    began = time.monotonic()
    migrate_schema(store)
    assert time.monotonic() - began >= 0.2, "it may be alive"
    assert {key for key, lifetime in lifetimes(store).items() if lifetime != -1} == {
        "entry:v:octo/engine#7",
        "answer:command:1.2.3:risks",
    }


def test_many_processes_that_begin_at_once_migrate_once(store: Redis, caplog: pytest.LogCaptureFixture) -> None:
    written_by_version_1(store)
    caplog.set_level("INFO", "bot.platform.store.schema")
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda _: migrate_schema(store), range(6)))
    assert [record.message for record in caplog.records] == ["schema 2: 4 keys of threads do not expire any more"]


NOT_OURS = {
    "newer": (
        "3",
        "A newer prdigest wrote this store (schema 3, this version supports 2): upgrade, or use another",
    ),
    "much newer": ("412", "(schema 412, this version supports 2)"),
    "another's": ("public", "The store's key schema contains 'public': use another REDIS_URL."),
    "none": ("0", "'0'"),
    "no text": (b"\xff\n", "contains '"),
}


@pytest.mark.parametrize(("noted", "expected"), NOT_OURS.values(), ids=NOT_OURS)
def test_a_store_that_another_wrote_is_refused(store: Redis, noted: str | bytes, expected: str) -> None:
    written_by_version_1(store)
    store.set(SCHEMA_KEY, noted)
    before = lifetimes(store)
    with pytest.raises(StoreUnavailable) as caught:
        migrate_schema(store)
    assert expected in str(caught.value)
    assert is_one_sentence(str(caught.value))
    assert lifetimes(store) == before


def test_whoever_needs_lasting_records_has_them_migrated(
    store: Redis, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDIS_URL", store_url)
    written_by_version_1(store)
    with open_app(load_settings(), lambda: MORNING, time.sleep) as base:
        assert base.cache.get("entry:v:octo/engine#7") == "{}"
        assert store.get(SCHEMA_KEY) is None, "the cache alone needs no schema"
        assert base.store.ttl(f"thread:{CHANNEL}:{THREAD}") == -1
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
        migrate_schema(client)
    assert is_one_sentence(str(caught.value))
