from datetime import timedelta

from redis import Redis

from bot.platform.store.keys import ANSWER_PROGRESS, DUE_QUEUE, LAST_TICK
from tests.faults.judgement import MemoryLevel, judge_keys, judge_memory
from tests.faults.table import format_table
from tests.faults.trial import Outcome

LEVEL = MemoryLevel({"web": 100.0, "worker": 120.0, "clock": 90.0}, 2.0)


def test_keys_of_their_families_are_right(store: Redis) -> None:
    store.zadd(DUE_QUEUE.build_key(), {"item": 1})
    store.set(LAST_TICK.build_key(), "now", ex=timedelta(hours=1))
    store.set("dramatiq:anything", "1")
    assert list(judge_keys(store)) == []


def test_a_key_of_no_family_of_another_type_or_without_its_end_is_found(store: Redis) -> None:
    store.set("stray", "1")
    store.set(DUE_QUEUE.build_key(), "a string")
    store.hset(ANSWER_PROGRESS.build_key("command:1", "summary"), "field", "1")
    assert list(judge_keys(store)) == [
        "the key agenda is a string, not a zset",
        "the key answer:command:1:summary lives for -1 ms",
        "the key stray is of no family",
    ]


def test_memory_near_its_level_is_right() -> None:
    assert list(judge_memory(LEVEL, MemoryLevel({"web": 110.0, "worker": 130.0, "clock": 80.0}, 3.0))) == []


def test_memory_that_grew_is_found() -> None:
    after = MemoryLevel({"web": 200.0, "worker": 121.0, "clock": 90.0}, 12.0)
    assert list(judge_memory(LEVEL, after)) == [
        "the web process grew from 100 to 200 MB",
        "the store grew from 2.0 to 12.0 MB beside its keys",
    ]


def test_the_table_says_what_held_what_did_not_and_what_was_skipped() -> None:
    held = Outcome("a", "Slack", "down", "before the work", "20 s", quiet=3.0, accepted=4, growth="+1.0/+2.0/+0.1")
    broken = Outcome("b", "store", "full", "after 15 requests", "8 s", problems=["2 lead messages"])
    excused = Outcome("c", "disk", "full", "before the work", "8 s", skipped="no disk", excused=["3 answers"])
    lines = format_table([held, broken, excused], seed=7, seconds=12.0).splitlines()
    assert lines[2:5] == [
        "| Slack | down | before the work | 20 s | 4 / 0 / 0 | 3 s | +1.0/+2.0/+0.1 | yes |",
        "| store | full | after 15 requests | 8 s | 0 / 0 / 0 | 0 s |  | no |",
        "| disk | full | before the work | 8 s | 0 / 0 / 0 | 0 s |  | skipped: no disk |",
    ]
    assert lines[6:] == [
        "1 of 3 held, 1 skipped; seed 7, 12 s.",
        "",
        "- b: 2 lead messages",
        "- excused: c: 3 answers",
    ]
