"""Hits and what people say about them, on a real store."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from redis import Redis

from bot.adapters.redis import RedisTouchStore
from bot.domain.pull_requests.reference import Reference
from bot.domain.touches.decisions import HitKey, TouchVerdict, build_hit_key
from bot.services.touches.decisions import TouchDecisions
from impact.contract.models import ChangeKind, ContractChange, ContractClass
from impact.profile.models import Use, UseKind
from impact.touches.models import MergeTouches, Touch, TouchLevel
from tests.helpers.builders import NOON, REPOSITORY

USE = Use(UseKind.CALL, "engine.core.run", "plugin/worker.py", 7)


def change(name: str, kind: ChangeKind = ChangeKind.REMOVED) -> ContractChange:
    return ContractChange(ContractClass.FUNCTION, kind, name, "def run()", "", "engine/core.py", 3)


def merge(number: int, *hits: tuple[str, TouchLevel]) -> MergeTouches:
    touches = tuple(Touch(level, change(name), (USE,), "it is called", 1.0) for name, level in hits)
    return MergeTouches(number, f"Change {number}", "c0ffee", TouchLevel.BREAKS, 1.0, touches)


@pytest.fixture
def decisions(store: Redis) -> TouchDecisions:
    return TouchDecisions(RedisTouchStore(store), lambda: NOON)


def test_the_last_word_about_a_hit_counts(decisions: TouchDecisions) -> None:
    hit = build_hit_key(REPOSITORY, 1, change("engine.core.run"))
    decisions.record("ascend", hit, TouchVerdict.OURS, "U1")
    decision = decisions.record("ascend", hit, TouchVerdict.DONE, "U2")
    assert decisions.list_decisions("ascend") == {hit: decision}
    assert (decision.by, decision.at, decision.verdict) == ("U2", NOON.astimezone(UTC), "done")
    assert decisions.list_decisions("gaudi") == {}


def test_a_hit_keeps_the_time_at_which_it_was_first_shown(store: Redis) -> None:
    times = iter([NOON, datetime(2027, 1, 1, tzinfo=UTC)])
    decisions = TouchDecisions(RedisTouchStore(store), lambda: next(times))
    for _ in range(2):
        decisions.note_shown("ascend", REPOSITORY, [merge(1, ("engine.core.run", TouchLevel.BREAKS))])
    [hit] = decisions.list_hits("ascend").values()
    assert (hit.shown_at, hit.level, hit.name) == (NOON, TouchLevel.BREAKS, "engine.core.run")


def test_the_line_of_a_change_is_no_part_of_its_name() -> None:
    moved = replace(change("a"), line=99)
    assert build_hit_key(REPOSITORY, 1, moved) == build_hit_key(REPOSITORY, 1, change("a"))
    other = change("a", ChangeKind.SIGNATURE)
    assert build_hit_key(REPOSITORY, 1, other) != build_hit_key(REPOSITORY, 1, change("a"))


def test_the_score_says_what_became_of_each_level(decisions: TouchDecisions) -> None:
    shown = [(name, TouchLevel.BREAKS) for name in "abcd"] + [("e", TouchLevel.TOUCHES), ("f", TouchLevel.NO)]
    decisions.note_shown("ascend", REPOSITORY, [merge(1, *shown)])
    verdicts = {"a": TouchVerdict.OURS, "b": TouchVerdict.DONE, "c": TouchVerdict.NOT_US}
    for name, verdict in verdicts.items():
        decisions.record("ascend", build_hit_key(REPOSITORY, 1, change(name)), verdict, "U1")
    breaks, may_break, touches = decisions.score("ascend")
    assert (breaks.shown, breaks.ours, breaks.done, breaks.not_us, breaks.open) == (4, 1, 1, 1, 1)
    assert (breaks.right, breaks.judged) == (2, 3)
    assert (may_break.shown, touches.shown, touches.open) == (0, 1, 1)


def test_what_is_said_about_a_merge_counts_for_its_hits(decisions: TouchDecisions) -> None:
    decisions.note_shown("ascend", REPOSITORY, [merge(1, ("a", TouchLevel.BREAKS), ("b", TouchLevel.BREAKS))])
    decisions.record("ascend", HitKey(Reference(REPOSITORY, 1)), TouchVerdict.NOT_US, "U1")
    decisions.record("ascend", build_hit_key(REPOSITORY, 1, change("a")), TouchVerdict.DONE, "U1")
    breaks = decisions.score("ascend")[0]
    assert (breaks.shown, breaks.done, breaks.not_us) == (2, 1, 1)


def test_removal_leaves_nothing(decisions: TouchDecisions) -> None:
    decisions.note_shown("ascend", REPOSITORY, [merge(1, ("a", TouchLevel.BREAKS))])
    decisions.record("ascend", build_hit_key(REPOSITORY, 1, change("a")), TouchVerdict.OURS, "U1")
    decisions.remove_all("ascend")
    assert (decisions.list_hits("ascend"), decisions.list_decisions("ascend")) == ({}, {})


@pytest.mark.slow
def test_what_cannot_be_read_is_left_out(store: Redis, decisions: TouchDecisions) -> None:
    decisions.note_shown("ascend", REPOSITORY, [merge(1, ("a", TouchLevel.BREAKS))])
    store.hset("hits:ascend", "octo/engine#2 abc", b"zrubbish")
    store.hset("hits:ascend", "octo/engine#3 abc", b"p{}")
    assert len(decisions.list_hits("ascend")) == 1
