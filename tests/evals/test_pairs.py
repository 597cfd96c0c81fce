"""Matched pairs: what may be in one, what makes two merges alike, and that nothing gives them away."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from bot.features.merges.outcomes import Attempt, Reland
from bot.features.merges.risk import FileHistory
from bot.platform.pulls.models import PullRequest
from bot.platform.pulls.paths import DEFAULT_PATH_CLASSES
from evals.merges import HARMED, REVERTED, LabelledOutcome, MergeHistory, MergeSource
from evals.reading.pairs import MatchedPair, PairChoice, match_pairs, shuffle_merges
from impact.evaluation.window import EvaluationWindow
from tests.helpers.builders import changed_file, pull

BEGIN = datetime(2025, 3, 3, 12, tzinfo=UTC)
WINDOW = EvaluationWindow(dt.date(2025, 1, 1), dt.date(2025, 6, 30))
ZONE = ZoneInfo("UTC")
SOURCE = MergeSource("octo/engine", "main", WINDOW.since)
LAST = datetime(2026, 1, 1, tzinfo=UTC)
PLAIN = (("engine/run.py", 100),)


def merge(number: int, *files: tuple[str, int], days: float = 0.0, **fields: Any) -> PullRequest:
    changed = tuple(changed_file(path, lines) for path, lines in files or PLAIN)
    return pull(number, files=changed, merged_at=BEGIN + timedelta(days=days), **fields)


def label_repair(at: PullRequest, *, after: timedelta = timedelta(days=3)) -> dict[int, LabelledOutcome]:
    labels = frozenset({HARMED, REVERTED})
    return {at.number: LabelledOutcome(labels, at.merge_time + after)}


def choose(
    pulls: list[PullRequest],
    outcomes: Mapping[int, LabelledOutcome],
    count: int = 5,
    seed: int = 1,
    past: FileHistory | None = None,
    last: datetime = LAST,
) -> PairChoice:
    ordered = sorted(pulls, key=lambda each: each.merge_time)
    history = past or FileHistory(ordered, (), DEFAULT_PATH_CLASSES)
    merges = MergeHistory(SOURCE, tuple(ordered), history, outcomes, (REVERTED, HARMED), last)
    return match_pairs(merges, WINDOW, ZONE, count, seed)


def numbers(choice: PairChoice) -> list[tuple[int, int]]:
    return [(pair.repaired.number, pair.other.number) for pair in choice.pairs]


BROKEN = merge(1)
TESTED = (*PLAIN, ("tests/test_run.py", 5))


def test_what_may_stand_beside_a_repaired_merge() -> None:
    others = {
        "alike": (merge(2), True),
        "a little larger": (merge(2, ("engine/other.py", 150)), True),
        "too large": (merge(2, ("engine/other.py", 151)), False),
        "too small": (merge(2, ("engine/other.py", 66)), False),
        "the weeks before": (merge(2, days=-14), True),
        "too early": (merge(2, days=-14.1), False),
        "too late": (merge(2, days=14.1), False),
        "with tests": (merge(2, *TESTED), False),
        "with build files": (merge(2, *PLAIN, ("setup.py", 1)), False),
        "with documents, which no rule rates": (merge(2, *PLAIN, ("docs/run.md", 500)), True),
        "critical": (merge(2, ("csrc/attention.cu", 100)), False),
        "no product code": (merge(2, ("tests/test_run.py", 100)), False),
        "a revert": (merge(2, title='Revert "Faster (#9)"'), False),
        "repaired later than the rule allows": (merge(2), False),
    }
    late = label_repair(merge(2), after=timedelta(days=40))
    wrong = [
        name
        for name, (other, is_alike) in others.items()
        if numbers(choose([BROKEN, other], label_repair(BROKEN) | (late if "repaired" in name else {})))
        != ([(1, 2)] if is_alike else [])
    ]
    assert not wrong


def test_what_counts_as_repaired() -> None:
    day = timedelta(days=1)
    cases = {
        "in time": (BROKEN, label_repair(BROKEN, after=14 * day), True),
        "too late": (BROKEN, label_repair(BROKEN, after=14 * day + timedelta(seconds=1)), False),
        "before the digest is read": (BROKEN, label_repair(BROKEN, after=timedelta(hours=20)), False),
        "just after it": (BROKEN, label_repair(BROKEN, after=timedelta(hours=21)), True),
        "outside of the window": (merge(1, days=200), label_repair(merge(1, days=200)), False),
        "a revert": (merge(1, title='Revert "Faster (#9)"'), label_repair(BROKEN), False),
        "of tests alone": (merge(1, ("tests/test_run.py", 100)), label_repair(BROKEN), False),
    }
    wrong = [
        name
        for name, (first, outcomes, may_be) in cases.items()
        if choose([first, replace(merge(2), merged_at=first.merge_time)], outcomes).eligible != may_be
    ]
    assert not wrong


def test_an_outcome_that_may_still_come_is_no_good_one() -> None:
    assert not choose([BROKEN, merge(2)], label_repair(BROKEN), last=BEGIN + timedelta(days=59)).pairs
    assert choose([BROKEN, merge(2)], label_repair(BROKEN), last=BEGIN + timedelta(days=60)).pairs


def test_a_reland_is_in_no_pair() -> None:
    """What was broken comes again within days, of the same size: it would be read twice."""
    again = merge(2)
    past = FileHistory([BROKEN, again], (), DEFAULT_PATH_CLASSES, [Reland(2, (Attempt(1, None),))])
    assert choose([BROKEN, again], label_repair(BROKEN), past=past).pairs == ()


def test_no_merge_is_used_twice_and_the_seed_decides() -> None:
    broken = [merge(number, days=number / 24) for number in range(1, 21)]
    sound = [merge(number, days=number / 24) for number in range(101, 116)]
    outcomes = {number: outcome for each in broken for number, outcome in label_repair(each).items()}
    chosen = choose([*broken, *sound], outcomes, 30)
    used = [number for pair in numbers(chosen) for number in pair]
    assert (len(chosen.pairs), chosen.eligible, len(set(used))) == (15, 20, 30)
    assert choose([*sound, *broken], outcomes, 30) == chosen
    assert numbers(choose([*broken, *sound], outcomes, 30, seed=2)) != numbers(chosen)
    assert len(choose([*broken, *sound], outcomes, 4).pairs) == 4


@pytest.mark.slow
def test_the_order_of_prompts_says_nothing() -> None:
    """Neither are the repaired ones first, nor do those come first that were chosen out of many."""
    firsts, many = 0, [merge(number, days=number / 24) for number in range(1, 201)]
    outcomes = {number: outcome for each in many[:150] for number, outcome in label_repair(each).items()}
    for seed in range(20):
        pairs = choose(many, outcomes, 20, seed).pairs
        place = {each.number: at for at, each in enumerate(shuffle_merges(pairs, seed))}
        assert len(place) == 40
        firsts += sum(place[pair.repaired.number] < place[pair.other.number] for pair in pairs)
    # 400 pairs: further from half than four standard deviations is no chance
    assert 160 < firsts < 240


def test_the_order_does_not_depend_on_the_sides() -> None:
    one, other = merge(1), merge(2)
    assert shuffle_merges([MatchedPair(one, other)], 3) == shuffle_merges([MatchedPair(other, one)], 3)
