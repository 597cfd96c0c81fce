"""Which merged pull requests deserve a second look: points, their bands, and the reasons that may be shown.

The bands were measured with these rules on vLLM's merges of 2025-10-01 to 2025-12-31. A score orders a list; it
is no probability of one change.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, TypeVar

from bot.domain.history.file_history import Past
from bot.domain.history.relands import Try
from bot.domain.history.reverts import is_revert
from bot.domain.pull_requests.models import PullRequest
from bot.domain.pull_requests.path_classes import DEFAULT_PATHS, PathClasses
from bot.domain.risk.rules import Facts, Fired, facts_of, fired_by, is_sweep

# names the rules and their points: change it with them
RULES = "rules.v2"
# below it the list repairs no more than chance would
THRESHOLD = 12
HIGHEST_BAND = 16
# share of all merges that needed a repair within two weeks, in percent; the shares of the bands are in Band
BASE_RATE = 7
# formatters and mass renames touch many files and add about what they delete; they rarely break
_SWEEP_CAP = 8.0
# what changes nothing of the product or its build comes after all that does
_OUTSIDE = 6.01


class Band(Enum):
    """Ranges of points: what they are called, and what percentage of such merges needed a repair in two weeks."""

    NO_PRODUCT = ("lowest", 1)
    LOW = ("low", 3)
    MIDDLE = ("middle", 6)
    HIGH = ("high", 12)
    HIGHEST = ("highest", 20)

    def __init__(self, label: str, repaired: int) -> None:
        self.label = label
        self.repaired = repaired


# from how many points on; what touches the product or its build has -6 and more, and all else has -6 and less
_BANDS = ((HIGHEST_BAND, Band.HIGHEST), (THRESHOLD, Band.HIGH), (4, Band.MIDDLE), (-6, Band.LOW))


@dataclass(frozen=True, slots=True)
class Risk:
    """Points and the reasons that may be shown, the weightiest first.

    ``fired`` are the rules that gave or took points; ``without_history`` those that look back were silent.
    ``tries`` are the earlier ones of a change that lands again.
    """

    points: float
    reasons: tuple[str, ...]
    fired: tuple[Fired, ...] = ()
    without_history: bool = False
    may_be_listed: bool = True
    tries: tuple[Try, ...] = ()

    @property
    def is_listed(self) -> bool:
        return self.may_be_listed and self.points >= THRESHOLD

    @property
    def is_highest(self) -> bool:
        return self.is_listed and self.points >= HIGHEST_BAND

    @property
    def band(self) -> Band:
        return next((band for least, band in _BANDS if self.points >= least), Band.NO_PRODUCT)


def assess(pull: PullRequest, classes: PathClasses = DEFAULT_PATHS, past: Past | None = None) -> Risk:
    """Score a pull request whose files are loaded.

    Of ``past`` only what was merged before counts; an open pull request is scored without. One that reverts
    another ranks like what it undoes, but is never listed: it is named as a revert.
    """
    facts = facts_of(pull, classes)
    fired = fired_by(facts, past, classes)
    shown = sorted((rule for rule in fired if rule.sentence), key=lambda rule: -rule.points)
    return Risk(
        points_of(facts, fired),
        tuple(rule.sentence for rule in shown),
        fired,
        without_history=not (past and pull.merged_at and past.reaches(pull.merged_at)),
        may_be_listed=not is_revert(pull),
        tries=past.tries(pull.number) if past else (),
    )


def points_of(facts: Facts, fired: Iterable[Fired]) -> float:
    """What rules come to: less for sweeps, hardly anything without product and build files."""
    points = float(sum(rule.points for rule in fired))
    if is_sweep(facts.pull):
        points = min(points, _SWEEP_CAP)
    if not (facts.product or facts.build):
        points = min(points, 0.0) - _OUTSIDE
    # among equal points the larger change comes first
    return points + 0.0001 * math.log1p(facts.pull.changed_lines)


class HasRisk(Protocol):
    """What was assessed."""

    @property
    def risk(self) -> Risk: ...


T = TypeVar("T", bound=HasRisk)


def rank_by_risk(found: Iterable[T]) -> tuple[T, ...]:
    """All that lists may hold, riskiest first, however few points they have."""
    return tuple(sorted((each for each in found if each.risk.may_be_listed), key=lambda each: -each.risk.points))


def worth_a_look(found: Iterable[T], most: int, *, is_sparing: bool) -> tuple[T, ...]:
    """Those above the threshold, riskiest first; one of the highest band where lists found no more than chance."""
    ranked = rank_by_risk(found)
    listed = [each for each in ranked if (each.risk.is_highest if is_sparing else each.risk.is_listed)]
    return tuple(listed[: 1 if is_sparing else most])
