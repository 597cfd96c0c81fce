"""The score of the bug reviews: what became of the pull requests by verdict, and where lists differ by them."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from itertools import compress

from bot.domain.history.pull_outcomes import MergeOutcome
from bot.domain.review.models import ReviewVerdict
from bot.domain.track_record.posted_ratings import RatedPullRequest
from bot.domain.track_record.statistics import (
    HypergeometricDraw,
    compute_hit_distribution,
    compute_lower_tail,
    compute_upper_tail,
)
from bot.domain.track_record.tally import EMPTY_TALLY, Tally, count_outcomes

# as for lists: below these numbers a share means nothing
MIN_DIFFERING, MIN_DIFFERING_REVERTED = 20, 5
# of saying that one was right where both are as good
_FALSE_VERDICT_RATE = 0.05
_VERDICT_ORDER = (*ReviewVerdict, None)

RatedOutcome = tuple[RatedPullRequest, MergeOutcome | None]


class ReviewScoreVerdict(Enum):
    """Which of the two was right where the posted lists and those of the rules alone differ."""

    TOO_FEW = "too few to tell which was right"
    REVIEWS = "the second reading was right more often"
    RULES = "the rules were right more often"
    NEITHER = "too close to tell which was right"


@dataclass(frozen=True, slots=True)
class ReviewScore:
    """The outcomes of what the rules alone would have listed, and of what was reviewed.

    ``added`` was listed because of its review, or of those of others; ``left_out`` would have been listed by the
    rules alone. ``by_verdict`` has the verdicts from confirmed to nothing, then None for what was not reviewed;
    without reviews it is empty.
    """

    by_rules: Tally = EMPTY_TALLY
    added: Tally = EMPTY_TALLY
    left_out: Tally = EMPTY_TALLY
    by_verdict: tuple[tuple[ReviewVerdict | None, Tally], ...] = ()

    @property
    def has_reviews(self) -> bool:
        """Whether anything was reviewed."""
        return bool(self.by_verdict)

    @property
    def differing(self) -> Tally:
        """All in which the lists differ."""
        one, other = self.added, self.left_out
        return Tally(one.pulls + other.pulls, one.reverted + other.reverted, one.repaired + other.repaired)

    @property
    def is_large(self) -> bool:
        """Whether the lists differ in enough pull requests for a verdict."""
        all_of_them = self.differing
        return all_of_them.pulls >= MIN_DIFFERING and all_of_them.taken_back >= MIN_DIFFERING_REVERTED

    @property
    def verdict(self) -> ReviewScoreVerdict:
        """The verdict, by Fisher's exact test on ``added`` and ``left_out``."""
        if not self.is_large:
            return ReviewScoreVerdict.TOO_FEW
        draw = HypergeometricDraw(self.added.pulls, self.differing.taken_back, self.differing.pulls)
        distribution = compute_hit_distribution([draw])
        if compute_upper_tail(distribution, self.added.taken_back) <= _FALSE_VERDICT_RATE:
            return ReviewScoreVerdict.REVIEWS
        if compute_lower_tail(distribution, self.added.taken_back) <= _FALSE_VERDICT_RATE:
            return ReviewScoreVerdict.RULES
        return ReviewScoreVerdict.NEITHER


NO_REVIEW_SCORE = ReviewScore()


def compute_review_score(results: Iterable[RatedOutcome]) -> ReviewScore:
    """Compute the score of pull requests with their outcomes, None for each that has none."""
    kept = tuple(results)
    by_verdict = tuple(
        (verdict, _count(kept, [rated.verdict is verdict for rated, _ in kept])) for verdict in _VERDICT_ORDER
    )
    by_rules = [rated.is_listed_by_rules for rated, _ in kept]
    listed = [rated.is_listed for rated, _ in kept]
    return ReviewScore(
        by_rules=_count(kept, by_rules),
        added=_count(kept, map(operator.gt, listed, by_rules)),
        left_out=_count(kept, map(operator.lt, listed, by_rules)),
        by_verdict=by_verdict if any(rated.verdict for rated, _ in kept) else (),
    )


def _count(results: Iterable[RatedOutcome], are_counted: Iterable[bool]) -> Tally:
    """Count the outcomes of those pull requests that are to be counted."""
    return count_outcomes(outcome for _, outcome in compress(results, are_counted))
