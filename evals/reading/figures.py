"""Readings of matched pairs: how often the merge that was later repaired is the one that looks worse."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass

from bot.features.merges.review import (
    BugFinding,
    BugReview,
    Certainty,
    FindingStatus,
    ReviewVerdict,
    compute_rank,
)
from bot.features.merges.risk import Risk
from bot.features.profiles.view import align_columns, replace_non_ascii
from bot.features.risks.rules import compute_wilson_interval
from bot.text import format_count
from evals.json_files import replace_undefined
from evals.ranking import compute_roc_auc
from evals.reading.pairs import SPAN, MatchedPair, PairChoice

# without points of the rules, only what a review adds is left of a rank
_NO_RISK = Risk(0.0, ())
_CERTAINTY_WEIGHT = {Certainty.HIGH: 0.3, Certainty.MEDIUM: 0.2, Certainty.LOW: 0.1}
_FINDING_WEIGHT, _MAX_FINDINGS = 0.01, 9
# problems that are named one by one
_MAX_PROBLEMS = 10


@dataclass(frozen=True, slots=True)
class Reading:
    """What became of one merge's reading: a review, or the ``problem`` that left none, as a clause.

    ``is_recognised``: the reader says that it remembers it, or a part of it. ``cost`` is in US dollars for this
    run, None if a price is unknown.
    """

    review: BugReview | None = None
    is_recognised: bool = False
    cost: float | None = 0.0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ReadPair:
    """A pair with the readings of its two merges and their risks by the rules, the repaired one first."""

    pair: MatchedPair
    repaired: Reading
    other: Reading
    repaired_risk: Risk
    other_risk: Risk

    @property
    def readings(self) -> tuple[tuple[int, Reading], ...]:
        return (self.pair.repaired.number, self.repaired), (self.pair.other.number, self.other)

    @property
    def is_read(self) -> bool:
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


def _is_counted(finding: BugFinding, verdict: ReviewVerdict) -> bool:
    return verdict is ReviewVerdict.POSSIBLE or finding.status is FindingStatus.CONFIRMED


def evaluate_readings(pairs: Sequence[ReadPair]) -> ReadingEvaluation:
    read = [pair for pair in pairs if pair.is_read]
    readings = [each for pair in pairs for each in pair.readings]
    findings = [
        finding
        for _, reading in readings
        for finding in (reading.review.findings if reading.review else ())
        if finding.status is FindingStatus.CONFIRMED
    ]
    costs = [reading.cost for _, reading in readings]
    known_costs = [cost for cost in costs if cost is not None]

    def score_reading(reading: Reading, _risk: Risk) -> float:
        return score_review(reading.review) if reading.review else math.nan

    return ReadingEvaluation(
        chosen=len(pairs),
        reading=_count_right(read, score_reading),
        unrecognised=_count_right([pair for pair in read if not pair.is_recognised], score_reading),
        recognised=_count_right([pair for pair in read if pair.is_recognised], score_reading),
        rules=_count_right(read, lambda _, risk: risk.points),
        together=_count_right(read, lambda reading, risk: compute_rank(risk, reading.review)),
        confirmed=len(findings),
        quoted=sum(finding.evidence is not None for finding in findings),
        cost=sum(known_costs) if len(known_costs) == len(costs) else None,
        problems=tuple((number, reading.problem) for number, reading in readings if reading.review is None),
    )


def _count_right(pairs: Sequence[ReadPair], score: Callable[[Reading, Risk], float]) -> RightCount:
    repaired = [score(pair.repaired, pair.repaired_risk) for pair in pairs]
    others = [score(pair.other, pair.other_risk) for pair in pairs]
    wins = sum(one > other for one, other in zip(repaired, others, strict=True))
    ties = sum(one == other for one, other in zip(repaired, others, strict=True))
    labels = [True] * len(repaired) + [False] * len(others)
    return RightCount(wins + ties / 2, ties, len(pairs), compute_roc_auc([*repaired, *others], labels))


def format_reading(result: ReadingEvaluation, seed: int, eligible: int) -> str:
    """Format the figures. ``eligible`` is the number of repaired merges that could have been in a pair."""
    counts = {
        "reading": result.reading,
        "  not recognised": result.unrecognised,
        "  recognised": result.recognised,
        "rules": result.rules,
        "rules and reading": result.together,
    }
    chosen = format_count(result.chosen, "pair")
    kind = f"reverted or repaired within {SPAN.days} days"
    lines = [
        f"{chosen} of a merge that was {kind} and one like it; {eligible} such merges, seed {seed}",
        f"{format_count(result.reading.pairs, 'pair')} read, each merge by itself; chance is 50 %",
        "",
        *align_columns(
            [
                ("", "right", "95 % interval", "ties", "AUC"),
                *((name, *_format_cells(count)) for name, count in counts.items()),
            ]
        ),
        "",
        f"Confirmed findings: {result.confirmed}, {result.quoted} of them with a quote that code found",
        f"Cost of this run: {'unknown' if result.cost is None else f'${result.cost:.2f}'}",
        *_list_problems(result.problems),
    ]
    return "\n".join(map(replace_non_ascii, lines))


def _format_cells(count: RightCount) -> tuple[str, ...]:
    if not count.pairs:
        return "0 of 0", "-", "-", "-"
    low, high = compute_wilson_interval(count.right, count.pairs)
    return (
        f"{count.right:g} of {count.pairs}, {100 * count.share:.0f} %",
        f"[{100 * low:.0f} %, {100 * high:.0f} %]",
        str(count.ties),
        f"{count.auc:.3f}",
    )


def _list_problems(problems: Sequence[tuple[int, str]]) -> Iterator[str]:
    if problems:
        yield f"Not read: {format_count(len(problems), 'merge')}; a pair counts only if both are read"
    yield from (f"  #{number}: {problem}" for number, problem in problems[:_MAX_PROBLEMS])
    if len(problems) > _MAX_PROBLEMS:
        yield f"  and {len(problems) - _MAX_PROBLEMS} more"


def format_reading_json(result: ReadingEvaluation, seed: int, pairs: Sequence[ReadPair], eligible: int) -> str:
    """Format the figures and each pair for scripts; undefined values are null."""
    described = [
        {
            "repaired": pair.pair.repaired.number,
            "other": pair.pair.other.number,
            "readings": {str(number): asdict(reading) for number, reading in pair.readings},
            "points": [pair.repaired_risk.points, pair.other_risk.points],
        }
        for pair in pairs
    ]
    values = asdict(result) | {"eligible": eligible, "seed": seed, "pairs": described}
    return json.dumps(replace_undefined(values), indent=2, default=str, allow_nan=False)


def explain_few_pairs(choice: PairChoice, count: int) -> str:
    """Return a note if there are fewer pairs than asked for; empty if not."""
    if len(choice.pairs) >= count:
        return ""
    return (
        f"Note: {format_count(len(choice.pairs), 'pair')} in place of {count}:"
        f" {format_count(choice.eligible, 'repaired merge')} of these dates may be in one, if another is like it."
    )
