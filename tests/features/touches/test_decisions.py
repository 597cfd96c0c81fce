from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from redis import Redis

from bot.app import App
from bot.features.profiles.service import ProfileEntry
from bot.features.touches.decisions import (
    HITS,
    build_hit_key,
    get_last_decisions,
    list_decisions,
    note_shown,
    record_decision,
    score_hits,
)
from bot.features.touches.lines import HitKey, TouchDecision, TouchVerdict
from bot.features.touches.tasks import remove_profile
from bot.platform.pulls.models import Reference
from impact.contract.models import ChangeKind, ContractChange, ContractClass
from impact.profile.models import Use, UseKind
from impact.repository import Repository
from impact.touches.models import MergeTouches, Touch, TouchLevel
from tests.helpers.apps import make_app
from tests.helpers.builders import NOON, REPOSITORY

USE = Use(UseKind.CALL, "engine.core.run", "plugin/worker.py", 7)
MERGE = HitKey(Reference(REPOSITORY, 1))


@pytest.fixture
def app(store: Redis) -> App:
    return make_app(store)


def change(name: str, kind: ChangeKind = ChangeKind.REMOVED) -> ContractChange:
    return ContractChange(ContractClass.FUNCTION, kind, name, "def run()", "", "engine/core.py", 3)


def show(app: App, *hits: tuple[str, TouchLevel]) -> None:
    touches = tuple(Touch(level, change(name), (USE,), "it is called", 1.0) for name, level in hits)
    note_shown(
        app,
        ProfileEntry("ascend", REPOSITORY, ()),
        [MergeTouches(1, "Change 1", "c0ffee", TouchLevel.BREAKS, 1.0, touches)],
    )


def say(app: App, hit: HitKey | str, verdict: TouchVerdict, by: str = "U1", at: datetime = NOON) -> TouchDecision:
    key = build_hit_key(REPOSITORY, 1, change(hit)) if isinstance(hit, str) else hit
    decision = TouchDecision(key, verdict, by, at)
    record_decision(app, "ascend", decision)
    return decision


def test_the_last_word_about_a_hit_counts(app: App) -> None:
    say(app, MERGE, TouchVerdict.OURS)
    last = say(app, MERGE, TouchVerdict.DONE, "U2")
    # what arrives late was said before
    say(app, MERGE, TouchVerdict.NOT_US, "U3", NOON - timedelta(minutes=1))
    other = say(app, "engine.core.run", TouchVerdict.NOT_US, "U1", NOON - timedelta(hours=1))
    assert list_decisions(app, "ascend", Repository("Octo", "Engine")) == {1: [last, other]}
    assert get_last_decisions(app, "ascend", REPOSITORY) == {1: last}
    assert list_decisions(app, "gaudi", REPOSITORY) == list_decisions(app, "ascend", Repository("a", "b")) == {}


def test_a_hit_keeps_the_time_at_which_it_was_first_shown(app: App) -> None:
    for days in range(2):
        app.now = lambda days=days: NOON + timedelta(days=days)  # type: ignore[misc]
        show(app, ("engine.core.run", TouchLevel.BREAKS))
    [hit] = app.tables.list_fields(HITS, "ascend").values()
    assert (hit.shown_at, hit.level, hit.name) == (NOON, TouchLevel.BREAKS, "engine.core.run")


def test_the_line_of_a_change_is_no_part_of_its_name() -> None:
    moved = replace(change("a"), line=99)
    assert build_hit_key(REPOSITORY, 1, moved) == build_hit_key(REPOSITORY, 1, change("a"))
    other = change("a", ChangeKind.SIGNATURE)
    assert build_hit_key(REPOSITORY, 1, other) != build_hit_key(REPOSITORY, 1, change("a"))


def test_the_score_says_what_became_of_each_level(app: App, store: Redis) -> None:
    show(app, *((name, TouchLevel.BREAKS) for name in "abcd"), ("e", TouchLevel.TOUCHES), ("f", TouchLevel.NO))
    # what cannot be read is left out
    store.hset("hits:ascend", "octo/engine#2 abc", b"zrubbish")
    for name, verdict in {"a": TouchVerdict.OURS, "b": TouchVerdict.DONE, "c": TouchVerdict.NOT_US}.items():
        say(app, name, verdict)
    breaks, silent, may_break, touches = score_hits(app, "ascend")
    assert (breaks.shown, breaks.ours, breaks.done, breaks.not_us, breaks.open) == (4, 1, 1, 1, 1)
    assert (breaks.right, breaks.judged) == (2, 3)
    assert (silent.level, silent.shown) == (TouchLevel.STOPS_SILENTLY, 0)
    assert (may_break.shown, touches.shown, touches.open) == (0, 1, 1)
    # what is said about a merge counts for its other hits
    say(app, MERGE, TouchVerdict.NOT_US)
    breaks = score_hits(app, "ascend")[0]
    assert (breaks.ours, breaks.done, breaks.not_us) == (1, 1, 2)


def test_removal_leaves_nothing(app: App, store: Redis) -> None:
    show(app, ("a", TouchLevel.BREAKS))
    say(app, "a", TouchVerdict.OURS)
    app.profiles.put(ProfileEntry.build("ascend", REPOSITORY, ()))
    remove_profile(app, "ascend")
    assert store.dbsize() == 0
