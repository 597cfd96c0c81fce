"""Readings of matched pairs: how often the merge that was later repaired is the one that looks worse."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from bot.domain.evaluation.measurement import compute_roc_auc
from bot.domain.evaluation.pairs import MatchedPair
from bot.domain.review.models import BugFinding, BugReview, Certainty, FindingAdvice, FindingStatus, ReviewVerdict
from bot.domain.review.ranking import compute_rank
from bot.domain.risk.assessment import Risk

# without points of the rules, only what a review adds is left of a rank
_NO_RISK = Risk(0.0, ())
_CERTAINTY_WEIGHT = {Certainty.HIGH: 0.3, Certainty.MEDIUM: 0.2, Certainty.LOW: 0.1}
_FINDING_WEIGHT, _MAX_FINDINGS = 0.01, 9


@dataclass(frozen=True, slots=True)
class Reading:
    """What became of one merge's reading: a review, or the ``problem`` that left none, as a clause.

    ``is_recognised``: the reader says that it knows what became of the change. ``cost`` is in US dollars for this
    run, None if a price is unknown.
    """

    review: BugReview | None = None
    is_recognised: bool = False
    cost: float | None = 0.0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ReadPair:
    """A pair with the readings of its two merges and their risks by the rules."""

    pair: MatchedPair
    repaired: Reading
    other: Reading
    repaired_risk: Risk
    other_risk: Risk

    @property
    def readings(self) -> tuple[tuple[int, Reading], ...]:
        """Both readings, with the numbers of their merges."""
        return (self.pair.repaired.number, self.repaired), (self.pair.other.number, self.other)

    @property
    def is_read(self) -> bool:
        """Whether there is a review of both merges."""
        return self.repaired.review is not None and self.other.review is not None

    @property
    def is_recognised(self) -> bool:
        """Whether the reader recognises one of the two, so that memory may have helped it."""
        return self.repaired.is_recognised or self.other.is_recognised


@dataclass(frozen=True, slots=True)
class RightCount:
    """How many pairs were ordered right, ties counted half, and the AUC over all merges of the pairs."""

    right: float
    ties: int
    pairs: int
    auc: float

    @property
    def share(self) -> float:
        """The share of pairs that are right; nan without pairs."""
        return self.right / self.pairs if self.pairs else math.nan


@dataclass(frozen=True, slots=True)
class ReadingEvaluation:
    """The figures of read pairs. Those in which a merge is recognised are counted apart.

    ``confirmed`` counts the confirmed findings, ``quoted`` those of them whose quote code found. ``problems`` has
    the merges without a review, by number. ``cost`` is in US dollars for this run, None if a price is unknown.
    """

    chosen: int
    reading: RightCount
    unrecognised: RightCount
    recognised: RightCount
    rules: RightCount
    together: RightCount
    confirmed: int
    quoted: int
    cost: float | None
    problems: tuple[tuple[int, str], ...]


def score_review(review: BugReview) -> float:
    """Return what a review says by itself: its verdict first, then its certainty, then the number of findings."""
    counted = [finding for finding in review.findings if _is_counted(finding, review.verdict)]
    certainty = max((_CERTAINTY_WEIGHT[finding.certainty] for finding in counted), default=0.0)
    return compute_rank(_NO_RISK, review) + certainty + _FINDING_WEIGHT * min(len(counted), _MAX_FINDINGS)


def evaluate_readings(pairs: Sequence[ReadPair]) -> ReadingEvaluation:
    """Return the figures of all pairs that were read."""
    read = [pair for pair in pairs if pair.is_read]
    findings = [finding for pair in pairs for _, reading in pair.readings for finding in _list_confirmed(reading)]
    return ReadingEvaluation(
        chosen=len(pairs),
        reading=_count_right(read, _score_reading),
        unrecognised=_count_right([pair for pair in read if not pair.is_recognised], _score_reading),
        recognised=_count_right([pair for pair in read if pair.is_recognised], _score_reading),
        rules=_count_right(read, lambda _, risk: risk.points),
        together=_count_right(read, lambda reading, risk: compute_rank(risk, reading.review)),
        confirmed=len(findings),
        quoted=sum(finding.evidence is not None for finding in findings),
        cost=_sum_costs(reading.cost for pair in pairs for _, reading in pair.readings),
        problems=tuple(
            (number, reading.problem)
            for pair in pairs
            for number, reading in pair.readings
            if reading.review is None
        ),
    )


def _is_counted(finding: BugFinding, verdict: ReviewVerdict) -> bool:
    """Return whether a finding is one of those that make the verdict."""
    if verdict is ReviewVerdict.CONFIRMED:
        return finding.is_confirmed
    return finding.advice is not FindingAdvice.IGNORE


def _list_confirmed(reading: Reading) -> list[BugFinding]:
    findings = reading.review.findings if reading.review else ()
    return [finding for finding in findings if finding.status is FindingStatus.CONFIRMED]


def _score_reading(reading: Reading, _risk: Risk) -> float:
    return score_review(reading.review) if reading.review else math.nan


def _count_right(pairs: Sequence[ReadPair], score: Callable[[Reading, Risk], float]) -> RightCount:
    """Return how often the repaired merge of a pair has the higher score."""
    repaired = [score(pair.repaired, pair.repaired_risk) for pair in pairs]
    others = [score(pair.other, pair.other_risk) for pair in pairs]
    wins = sum(one > other for one, other in zip(repaired, others, strict=True))
    ties = sum(one == other for one, other in zip(repaired, others, strict=True))
    labels = [True] * len(repaired) + [False] * len(others)
    return RightCount(wins + ties / 2, ties, len(pairs), compute_roc_auc([*repaired, *others], labels))


def _sum_costs(costs: Iterable[float | None]) -> float | None:
    """Return the sum, None if one of them is unknown."""
    total = 0.0
    for cost in costs:
        if cost is None:
            return None
        total += cost
    return total
