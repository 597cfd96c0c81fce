"""What is kept for good goes from one store to another, whole or not at all."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, time, timedelta
from io import BytesIO
from typing import Any, cast
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redis import Redis

from bot.adapters.redis.due_queue import RedisDueQueue, RedisRunLog, RedisSubscriptionStore
from bot.adapters.redis.records.feedback import RedisFeedbackStore
from bot.adapters.redis.records.posted_digests import RedisPostedDigestIndex
from bot.adapters.redis.records.thread_states import RedisThreadStateStore
from bot.adapters.redis.transfer.export_lines import MAX_LINE_BYTES
from bot.adapters.redis.transfer.transfer import StoreTransfer
from bot.domain.errors import StoreUnavailable, UsageError
from bot.domain.operations.run import Run, RunOutcome
from bot.domain.pull_requests.models import Repository
from bot.domain.subscriptions.due_items import DigestRepair, NextDigest
from bot.domain.subscriptions.models import Subscription, Timing
from bot.platform.store.connection import RedisCache, connect_server, pack_value
from bot.platform.store.schema import CURRENT_SCHEMA, EXPORTED_FAMILIES, SCHEMA_KEY, migrate_schema
from tests.helpers.builders import NOON, REPOSITORY
from tests.helpers.checks import closed_port, is_one_sentence
from tests.helpers.records import plant_hash, read_hash

AT = datetime(2026, 3, 1, 6, 30, tzinfo=UTC)
DIGEST = "digest:T0TEAM:C0DIGEST:octo/engine:2026-02-28"
HARD = "Größe 日本 \u2028 \x00 🎉 \x85 \\ \" 'p' z"
LONG = "What was said of it, once more. " * 200
SUBSCRIPTION = Subscription("C0DIGEST", REPOSITORY, Timing(time(8), ZoneInfo("Europe/Berlin"), weekdays=True))
RUNS = [Run(NOON + timedelta(days=n), DIGEST, RunOutcome.POSTED, HARD) for n in range(3)]


def ignore_progress(done: int, total: int) -> None:
    """No progress bar."""


def export_lines(store: Redis) -> list[str]:
    return list(StoreTransfer(store).export_lines(AT, ignore_progress))


def as_file(lines: Iterable[str]) -> BytesIO:
    return BytesIO("".join(f"{line}\n" for line in lines).encode())


def restore_lines(
    store: Redis,
    lines: Iterable[str],
    progress: Callable[[int, int], None] = ignore_progress,
    *,
    overwrite: bool = False,
) -> dict[str, int]:
    return dict(StoreTransfer(store).import_file(as_file(lines), progress, overwrite=overwrite))


def export_of(*records: Any, schema: int = CURRENT_SCHEMA) -> list[str]:
    """The lines of an export of records, each a key, a type and a value."""
    head = {"prdigest": "export", "schema": schema, "at": "2026-03-01T06:30:00+00:00"}
    told = [dict(zip(("key", "type", "value"), record, strict=True)) for record in records]
    return [json.dumps(each) for each in (head, *told, {"prdigest": "end", "records": len(records)})]


def catch_refusal(store: Redis, file: BytesIO) -> str:
    """Why a file is not taken; nothing of it is."""
    with pytest.raises(UsageError) as caught:
        StoreTransfer(store).import_file(file, ignore_progress, overwrite=False)
    assert store.dbsize() == 0
    assert is_one_sentence(str(caught.value)), caught.value
    return str(caught.value)


def fill(store: Redis) -> None:
    """A little of everything, as the bot writes it."""
    RedisSubscriptionStore(store).put(SUBSCRIPTION)
    RedisDueQueue(store).put(NextDigest(SUBSCRIPTION.id), NOON)
    RedisDueQueue(store).put(DigestRepair(DIGEST), NOON + timedelta(hours=1))
    for run in RUNS:
        RedisRunLog(store).add_run(run)
    RedisFeedbackStore(store).put("C0DIGEST:101.0:U0ADA", json.dumps({"verdict": "good", "question": HARD}))
    plant_hash(store, DIGEST, begun="now", plan="", lead="100.0", text=LONG)
    RedisThreadStateStore(store).put("thread:C0DIGEST:100.0", HARD)
    RedisThreadStateStore(store).put("attention:C0DIGEST:100.0", "quiet")
    RedisThreadStateStore(store).put("welcomed:U0ASKER", "yes")
    plant_hash(store, "history:octo/engine", **{"7": LONG, "8": ""})
    plant_hash(store, "backfilled:octo/engine", **{"2026-02-28": "43"})
    RedisPostedDigestIndex(store).add(Repository("octo", "engine"), NOON, DIGEST)
    for key in ("profiles", "previews", "hits:ascend", "decisions:ascend"):
        plant_hash(store, key, a=HARD)
    RedisThreadStateStore(store).put("downstream:ascend", LONG)
    RedisThreadStateStore(store).put("deprecations:octo/engine", LONG)
    RedisCache(store).put("entry:v:octo/engine#7", "{}", timedelta(days=1))
    plant_hash(store, "answer:command:1:risks", done="now")
    store.expire("answer:command:1:risks", 86_400)
    store.hset("dramatiq:prdigest.msgs", "1", "{}")


# what an export looks like


def test_an_export_is_lines_of_json_that_a_person_can_read(store: Redis) -> None:
    RedisDueQueue(store).put(DigestRepair("abc"), NOON)
    RedisThreadStateStore(store).put("thread:C0DIGEST:100.0", '{"about":"Größe"}')
    plant_hash(store, DIGEST, lead="100.0", plan="")
    RedisRunLog(store).add_run(RUNS[0])
    journal = {"version": 1, "at": "2026-02-28T20:00:00Z", "key": DIGEST, "outcome": "posted", "detail": HARD}
    text = json.dumps(journal, ensure_ascii=False, separators=(",", ":"))
    assert export_lines(store) == [
        '{"prdigest": "export", "schema": 2, "at": "2026-03-01T06:30:00+00:00"}',
        '{"key": "agenda", "type": "zset", "value": {"mend:abc": 1772308800}}',
        f'{{"key": "{DIGEST}", "type": "hash", "value": {{"lead": "100.0", "plan": ""}}}}',
        json.dumps({"key": "journal", "type": "list", "value": [text]}, ensure_ascii=False),
        r'{"key": "thread:C0DIGEST:100.0", "type": "string", "value": "{\"about\":\"Größe\"}"}',
        '{"prdigest": "end", "records": 4}',
    ]


def test_an_empty_store_has_an_export_too(store: Redis) -> None:
    lines = export_lines(store)
    assert [json.loads(line)["prdigest"] for line in lines] == ["export", "end"]
    store.flushdb()
    assert restore_lines(store, lines) == {}


def test_an_export_has_all_that_is_kept_for_good_and_nothing_else(store: Redis) -> None:
    fill(store)
    keys = [json.loads(line)["key"] for line in export_lines(store)[1:-1]]
    assert keys == sorted(keys)
    assert {each.prefix for each in EXPORTED_FAMILIES} == {
        each.prefix for each in EXPORTED_FAMILIES if any(map(each.has_key, keys))
    }
    assert len(keys) == len(EXPORTED_FAMILIES)


def test_a_large_hash_is_told_in_several_lines(store: Redis) -> None:
    fields = {f"{number:03}": f"vote {number}" for number in range(250)}
    for name, vote in fields.items():
        RedisFeedbackStore(store).put(name, vote)
    lines = export_lines(store)
    values = [json.loads(line)["value"] for line in lines[1:-1]]
    assert [len(value) for value in values] == [100, 100, 50]
    store.flushdb()
    assert restore_lines(store, lines) == {"votes": 250}
    assert sorted(RedisFeedbackStore(store).list_votes()) == sorted(fields.values())


def test_an_older_store_is_migrated_before_it_is_exported(store: Redis) -> None:
    store.set("thread:C0DIGEST:100.0", b"p{}", ex=60)
    assert len(export_lines(store)) == 3
    assert store.ttl("thread:C0DIGEST:100.0") == -1


def test_a_key_that_goes_while_the_export_runs_is_left_out(store: Redis) -> None:
    for number in range(120):
        RedisThreadStateStore(store).put(f"thread:C0DIGEST:{number:03}", "said")
    lines = StoreTransfer(store).export_lines(AT, ignore_progress)
    began = [next(lines), next(lines)]
    store.delete("thread:C0DIGEST:119")
    lines_of_it = [*began, *lines]
    store.flushdb()
    assert restore_lines(store, lines_of_it) == {"thread": 119}


NOT_OURS: dict[str, tuple[str, Callable[[Redis], object]]] = {
    "another type": ("votes", lambda store: store.set("votes", "many")),
    "no packed field": ("subscriptions", lambda store: store.hset("subscriptions", "a", "{}")),
    "no packed text": ("thread:1", lambda store: store.set("thread:1", "")),
    "damaged": ("journal", lambda store: store.rpush("journal", cast("str", b"z" + zlib.compress(b"a")[:-3]))),
    "no text": ("attention:1", lambda store: store.set("attention:1", b"p\xff")),
    "no name": ("digest:1", lambda store: store.hset("digest:1", cast("str", b"\xff"), "p")),
    "never": ("agenda", lambda store: store.zadd("agenda", {"post:1": float("inf")})),
}


@pytest.mark.parametrize(("key", "write"), NOT_OURS.values(), ids=NOT_OURS)
def test_what_prdigest_never_wrote_is_named_instead_of_lost(
    store: Redis, key: str, write: Callable[[Redis], object]
) -> None:
    write(store)
    with pytest.raises(StoreUnavailable, match=f"prdigest did not write the store's key '{key}'") as caught:
        export_lines(store)
    assert is_one_sentence(str(caught.value))


# there and back


def test_everything_is_there_after_it_moved(store: Redis) -> None:
    fill(store)
    lines = export_lines(store)
    store.flushdb()
    assert restore_lines(store, lines) == {
        "subscriptions": 1,
        "agenda": 2,
        "journal": 3,
        "votes": 1,
        "digest": 1,
        "thread": 1,
        "attention": 1,
        "welcomed": 1,
        "history": 1,
        "deprecations": 1,
        "backfilled": 1,
        "issued": 1,
        "profiles": 1,
        "previews": 1,
        "downstream": 1,
        "hits": 1,
        "decisions": 1,
    }
    assert RedisSubscriptionStore(store).list_all() == (SUBSCRIPTION,)
    assert RedisDueQueue(store).list_due(NOON) == [(NextDigest(SUBSCRIPTION.id), NOON)]
    assert list(RedisRunLog(store).list_recent(9)) == RUNS[::-1]
    assert [json.loads(vote)["question"] for vote in RedisFeedbackStore(store).list_votes()] == [HARD]
    assert read_hash(store, DIGEST) == {"begun": "now", "plan": "", "lead": "100.0", "text": LONG}
    assert RedisThreadStateStore(store).get("thread:C0DIGEST:100.0") == HARD
    assert RedisThreadStateStore(store).get("attention:C0DIGEST:100.0") == "quiet"
    assert read_hash(store, "history:octo/engine") == {"7": LONG, "8": ""}
    assert {store.ttl(key) for key in store.scan_iter()} == {-1}
    assert store.get(SCHEMA_KEY) == b"2"
    assert export_lines(store) == lines
    assert RedisDueQueue(store).move(NextDigest(SUBSCRIPTION.id), NOON, NOON + timedelta(days=1)), "to the second"


TEXTS = st.text(max_size=20) | st.builds(lambda text: text * 300, st.text(min_size=1, max_size=9))
SEVERAL = st.dictionaries(st.text(max_size=9), TEXTS, min_size=1, max_size=3)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "string": TEXTS,
    "list": st.lists(TEXTS, min_size=1, max_size=4),
    "hash": SEVERAL,
    "zset": st.dictionaries(
        st.text(max_size=9), st.integers(0, 2**40) | st.floats(-1e9, 1e9), min_size=1, max_size=3
    ),
}


@st.composite
def records(draw: st.DrawFn) -> tuple[str, str, Any]:
    family = draw(st.sampled_from(EXPORTED_FAMILIES))
    key = family.prefix + (draw(st.text(max_size=9)) if family.prefix.endswith(":") else "")
    return key, family.type, draw(VALUES[family.type])


def put_value(store: Redis, key: str, kind: str, value: Any) -> None:
    if kind == "string":
        store.set(key, pack_value(value))
    elif kind == "list":
        store.rpush(key, *(cast("str", pack_value(text)) for text in value))
    elif kind == "hash":
        store.hset(key, mapping={name: pack_value(text) for name, text in value.items()})
    else:
        store.zadd(key, value)


@given(st.lists(records(), max_size=6, unique_by=lambda record: record[0]))
@pytest.mark.slow
def test_any_export_comes_back_to_the_letter(store_url: str, held: list[tuple[str, str, Any]]) -> None:
    with connect_server(store_url) as store:
        store.flushdb()
        for record in held:
            put_value(store, *record)
        lines = export_lines(store)
        store.flushdb()
        restore_lines(store, lines)
        assert export_lines(store) == lines
        restored_values = {each["key"]: each["value"] for each in map(json.loads, lines[1:-1])}
        assert restored_values == {key: value for key, _, value in held}


def test_how_far_it_is_can_be_seen(store: Redis) -> None:
    for number in range(120):
        RedisThreadStateStore(store).put(f"thread:C0DIGEST:{number}", "said")
    out: list[tuple[int, int]] = []
    into: list[tuple[int, int]] = []
    lines = list(StoreTransfer(store).export_lines(AT, lambda *seen: out.append(seen)))
    store.flushdb()
    restore_lines(store, lines, lambda *seen: into.append(seen))
    assert out == [(0, 120), (50, 120), (100, 120), (120, 120)]
    assert into == [(50, 120), (100, 120), (120, 120)]


# what is not taken

VOTE = ("votes", "hash", {"C1:1.0:U1": "{}"})
GOOD = export_of(VOTE)
BAD: dict[str, tuple[Sequence[str | bytes], str]] = {
    "empty": ([], "Line 1 is not the start of an export"),
    "something else": (["[]"], "Line 1 is not a JSON object"),
    "another's": (['{"name": "prdigest"}'], "Line 1 is not the start of an export"),
    "no head": (GOOD[1:], "Line 1 is not the start of an export"),
    "a head without a time": (['{"prdigest": "export", "schema": 2}', *GOOD[1:]], "Line 1 is not the start"),
    "schema zero": (export_of(VOTE, schema=0), "Line 1 is not the start of an export"),
    "newer": (
        export_of(VOTE, schema=3),
        "Line 1: a newer prdigest wrote this export (schema 3, this version supports 2)",
    ),
    "no end": (GOOD[:-1], "its last line is missing"),
    "cut off": ([GOOD[0], GOOD[1][:-9]], "Line 2 is not a JSON object"),
    "a line less": ([GOOD[0], *GOOD[2:]], "Line 2 announces 1 record, but 0 come before it"),
    "a line more": ([*GOOD[:2], *GOOD[1:]], "Line 4 announces 1 record, but 2 come before it"),
    "two exports": ([*GOOD, *GOOD], "Line 4 comes after the end"),
    "a head in the middle": ([*GOOD[:2], *GOOD], "Line 3 is neither a record nor the end"),
    "an empty line": ([GOOD[0], "", *GOOD[1:]], "Line 2 is not a JSON object"),
    "no utf-8": ([GOOD[0], b'{"key": "\xff"}'], "Line 2 is not a JSON object"),
    "half a character": (
        [GOOD[0], r'{"key": "thread:1", "type": "string", "value": "\ud83d"}'],
        "Line 2 is not a JSON",
    ),
    "deep": ([GOOD[0], '{"key":' * 9_000], "Line 2 is not a JSON object"),
    "gzip": ([b"\x1f\x8b\x08\x00 and more"], "Line 1 is not a JSON object"),
    "no value": ([GOOD[0], '{"key": "votes", "type": "hash"}'], "Line 2 is not a record"),
    "cache": (
        export_of(("entry:v:octo/engine#7", "string", "{}")),
        "Line 2: 'entry:v:octo/engine#7' is not a permanent key",
    ),
    "queue": (
        export_of(VOTE, ("dramatiq:prdigest", "list", ["1"])),
        "Line 3: 'dramatiq:prdigest' is not a permanent key",
    ),
    "the schema": (export_of(("schema", "string", "9")), "Line 2: 'schema' is not a permanent key"),
    "type": (export_of(("votes", "string", "{}")), "Line 2: the type of 'votes' is hash, not 'string'"),
    "no text": (export_of(("thread:1", "string", 7)), "Line 2: the value of 'thread:1' must be a text"),
    "null": (export_of(("thread:1", "string", None)), "Line 2: the value of 'thread:1' must be a text"),
    "no texts": (
        export_of(("votes", "hash", {"a": {}})),
        "Line 2: the value of 'votes' must be an object of texts",
    ),
    "no fields": (export_of(("votes", "hash", {})), "Line 2: the value of 'votes' must be an object of texts"),
    "no items": (export_of(("journal", "list", [])), "Line 2: the value of 'journal' must be a list of texts"),
    "no list": (export_of(("journal", "list", "ab")), "Line 2: the value of 'journal' must be a list of texts"),
    "no time": (
        export_of(("agenda", "zset", {"a": "7"})),
        "Line 2: the value of 'agenda' must be an object of num",
    ),
    "never": (export_of(("agenda", "zset", {"a": float("inf")})), "Line 2: the value of 'agenda' must be"),
    "true": (export_of(("agenda", "zset", {"a": True})), "Line 2: the value of 'agenda' must be"),
    "huge": (export_of(("agenda", "zset", {"a": 10**400})), "Line 2: the value of 'agenda' must be"),
    "twice": (export_of(VOTE, ("thread:1", "string", ""), VOTE), "Line 4 repeats 'votes'"),
    "a text twice": (export_of(("thread:1", "string", ""), ("thread:1", "string", "")), "Line 3 repeats"),
}


@pytest.mark.parametrize(("lines", "expected"), BAD.values(), ids=BAD)
def test_a_file_that_is_no_good_export_is_refused_before_anything_is_written(
    store: Redis, lines: Sequence[str | bytes], expected: str
) -> None:
    file = BytesIO(b"".join((line if isinstance(line, bytes) else line.encode()) + b"\n" for line in lines))
    assert expected in catch_refusal(store, file)


@pytest.mark.slow
def test_a_line_that_never_ends_is_not_read_to_its_end(store: Redis) -> None:
    file = BytesIO(GOOD[0].encode() + b"\n" + b" " * (MAX_LINE_BYTES + 9))
    assert catch_refusal(store, file) == "Line 2 is longer than 64 MB: prdigest did not write it."
    assert file.tell() == len(GOOD[0]) + 1 + MAX_LINE_BYTES + 1


def test_a_store_with_records_is_left_as_it_is(store: Redis) -> None:
    fill(store)
    before = export_lines(store)
    with pytest.raises(UsageError, match="already contains 17 records") as caught:
        restore_lines(store, GOOD)
    assert is_one_sentence(str(caught.value))
    assert export_lines(store) == before


def test_a_store_with_a_cache_alone_is_empty(store: Redis) -> None:
    RedisCache(store).put("entry:v:octo/engine#7", "{}", timedelta(days=1))
    migrate_schema(store)
    assert restore_lines(store, GOOD) == {"votes": 1}


def test_overwriting_replaces_what_the_file_holds_and_leaves_the_rest(store: Redis) -> None:
    fill(store)
    store.expire(DIGEST, 60)
    moved = export_of(
        (DIGEST, "hash", {"lead": "200.0"}), ("journal", "list", ["{}"]), ("thread:new", "string", "")
    )
    assert restore_lines(store, moved, overwrite=True) == {"digest": 1, "journal": 1, "thread": 1}
    assert read_hash(store, DIGEST) == {"lead": "200.0"}
    assert (store.ttl(DIGEST), store.llen("journal")) == (-1, 1)
    assert RedisThreadStateStore(store).get("thread:C0DIGEST:100.0") == HARD
    assert RedisThreadStateStore(store).get("thread:new") == ""


# an import that breaks off


class Died(BaseException):
    """The process ended here."""


def die(done: int, total: int) -> None:
    raise Died


@pytest.fixture
def broken_off(store: Redis) -> list[str]:
    """The lines of an import that ended after its first fifty."""
    for number in range(120):
        RedisThreadStateStore(store).put(f"thread:C0DIGEST:{number}", f"said {number}")
    lines = export_lines(store)
    store.flushdb()
    with pytest.raises(Died):
        restore_lines(store, lines, die)
    return lines


def test_nobody_takes_half_an_import_for_a_whole_store(store: Redis, broken_off: list[str]) -> None:
    assert len(list(store.scan_iter("thread:*"))) == 50
    with pytest.raises(StoreUnavailable, match="import into this store is not finished"):
        migrate_schema(store)
    with pytest.raises(StoreUnavailable, match="import into this store is not finished"):
        export_lines(store)


def test_running_it_again_finishes_it(store: Redis, broken_off: list[str]) -> None:
    assert restore_lines(store, broken_off) == {"thread": 120}
    assert export_lines(store) == broken_off


def test_another_file_is_not_mixed_into_it_unasked(store: Redis, broken_off: list[str]) -> None:
    with pytest.raises(UsageError, match="another file was interrupted") as caught:
        restore_lines(store, GOOD)
    assert is_one_sentence(str(caught.value))
    assert store.exists("votes") == 0
    assert restore_lines(store, GOOD, overwrite=True) == {"votes": 1}
    assert len(export_lines(store)) == 53


# schemas


@pytest.mark.parametrize(("schema", "lifetime"), [(1, -1), (2, 60)])
def test_an_export_of_an_older_schema_is_migrated_with_all_that_is_there(
    store: Redis, schema: int, lifetime: int
) -> None:
    migrate_schema(store)
    store.set("thread:old", b"pold", ex=60)
    restore_lines(store, export_of(("thread:1", "string", "new"), schema=schema), overwrite=True)
    assert (store.ttl("thread:old"), store.get(SCHEMA_KEY)) == (lifetime, b"2")
    assert RedisThreadStateStore(store).get("thread:1") == "new"


def test_an_older_store_is_migrated_before_it_is_added_to(store: Redis) -> None:
    store.set("thread:old", b"pold", ex=60)
    restore_lines(store, export_of(("thread:1", "string", "new")), overwrite=True)
    assert (store.ttl("thread:old"), store.ttl("thread:1"), store.get(SCHEMA_KEY)) == (-1, -1, b"2")


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_newer_store_is_not_written_to(store: Redis, overwrite: bool) -> None:
    store.set(SCHEMA_KEY, CURRENT_SCHEMA + 1)
    with pytest.raises(StoreUnavailable, match="newer prdigest"):
        restore_lines(store, GOOD, overwrite=overwrite)
    assert [store.get(SCHEMA_KEY), store.dbsize()] == [b"3", 1]


@pytest.mark.slow
def test_a_store_that_is_away_is_told_in_one_sentence() -> None:
    with connect_server(f"redis://127.0.0.1:{closed_port()}/0") as client:
        for act in (lambda: export_lines(client), lambda: restore_lines(client, GOOD)):
            with pytest.raises(StoreUnavailable) as caught:
                act()
            assert is_one_sentence(str(caught.value))
