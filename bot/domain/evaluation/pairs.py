"""Matched pairs: a merge that was later repaired, and one like it that was not.

They measure what a reader of the changes finds, as what else differs between merges is the same in both: the
weeks, the size and the kinds of files (docs/decisions/0058-measure-readings-by-matched-pairs.md).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.evaluation.labels import (
    HARM_LABEL,
    LABEL_MATURITY,
    NO_LABELS,
    EvaluationWindow,
    LabelledOutcome,
    build_cases,
)
from bot.domain.history.file_history import FileHistory
from bot.domain.history.revert_claims import is_revert
from bot.domain.pull_requests.models import PullRequest
from bot.domain.pull_requests.path_classes import CRITICAL, PathClass, PathClasses

# classes besides product code in which both merges of a pair agree: the rules rate changes by them
_COMPARED_CLASSES = frozenset({PathClass.TESTS, PathClass.BUILD})


@dataclass(frozen=True, slots=True)
class PairRule:
    """How pairs are chosen: how many at most, which ones, and how much alike their merges are.

    A repair has to come within ``span``, and both merges of a pair lie within it. The changed lines of product
    code differ by the factor ``ratio`` at most.
    """

    count: int
    seed: int = 1
    span: timedelta = timedelta(days=14)
    ratio: float = 1.5


@dataclass(frozen=True, slots=True)
class MatchedPair:
    """A merge that was later reverted or repaired, and one like it that was neither."""

    repaired: PullRequest
    other: PullRequest


@dataclass(frozen=True, slots=True)
class PairChoice:
    """The chosen pairs, the earliest repaired merge first, and how many repaired merges could have been chosen."""

    pairs: tuple[MatchedPair, ...]
    eligible: int


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A merge that may be in a pair, and by what it is compared."""

    pull: PullRequest
    lines: int
    kinds: frozenset[str]


@dataclass(frozen=True, slots=True)
class MergeRecord:
    """Merges, oldest first, with what was known before each, what became of them, and the last known instant."""

    pulls: Sequence[PullRequest]
    past: FileHistory
    outcomes: Mapping[int, LabelledOutcome]
    last: datetime


def match_pairs(record: MergeRecord, classes: PathClasses, window: EvaluationWindow, rule: PairRule) -> PairChoice:
    """Choose pairs among the merges of a window. The same seed chooses the same pairs of the same merges.

    Both merges change product code, are no reverts and reland nothing. The repaired one was reverted, or named as
    the cause by a repair, within ``rule.span``, but not before the digest of its day was read. The other one has
    neither happened to it at any time, and at least 60 days of commits follow it. Both touch tests or not, build
    files or not, and product code where mistakes hurt most or not. No merge is used twice.
    """
    repaired, others = _list_candidates(record, classes, window, rule)
    pairs: list[MatchedPair] = []
    used: set[int] = set()
    for candidate in sorted(repaired, key=lambda each: _draw("repaired", rule.seed, each.pull.number)):
        if len(pairs) == rule.count:
            break
        alike = [each for each in others if each.pull.number not in used and _are_alike(candidate, each, rule)]
        if alike:
            partner = min(
                alike, key=lambda each: _draw("other", rule.seed, candidate.pull.number, each.pull.number)
            )
            used.add(partner.pull.number)
            pairs.append(MatchedPair(candidate.pull, partner.pull))
    pairs.sort(key=lambda pair: (pair.repaired.merge_time, pair.repaired.number))
    return PairChoice(tuple(pairs), len(repaired))


def shuffle_merges(pairs: Sequence[MatchedPair], seed: int) -> tuple[PullRequest, ...]:
    """Return the merges of all pairs in an order that says nothing about which of two was repaired."""
    merges = [pull for pair in pairs for pull in (pair.repaired, pair.other)]
    return tuple(sorted(merges, key=lambda pull: _draw("order", seed, pull.number)))


def _draw(purpose: str, *numbers: int) -> str:
    """Return a text whose order is random, but the same each time.

    An order for another purpose says nothing about this one: what was chosen does not come first.
    """
    return hashlib.sha256(":".join((purpose, *map(str, numbers))).encode()).hexdigest()


def _list_candidates(
    record: MergeRecord, classes: PathClasses, window: EvaluationWindow, rule: PairRule
) -> tuple[list[_Candidate], list[_Candidate]]:
    """Return the repaired merges of a window that may be in a pair, and the others."""
    repaired: list[_Candidate] = []
    others: list[_Candidate] = []
    pulls = [pull for pull in record.pulls if pull.merge_time in window]
    for pull, case in zip(pulls, build_cases(pulls, record.outcomes, window.zone), strict=True):
        outcome = record.outcomes.get(pull.number, NO_LABELS)
        if HARM_LABEL in outcome.labels:
            known_since = outcome.known_since
            is_soon = known_since is not None and known_since - pull.merge_time <= rule.span
            if is_soon and not case.is_known:
                repaired.extend(_describe_merge(pull, record.past, classes))
        elif not outcome.labels and record.last - pull.merge_time >= LABEL_MATURITY:
            others.extend(_describe_merge(pull, record.past, classes))
    return repaired, others


def _describe_merge(pull: PullRequest, past: FileHistory, classes: PathClasses) -> Iterator[_Candidate]:
    """Yield a merge as a candidate, unless it has no product code, is a revert, or relands something."""
    files = pull.files or ()
    kinds = [(file, classes.classify_path(file.path)) for file in files]
    lines = sum(file.changed_lines for file, kind in kinds if kind is PathClass.PRODUCT)
    if not lines or is_revert(pull) or past.list_attempts(pull.number):
        return
    compared = {str(kind) for _, kind in kinds if kind in _COMPARED_CLASSES}
    critical = {CRITICAL} if any(classes.is_critical(file.path) for file in files) else set()
    yield _Candidate(pull, lines, frozenset(compared | critical))


def _are_alike(one: _Candidate, other: _Candidate, rule: PairRule) -> bool:
    """Return whether two merges may be a pair."""
    return (
        one.kinds == other.kinds
        and max(one.lines, other.lines) <= rule.ratio * min(one.lines, other.lines)
        and abs(one.pull.merge_time - other.pull.merge_time) <= rule.span
    )
