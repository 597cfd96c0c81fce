"""The news of others about what waits for a profile: each told once, by when the bot read the commit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from redis import Redis

from bot.app import App
from bot.features.merges.others import OtherHistory, SeenCommit
from bot.features.profiles.others import OTHERS
from bot.features.profiles.service import PinnedMerge, ProfileEntry
from bot.features.touches.contracts import keep_contract
from bot.features.touches.decisions import record_decision
from bot.features.touches.lines import HitKey, TouchDecision, TouchVerdict
from bot.features.touches.others import find_news
from bot.platform.pulls.models import Reference
from bot.settings.values import parse_downstreams
from impact.contract.models import ChangeKind, ContractChange, ContractClass, MergeContract
from impact.history.causes import FollowingCommit, Response
from impact.profile.models import Profile, Use, UseKind
from impact.python.models import CallShape
from impact.repository import Repository
from tests.helpers.apps import make_app
from tests.helpers.builders import DAY, NOON, REPOSITORY, pull

ALPHA, BETA = Repository("kin", "alpha"), Repository("kin", "beta")
NAME = "engine.core.stop_serving"
USE = Use(UseKind.CALL, NAME, "plugin/a.py", 7, "stop_serving()", (NAME,), call=CallShape())
PINNED = NOON - timedelta(days=20)
EARLIER, TODAY = NOON - timedelta(days=1), NOON


def commit(at: datetime = NOON - timedelta(days=2), seen_at: datetime = TODAY, number: int = 7) -> SeenCommit:
    return SeenCommit(FollowingCommit(number, f"{at:%d}" * 20, at, "Fix it", Response.FIXED), seen_at)


@dataclass
class Case:
    """What is known; the names of those whose news the days tell, yesterday's and today's."""

    days: tuple[list[str], list[str]] = ([], [])
    alpha: Sequence[SeenCommit] = (commit(),)
    beta: Sequence[SeenCommit] = ()
    verdicts: Sequence[TouchVerdict] = ()
    verdict_by: str = "U1"
    pinned: datetime | None = PINNED
    source: Repository | None = None
    uses: tuple[Use, ...] = (USE,)
    kind: ChangeKind = ChangeKind.REMOVED
    listed: str = f"{REPOSITORY}={ALPHA},{BETA}"
    problem: str = ""
    merge: dict[str, Any] = field(default_factory=dict)
    is_reverted: bool = False
    has_mirror: bool = True


ONE: tuple[list[str], list[str]] = ([], ["alpha"])
CASES = {
    "read today": Case(ONE),
    "read yesterday": Case((["alpha"], []), [commit(seen_at=EARLIER)]),
    "written long ago and read today": Case(ONE, [commit(NOON - timedelta(days=9))]),
    "read at the first instant of the day": Case(ONE, [commit(seen_at=DAY.start)]),
    "read at the last instant of the day before": Case(
        (["alpha"], []), [commit(seen_at=DAY.start - timedelta(microseconds=1))]
    ),
    "another one a day later is no news": Case((["alpha"], []), [commit(seen_at=EARLIER)], [commit()]),
    "of two on a day the one who was first": Case(
        ([], ["beta"]), [commit()], [commit(NOON - timedelta(days=4), TODAY + timedelta(hours=1))]
    ),
    "its second commit is no news": Case((["alpha"], []), [commit(seen_at=EARLIER), commit(NOON)]),
    "seen before both days": Case(alpha=[commit(seen_at=NOON - timedelta(days=5))]),
    "seen by a clock that goes wrong, after today": Case(alpha=[commit(seen_at=NOON + timedelta(days=2))]),
    "of another merge": Case(alpha=[commit(number=8)]),
    "not us": Case(verdicts=[TouchVerdict.NOT_US]),
    "done": Case(verdicts=[TouchVerdict.DONE]),
    "closed itself": Case(verdicts=[TouchVerdict.DONE], verdict_by=""),
    "ours": Case(ONE, verdicts=[TouchVerdict.OURS]),
    "ours after all": Case(ONE, verdicts=[TouchVerdict.NOT_US, TouchVerdict.OURS]),
    "the pin is past it": Case(pinned=NOON - timedelta(days=2)),
    "the pin is the merge": Case(pinned=NOON - timedelta(days=3)),
    "no pin": Case(pinned=None),
    "reverted upstream": Case(is_reverted=True),
    "into another branch": Case(merge={"base": "release"}),
    "not used": Case(uses=()),
    "touches alone": Case(kind=ChangeKind.DEFAULT),
    "its own repository": Case(source=ALPHA),
    "its own repository, and another": Case(([], ["beta"]), beta=[commit()], source=ALPHA),
    "can't be fetched, and was read before": Case(ONE, problem="alpha can't be fetched"),
    "off": Case(listed="off"),
    "of another upstream": Case(listed=f"octo/motor={ALPHA}"),
    "no mirror": Case(has_mirror=False),
}


def make_case(store: Redis, case: Case) -> App:
    app = make_app(store, SimpleNamespace(source_mirror=object() if case.has_mirror else None, source_trees=None))
    app.settings = app.settings.model_copy(
        update={"prdigest_downstreams": parse_downstreams(case.listed), "prdigest_type_checker": "off"}
    )
    merged = pull(7, merged_at=NOON - timedelta(days=3), **case.merge)
    merges = [merged, pull(5, merged_at=PINNED)]
    if case.is_reverted:
        body = f"This reverts commit {merged.merge_commit}."
        merges.append(pull(9, title=f'Revert "{merged.title}" (#7)', body=body, merged_at=NOON))
    app.merge_history.record_merges(merges)
    change = ContractChange(
        ContractClass.FUNCTION, case.kind, NAME, "def f(a=1)", "def f(a=2)", "engine/core.py", 1
    )
    keep_contract(app, merged, MergeContract(7, merged.commit, merged.merge_time, "Drop", changes=(change,)))
    pin = PinnedMerge("abc1234", "abc1234" + "0" * 33, case.pinned) if case.pinned else None
    entry = ProfileEntry("ours", REPOSITORY, ("engine",), case.source, uses=1, files=1, pin=pin)
    app.profiles.put(entry, Profile("ours", ("engine",), "", "c0ffee", NOON, case.uses, {}, 1))
    for at, verdict in enumerate(case.verdicts):
        key = HitKey(Reference(REPOSITORY, 7))
        made = TouchDecision(key, verdict, case.verdict_by, NOON - timedelta(hours=5 - at))
        record_decision(app, "ours", made)
    for repository, commits in ((ALPHA, case.alpha), (BETA, case.beta)):
        history = OtherHistory(repository, NOON, commits=tuple(commits), problem=case.problem)
        app.tables.put_field(OTHERS, str(repository), history, str(REPOSITORY))
    return app


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_others_first_changed_for_is_told_once(store: Redis, case: Case) -> None:
    app = make_case(store, case)
    starts = DAY.start - timedelta(days=1), DAY.start
    days = [find_news(app, "ours", start, start + timedelta(days=1)) for start in starts]
    assert tuple([each.commit.by for each in news] for news in days) == case.days
    assert {each.pull.number for news in days for each in news} <= {7}


def test_nobody_without_a_profile_has_news(store: Redis) -> None:
    assert find_news(make_case(store, Case()), "nobody", DAY.start, DAY.end) == ()
