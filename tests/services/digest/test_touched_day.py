"""A digest that is checked against a profile: what is read, what is shown, and what becomes of a problem."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from bot.domain.digest.models import Entry
from bot.domain.digest.view import DigestView, ViewLevel
from bot.domain.errors import StoreUnavailable
from bot.domain.pull_requests.filters import Filters
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.domain.time.day import LocalDay
from bot.features.digest.rules import Digest, Overview
from bot.services.digest.builder import DigestBuilder, DigestDependencies
from bot.services.digest.touched_day import TouchedDayReader
from bot.services.summaries.reader import PullRequestReader
from bot.services.summaries.summarizer import SummaryResult
from impact.contract.models import MergeContract
from impact.touches.models import MergeTouches, TouchReport
from tests.helpers.builders import DAY, REPOSITORY, changed_file, pull, summary
from tests.render.touched_days import change, contract, make_hit
from tests.services.doubles import KnownPulls

CORE, DOCS = [changed_file("engine/core.py")], [changed_file("docs/a.md")]
FOUR = (
    pull(4, files=CORE),
    pull(3, files=CORE, title="Revert #4"),
    pull(2, files=DOCS),
    pull(1, files=CORE),
)


class Judge:
    """Says that some merges touch, and remembers what it was asked and told."""

    def __init__(self, *touching: int, problem: str = "") -> None:
        self._touching = touching
        self._problem = problem
        self.judged: list[int] = []
        self.shown: list[tuple[str, str, list[int]]] = []

    def judge_merges(
        self, profile_name: str, pulls: Sequence[PullRequest]
    ) -> tuple[TouchReport, tuple[MergeContract, ...]]:
        if self._problem:
            raise StoreUnavailable(self._problem)
        self.judged += sorted(each.number for each in pulls)
        hits = tuple(make_hit(each.number) for each in pulls if each.number in self._touching)
        contracts = tuple(contract(each.number, change()) for each in pulls)
        return TouchReport(profile_name, len(pulls), 412, hits), contracts

    def note_shown(self, profile: str, repository: Repository, merges: Sequence[MergeTouches]) -> None:
        self.shown.append((profile, str(repository), [merge.number for merge in merges]))


def build(judge: Judge, view: DigestView) -> tuple[Digest, list[int]]:
    """The digest of four merges, and the numbers of those that the model read."""
    read: list[int] = []

    def summarise(each: PullRequest) -> SummaryResult:
        read.append(each.number)
        return SummaryResult(summary())

    def overview(_repository: Repository, _day: LocalDay, entries: tuple[Entry, ...]) -> Overview:
        return Overview(f"{len(entries)} entries.")

    pulls = KnownPulls(FOUR)
    reader = PullRequestReader(pulls, summarise)
    touches = TouchedDayReader(judge.judge_merges, judge.note_shown)
    daily = DigestBuilder(
        pulls,
        reader.read_pull_request,
        overview,
        reader.load_files,
        1,
        dependencies=DigestDependencies(read_touches=touches.read_day),
    )
    return daily.build(REPOSITORY, DAY, "Engine", view=view), sorted(read)


VIEWS = {
    "a profile hides nothing": (DigestView(profile="ascend"), [2], [1, 2, 3, 4], [1, 2, 3, 4]),
    "only what touches is read": (DigestView(only=ViewLevel.TOUCHING, profile="ascend"), [2], [2], [2]),
    "a revert belongs to it": (DigestView(only=ViewLevel.TOUCHING, profile="ascend"), [4], [3, 4], [3, 4]),
    "nothing touches": (DigestView(only=ViewLevel.TOUCHING, profile="ascend"), [], [], []),
    "what touches is shown besides risks": (
        DigestView(only=ViewLevel.RISKY, profile="ascend"),
        [1],
        [1, 3, 4],
        [1, 2, 3, 4],
    ),
}


@pytest.mark.parametrize(("view", "touching", "shown", "read"), VIEWS.values(), ids=VIEWS)
def test_a_view_of_what_touches(view: DigestView, touching: list[int], shown: list[int], read: list[int]) -> None:
    judge = Judge(*touching)
    day_digest, summarised = build(judge, view)
    assert sorted(entry.number for entry in day_digest.entries) == shown
    assert summarised == read
    assert day_digest.merged_count == 4
    assert day_digest.touches == TouchReport("ascend", 4, 412, tuple(map(make_hit, touching)))
    assert sorted(each.number for each in day_digest.contracts) == shown
    assert judge.shown == [("ascend", "octo/engine", touching)]


def test_what_filters_leave_out_is_not_judged() -> None:
    judge = Judge(2, 1)
    day_digest, _ = build(judge, DigestView(Filters(("docs",)), profile="ascend"))
    assert (judge.judged, [entry.number for entry in day_digest.entries]) == ([2], [2])


def test_without_a_profile_nobody_is_asked() -> None:
    judge = Judge(1)
    day_digest, _ = build(judge, DigestView())
    assert (day_digest.touches, day_digest.contracts, judge.judged, judge.shown) == (None, (), [], [])


@pytest.mark.parametrize("only", [ViewLevel.ALL, ViewLevel.TOUCHING])
def test_a_report_that_is_missing_is_a_gap_that_may_close_later(only: ViewLevel) -> None:
    day_digest, _ = build(Judge(problem="The store does not answer."), DigestView(only=only, profile="ascend"))
    assert day_digest.touches is None
    assert day_digest.gaps == ("what touches ascend is not known: The store does not answer",)
    assert len(day_digest.entries) == (0 if only else 4)
