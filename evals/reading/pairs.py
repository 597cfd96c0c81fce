"""Matched pairs: a merge that was later repaired, and one like it that was not.

They measure what a reader of the changes finds, as what else differs between merges is the same in both: the
weeks, the size and the kinds of files (docs/decisions/0008-risk.md).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from zoneinfo import ZoneInfo

from bot.platform.pulls.models import PullRequest
from bot.platform.pulls.paths import CRITICAL, PathClass
from evals.merges import HARMED, LABEL_MATURITY, NO_LABELS, MergeHistory, build_cases
from impact.evaluation.window import EvaluationWindow
from impact.history.reverts import is_revert

# a repair has to come within it, and both merges of a pair lie within it
SPAN = timedelta(days=14)
# the changed lines of product code of a pair differ by this factor at most
_MAX_RATIO = 1.5
# classes besides product code in which both merges of a pair agree: the rules rate changes by them
_COMPARED_CLASSES = frozenset({PathClass.TESTS, PathClass.BUILD})


@dataclass(frozen=True, slots=True)
class MatchedPair:
    repaired: PullRequest
    other: PullRequest

    @property
    def merges(self) -> tuple[PullRequest, PullRequest]:
        """Both, the repaired one first."""
        return self.repaired, self.other


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

    def is_like(self, other: _Candidate) -> bool:
        """Return whether two merges may be a pair."""
        return (
            self.kinds == other.kinds
            and max(self.lines, other.lines) <= _MAX_RATIO * min(self.lines, other.lines)
            and abs(self.pull.merge_time - other.pull.merge_time) <= SPAN
        )


def match_pairs(
    history: MergeHistory, window: EvaluationWindow, zone: ZoneInfo, count: int, seed: int = 1
) -> PairChoice:
    """Choose at most ``count`` pairs of a window. The same seed chooses the same pairs of the same merges.

    Both merges change product code, are no reverts and reland nothing. The repaired one was reverted, or named as
    the cause by a repair, within ``SPAN``, but not before the digest of its day was read. The other one has
    neither happened to it at any time, and at least 60 days of commits follow it. Both touch tests or not, build
    files or not, and product code where mistakes hurt most or not. No merge is used twice.
    """
    repaired, others = _list_candidates(history, window, zone)
    pairs: list[MatchedPair] = []
    for candidate in sorted(repaired, key=lambda each: _draw("repaired", seed, each.pull.number)):
        alike = [each for each in others if candidate.is_like(each)]
        if len(pairs) < count and alike:
            partner = min(alike, key=lambda each: _draw("other", seed, candidate.pull.number, each.pull.number))
            others.remove(partner)
            pairs.append(MatchedPair(candidate.pull, partner.pull))
    pairs.sort(key=lambda pair: (pair.repaired.merge_time, pair.repaired.number))
    return PairChoice(tuple(pairs), len(repaired))


def shuffle_merges(pairs: Sequence[MatchedPair], seed: int) -> tuple[PullRequest, ...]:
    """Return the merges of all pairs in an order that says nothing about which of two was repaired."""
    merges = [pull for pair in pairs for pull in pair.merges]
    return tuple(sorted(merges, key=lambda pull: _draw("order", seed, pull.number)))


def _draw(purpose: str, *numbers: int) -> str:
    """Return a text whose order is random, but the same each time.

    An order for another purpose says nothing about this one: what was chosen does not come first.
    """
    return hashlib.sha256(":".join((purpose, *map(str, numbers))).encode()).hexdigest()


def _list_candidates(
    history: MergeHistory, window: EvaluationWindow, zone: ZoneInfo
) -> tuple[list[_Candidate], list[_Candidate]]:
    """Return the repaired merges of a window that may be in a pair, and the others."""
    repaired: list[_Candidate] = []
    others: list[_Candidate] = []
    pulls = [pull for pull in history.pulls if pull.merge_time in window]
    for pull, case in zip(pulls, build_cases(pulls, history.outcomes, zone), strict=True):
        known_since = history.outcomes.get(pull.number, NO_LABELS).known_since
        if HARMED in case.labels:
            is_soon = known_since is not None and known_since - pull.merge_time <= SPAN
            if is_soon and not case.is_known:
                repaired.extend(_describe_merge(pull, history))
        elif not case.labels and history.last - pull.merge_time >= LABEL_MATURITY:
            others.extend(_describe_merge(pull, history))
    return repaired, others


def _describe_merge(pull: PullRequest, history: MergeHistory) -> Iterator[_Candidate]:
    """Yield a merge as a candidate, unless it has no product code, is a revert, or relands something."""
    classes, files = history.classes, pull.files or ()
    kinds = [(file, classes.classify_path(file.path)) for file in files]
    lines = sum(file.changed_lines for file, kind in kinds if kind is PathClass.PRODUCT)
    if not lines or is_revert(pull) or history.past.list_attempts(pull.number):
        return
    compared = {str(kind) for _, kind in kinds if kind in _COMPARED_CLASSES}
    critical = {CRITICAL} if any(classes.is_critical(file.path) for file in files) else set()
    yield _Candidate(pull, lines, frozenset(compared | critical))
