from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Protocol, TypeVar

from bot.features.merges.risk import HIGHEST_BAND_THRESHOLD, RISK_THRESHOLD, Risk, RiskBand
from bot.features.merges.summary import Evidence, Quote, is_evidence
from bot.platform.pulls.diff import DiffPosition, list_quote_positions
from bot.platform.pulls.models import PullRequest
from bot.platform.pulls.paths import PathClass, PathClasses
from bot.platform.source.excerpts import SourceExcerpt
from impact.source.models import DiffSide


class FindingStatus(StrEnum):
    """How far a bug is checked. CONFIRMED: what makes it fail is reachable in this tree, with its pins."""

    CONFIRMED = "confirmed"
    POSSIBLE = "possible"


class Certainty(StrEnum):
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class FindingAdvice(StrEnum):
    ADAPT = "adapt"
    AVOID = "avoid"
    WAIT = "wait"
    WATCH = "watch"


@dataclass(frozen=True, slots=True)
class BugFinding:
    """A suspected bug.

    ``consequence`` is what goes wrong, ``trigger`` the input or set-up that makes it fail, and ``affected`` who
    notices it. ``evidence`` is a quote that code found in the merged files; one that is confirmed always has it.
    ``wait_for`` is the pull request that the advice WAIT names, ``repaired_by`` a later merge that repairs the
    bug, or reverts all with ``is_reverted``, which closes the finding; 0 for none.
    """

    consequence: str
    trigger: str
    affected: str
    status: FindingStatus
    certainty: Certainty
    advice: FindingAdvice
    evidence: Evidence | None = None
    wait_for: int = 0
    repaired_by: int = 0
    is_reverted: bool = False

    @property
    def uncertainty(self) -> int:
        """How unsure the model is: 0 for what is most certain."""
        return [*Certainty].index(self.certainty)


class ReviewVerdict(StrEnum):
    CONFIRMED = "confirmed"
    POSSIBLE = "possible"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class BugReview:
    """What a review found, the most important first. ``refuted`` is the number of suspicions that it dropped."""

    findings: tuple[BugFinding, ...] = ()
    refuted: int = 0

    @property
    def verdict(self) -> ReviewVerdict:
        finding = self.strongest_finding
        if finding is None:
            return ReviewVerdict.NOTHING
        return ReviewVerdict(finding.status)

    @property
    def strongest_finding(self) -> BugFinding | None:
        """The finding that decides the verdict: the first in rank that no later merge repairs."""
        return next((finding for finding in self.ranked_findings if not finding.repaired_by), None)

    @property
    def ranked_findings(self) -> tuple[BugFinding, ...]:
        """The findings: repaired ones last, confirmed ones first, the most certain before others."""
        return tuple(sorted(self.findings, key=_get_sort_key))


def _get_sort_key(finding: BugFinding) -> tuple[bool, bool, int]:
    return bool(finding.repaired_by), finding.status is not FindingStatus.CONFIRMED, finding.uncertainty


@dataclass(frozen=True, slots=True)
class ReviewCoverage:
    """How many pull requests of a day were reviewed of those that should be.

    ``stop`` is the reason, as a clause, why the others were not; empty if all were. ``cost`` is in US dollars for
    this run, None if a price is unknown.
    """

    eligible: int = 0
    reviewed: int = 0
    stop: str = ""
    cost: float | None = 0.0


NO_REVIEWS = ReviewCoverage()


def should_review(pull: PullRequest, risk: Risk, classes: PathClasses) -> bool:
    """Return whether a merge is reviewed: known product code, and no revert."""
    return (
        pull.is_merged
        and risk.may_be_listed
        and any(classes.classify_path(file.path) is PathClass.PRODUCT for file in pull.files or ())
    )


def locate_finding(quote: Quote, pull: PullRequest, excerpts: Iterable[SourceExcerpt]) -> Evidence | None:
    """Return the quote with its only position, or with the one that it names; None if it proves nothing.

    ``excerpts`` are lines that were shown of files at the pull request's commit. They are searched before the
    diff, whose numbers are those of the pull request's own branch. Deleted lines are in the diff alone.
    """
    if not is_evidence(quote.quote):
        return None
    places = _list_in_excerpts(quote, excerpts) if quote.side is DiffSide.NEW else {}
    if not places:
        patch = next((file.patch for file in pull.files or () if file.path == quote.path), None)
        listed = list_quote_positions(patch or "", quote.quote)
        # those of the quote's side; of the other one if there are none
        places = {place: place.is_change for place in listed if place.side is quote.side}
        places = places or {place: place.is_change for place in listed}
    candidates = [place for place in places if place.line == quote.line] or list(places)
    if len(candidates) != 1:
        return None
    place = candidates[0]
    return Evidence(quote.path, quote.quote.strip(), place.side, place.line, places[place])


def _list_in_excerpts(quote: Quote, excerpts: Iterable[SourceExcerpt]) -> dict[DiffPosition, bool]:
    """Return the positions in the lines that were shown, each with whether it is of a changed line."""
    places: dict[DiffPosition, bool] = {}
    for excerpt in excerpts:
        if excerpt.path != quote.path:
            continue
        for place in list_quote_positions(excerpt.patch, quote.quote):
            # a line that was shown without marks may have been shown with them, too
            is_known = excerpt.has_marks and place.side is DiffSide.NEW
            if place.side is DiffSide.NEW and (is_known or place not in places):
                places[place] = place.is_change if is_known else True
    return places


# points that a review adds: a confirmed bug lists any merge; a review without a finding takes those of the high
# band off the list, and leaves those of the highest on it
_SHIFTS = {ReviewVerdict.CONFIRMED: 8.0, ReviewVerdict.POSSIBLE: 3.0, ReviewVerdict.NOTHING: -4.0}


_BANDS = tuple(RiskBand)


class IsReviewed(Protocol):
    @property
    def risk(self) -> Risk: ...

    @property
    def review(self) -> BugReview | None: ...


T = TypeVar("T", bound=IsReviewed)


def compute_rank(risk: Risk, review: BugReview | None) -> float:
    if review is None:
        return risk.points
    least = RISK_THRESHOLD if review.verdict is ReviewVerdict.CONFIRMED else -math.inf
    return max(risk.points + _SHIFTS[review.verdict], least)


def is_worth_listing(item: IsReviewed) -> bool:
    """Return whether rules and review together put it on a list of risky pull requests."""
    return item.risk.may_be_listed and compute_rank(item.risk, item.review) >= RISK_THRESHOLD


def rank_reviewed(items: Iterable[T]) -> tuple[T, ...]:
    """Return all that may be listed, riskiest first, whatever their points; equal ones stay in their order."""
    # a confirmed bug comes first, the most certain before others, then a higher band before a lower one: an order
    # that the line of each explains
    listed = [item for item in items if item.risk.may_be_listed]
    return tuple(sorted(listed, key=_get_rank, reverse=True))


def _get_rank(item: IsReviewed) -> tuple[int, int, float]:
    finding = item.review.strongest_finding if item.review else None
    is_confirmed = finding is not None and finding.status is FindingStatus.CONFIRMED
    sureness = len(Certainty) - finding.uncertainty if finding and is_confirmed else 0
    return sureness, _BANDS.index(item.risk.band), compute_rank(item.risk, item.review)


def select_riskiest(items: Iterable[T], most: int, *, is_reduced: bool) -> tuple[T, ...]:
    """Return those above the threshold by rules and review, riskiest first, at most ``most``.

    With ``is_reduced``, for a repository whose lists were no better than chance, return at most one, with the
    points of the highest band.
    """
    least = HIGHEST_BAND_THRESHOLD if is_reduced else RISK_THRESHOLD
    above = (item for item in rank_reviewed(items) if compute_rank(item.risk, item.review) >= least)
    return tuple(islice(above, 1 if is_reduced else most))
