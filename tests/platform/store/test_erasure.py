import json
from typing import Any, cast

import pytest
from redis import Redis
from redis.client import Pipeline

from bot.platform.store.connection import UNPREFIXED, Keyspace, pack_value, unpack_value
from bot.platform.store.erasure import ErasureCount, StoreEraser
from bot.platform.store.forgotten_ids import ForgottenIds

ADA = ForgottenIds(frozenset({"U0ADA"}), frozenset({"D0ADA"}))
LONG = "x" * 5_000


@pytest.mark.parametrize("keys", [UNPREFIXED, Keyspace("team-a")], ids=["alone", "shared"])
def test_a_decision_a_run_and_an_incident_keep_what_is_not_hers(store: Redis, keys: Keyspace) -> None:
    texts = {
        "decisions:ascend": {"octo/engine#1 ab": '{"by":"U0ADA","verdict":"done"}'},
        "digest:T0:C0DEV:octo/engine:2026-02-28": {"payer": "T0:U0ADA", "text": "18 merged", "plan": LONG},
        "report:ab": {"channel": "D0ADA", "ts": "17.5"},
    }
    for name, fields in texts.items():
        store.hset(keys.add_prefix(name), mapping={part: pack_value(text) for part, text in fields.items()})
    runs = ['{"key":"digest:T0:D0ADA:a/b:1"}', f'{{"key":"other","detail":"<@U0ADA> {LONG}"}}', '{"key":"last"}']
    store.rpush(keys.add_prefix("journal"), *map(cast("Any", pack_value), runs))
    store.set(keys.add_prefix("trouble:x"), pack_value('{"to":"U0ADA","key":"x"}'), ex=1_000)

    eraser = StoreEraser(store, keys)
    counts = eraser.erase(ADA, is_counted_only=True)
    assert eraser.erase(ADA) == counts
    assert sum(each.removed for each in counts.values()) == 2
    assert sum(each.redacted for each in counts.values()) == 4
    assert counts["the last runs, newest first"] == ErasureCount(1, 1)

    read = {name: store.hgetall(keys.add_prefix(name)) for name in texts}
    decision, record, report = (
        {part.decode(): unpack_value(text) for part, text in cast("dict[bytes, bytes]", fields).items()}
        for fields in read.values()
    )
    assert decision == {"octo/engine#1 ab": '{"by":"UFORGOTTEN","verdict":"done"}'}
    assert record == {"text": "18 merged", "plan": LONG}
    assert report == {}
    journal = [unpack_value(item) for item in cast("list[bytes]", store.lrange(keys.add_prefix("journal"), 0, -1))]
    assert journal == [f'{{"key":"other","detail":"<@UFORGOTTEN> {LONG}"}}', '{"key":"last"}']
    trouble = keys.add_prefix("trouble:x")
    assert unpack_value(cast("bytes", store.get(trouble))) == '{"to":"","key":"x"}'
    assert 900 < store.ttl(trouble) <= 1_000
    assert eraser.erase(ADA) == {}


def test_what_another_bot_on_the_same_server_stores_stays(store: Redis) -> None:
    store.set("team-b/welcomed:U0ADA", "p")
    assert StoreEraser(store, Keyspace("team-a")).erase(ADA) == {}
    assert store.get("team-b/welcomed:U0ADA") == b"p"


def test_her_jobs_leave_their_queues_and_those_of_others_stay(store: Redis) -> None:
    def put_job(queue: str, name: str, user: str, text: str = "") -> None:
        store.hset(f"dramatiq:{queue}.msgs", name, json.dumps({"args": [{"user": user, "text": text}]}))

    for name, user, text in (("1", "U0ADA", ""), ("2", "U0BEN", "<@U0ADA>"), ("3", "U0BEN", "")):
        put_job("prdigest", name, user, text)
        store.rpush("dramatiq:prdigest", name)
    put_job("prdigest.XQ", "4", "U0ADA")
    store.zadd("dramatiq:prdigest.XQ", {"4": 1.0})
    counts = StoreEraser(store).erase(ADA)
    assert counts == {"jobs that wait": ErasureCount(2, 1)}
    assert store.lrange("dramatiq:prdigest", 0, -1) == [b"2", b"3"]
    kept = cast("dict[bytes, bytes]", store.hgetall("dramatiq:prdigest.msgs"))
    assert json.loads(kept[b"2"])["args"] == [{"user": "U0BEN", "text": "<@UFORGOTTEN>"}]
    assert store.exists("dramatiq:prdigest.XQ", "dramatiq:prdigest.XQ.msgs") == 0


def test_plans_of_her_own_subscription_go_with_it(store: Redis) -> None:
    store.hset("subscriptions", "11112222", cast("str", pack_value('{"channel":"D0ADA","by":"U0ADA"}')))
    store.hset("subscriptions", "33334444", cast("str", pack_value('{"channel":"C0DEV","by":"U0BEN"}')))
    store.zadd("agenda", {"11112222": 1, "33334444": 2, "watch:octo/engine": 3})
    for name in ("sent:11112222:2026-03-01T17:00:00+00:00", "sent:33334444:2026-03-01T17:00:00+00:00"):
        store.set(name, "p", ex=100)
    # a commit may begin with the same digits
    store.set("sources:octo/engine:11112222:ab", "p", ex=100)
    store.set("lease:thread:D0ADA:1", "token", ex=6)
    StoreEraser(store).erase(ADA)
    assert store.zrange("agenda", 0, -1) == [b"33334444", b"watch:octo/engine"]
    assert sorted(cast("list[bytes]", store.keys("s*"))) == [
        b"sent:33334444:2026-03-01T17:00:00+00:00",
        b"sources:octo/engine:11112222:ab",
        b"subscriptions",
    ]
    # who holds it works on something
    assert store.exists("lease:thread:D0ADA:1")


class Busy(Redis):
    """A client whose first transaction comes just after somebody else's vote."""

    has_voted = False

    def pipeline(self, transaction: bool = True, shard_hint: str | None = None) -> Pipeline:
        return BusyPipeline(self, self.connection_pool, self.response_callbacks, transaction, shard_hint)


class BusyPipeline(Pipeline):
    def __init__(self, owner: Busy, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._owner = owner

    def execute(self, raise_on_error: bool = True) -> list[Any]:
        if not self._owner.has_voted:
            self._owner.has_voted = True
            self._owner.hset("votes", "C0DEV:2.5:U0ADA", cast("str", pack_value('{"user":"U0ADA"}')))
        return super().execute(raise_on_error)


def test_a_key_that_is_written_meanwhile_is_read_again(store: Redis) -> None:
    store.hset("votes", "C0DEV:1.5:U0ADA", cast("str", pack_value('{"user":"U0ADA"}')))
    store.hset("votes", "C0DEV:1.5:U0BEN", cast("str", pack_value('{"user":"U0BEN"}')))
    busy = Busy(connection_pool=store.connection_pool)
    StoreEraser(busy).erase(ADA)
    assert busy.has_voted
    assert store.hkeys("votes") == [b"C0DEV:1.5:U0BEN"]
