"""The score of the bot's own lists: how many listed pull requests were reverted, beside chance and size.

The list of a digest is compared with all pull requests in the digest. Each pull request counts once, in the
first digest that showed it, and only if it was open then: what was reverted before is detected, not predicted.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from itertools import compress, groupby
from math import comb, fsum, sqrt
from statistics import NormalDist

from bot.features.merges.outcomes import MergeOutcome
from bot.features.merges.review import ReviewVerdict
from bot.features.risks.ratings import RatedDigest, RatedPullRequest
from impact.history.outcomes import OutcomeKind

# 95 % of the reverts of vLLM's merges of 2025 came within this time
SCORE_MATURITY = timedelta(days=30)
# below these numbers a share means nothing: 0 of 20 listed is compatible with up to 16 %, 0 of 5 with up to 43 %
MIN_LISTED, MIN_REVERTED = 20, 5
# a list is called no better only if chance should have given some hits, so that a quiet month gives no verdict
MIN_EXPECTED_BY_CHANCE = 3.0
# error rates: of calling a list better that is no better, and of calling one with doubled odds no better
_FALSE_BETTER_RATE, _FALSE_NOT_BETTER_RATE = 0.05, 0.1
# about the odds of ten rules on vLLM's merges of October to December 2025: 2.9 % of the listed were later reverted
# or repaired by a pull request that names them, of all merges 1.3 %
USEFUL_ODDS = 2
_KINDS_BY_WEIGHT = (OutcomeKind.REVERTED, OutcomeKind.PARTLY, OutcomeKind.REPAIRED)
# as for lists: below these numbers a share means nothing
MIN_DIFFERING, MIN_DIFFERING_REVERTED = 20, 5
_FALSE_VERDICT_RATE = 0.05  # of saying that one was right where both are as good
_VERDICT_ORDER = (*ReviewVerdict, None)

# quantile of the standard normal distribution for 95 % intervals
_NORMAL_QUANTILE = NormalDist().inv_cdf(0.975)


# --- counts


@dataclass(frozen=True, slots=True)
class Tally:
    """The number of ``pulls``, and how many of them were ``reverted``, fully or in part, or else ``repaired``."""

    pulls: int = 0
    reverted: int = 0
    repaired: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.pulls + other.pulls, self.reverted + other.reverted, self.repaired + other.repaired)

    @property
    def taken_back(self) -> int:
        return self.reverted + self.repaired

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the share reverted or repaired, from 0 to 1."""
        return compute_wilson_interval(self.taken_back, self.pulls)


EMPTY_TALLY = Tally()


def count_outcomes(outcomes: Iterable[MergeOutcome | None]) -> Tally:
    """Count pull requests by their outcomes, None for each that has none."""
    kinds = [outcome and outcome.kind for outcome in outcomes]
    repaired = kinds.count(OutcomeKind.REPAIRED)
    return Tally(len(kinds), len(kinds) - kinds.count(None) - repaired, repaired)


# --- chance: exact for few events, where approximations are not


@dataclass(frozen=True, slots=True)
class HypergeometricDraw:
    """A draw of ``drawn`` items out of ``total``, of which ``marked`` are hits."""

    drawn: int
    marked: int
    total: int

    @property
    def expected(self) -> float:
        return self.drawn * self.marked / self.total if self.total else 0.0


def compute_hit_distribution(draws: Iterable[HypergeometricDraw], odds: int = 1) -> tuple[float, ...]:
    """Return the probabilities of 0, 1, 2, … hits in all draws together; draws are independent.

    Each draw is hypergeometric. With ``odds``, the odds of a marked item are multiplied: Fisher's noncentral
    hypergeometric distribution. Together they are the exact test of a common odds ratio in several 2x2 tables
    (Zelen, Biometrika 58, 1971).
    """
    distribution: tuple[float, ...] = (1.0,)
    for draw in draws:
        distribution = _convolve_distributions(distribution, _compute_draw_distribution(draw, odds))
    return distribution


def compute_upper_tail(distribution: Sequence[float], hits: int) -> float:
    """Return the probability of ``hits`` or more, for a distribution of :func:`compute_hit_distribution`."""
    return min(1.0, fsum(distribution[hits:]))


def compute_lower_tail(distribution: Sequence[float], hits: int) -> float:
    """Return the probability of ``hits`` or fewer, for a distribution of :func:`compute_hit_distribution`."""
    return min(1.0, fsum(distribution[: hits + 1]))


def compute_wilson_interval(part: float, whole: int) -> tuple[float, float]:
    """Return the 95 % confidence interval of a share: Wilson's score interval (JASA 22, 1927), from 0 to 1.

    A tie counts as half of ``part``. The interval is the whole range if ``whole`` is 0.
    """
    if not whole:
        return 0.0, 1.0
    share, room = part / whole, _NORMAL_QUANTILE * _NORMAL_QUANTILE / whole
    middle = (share + room / 2) / (1 + room)
    reach = _NORMAL_QUANTILE * sqrt(share * (1 - share) / whole + room / whole / 4) / (1 + room)
    # exact at 0 and 1, regardless of rounding
    return middle - reach if part else 0.0, middle + reach if part < whole else 1.0


def _compute_draw_distribution(draw: HypergeometricDraw, odds: int) -> tuple[float, ...]:
    """Return the distribution of hits in one draw.

    It is computed in integers up to the last division, which Python rounds correctly: nothing overflows.
    """
    others = draw.total - draw.marked
    ways = [
        comb(draw.marked, hits) * comb(others, draw.drawn - hits) * odds**hits
        for hits in range(min(draw.marked, draw.drawn) + 1)
    ]
    every = sum(ways)
    return tuple(way / every for way in ways)


def _convolve_distributions(one: Sequence[float], other: Sequence[float]) -> tuple[float, ...]:
    sums = [0.0] * (len(one) + len(other) - 1)
    for at, first in enumerate(one):
        for more, second in enumerate(other):
            sums[at + more] += first * second
    return tuple(sums)


# --- reviews: what became of pull requests by verdict, and where the lists of rules alone differ


RatedOutcome = tuple[RatedPullRequest, MergeOutcome | None]


class ReviewScoreVerdict(Enum):
    """Which of the two was right where the posted lists and those of the rules alone differ."""

    TOO_FEW = "too few to tell which was right"
    REVIEWS = "the AI bug review was right more often"
    RULES = "the rules were right more often"
    NEITHER = "too close to tell which was right"


@dataclass(frozen=True, slots=True)
class ReviewScore:
    """The outcomes of what the rules alone would have listed, and of what was reviewed.

    ``added`` was listed because of its review, or of those of others; ``left_out`` would have been listed by the
    rules alone, and ``missed`` are the outcomes of those. ``by_verdict`` has the verdicts from confirmed to
    nothing, then None for what was not reviewed; without reviews it is empty.
    """

    by_rules: Tally = EMPTY_TALLY
    added: Tally = EMPTY_TALLY
    left_out: Tally = EMPTY_TALLY
    by_verdict: tuple[tuple[ReviewVerdict | None, Tally], ...] = ()
    missed: tuple[MergeOutcome, ...] = ()

    @property
    def has_reviews(self) -> bool:
        return bool(self.by_verdict)

    @property
    def differing(self) -> Tally:
        return self.added + self.left_out

    @property
    def verdict(self) -> ReviewScoreVerdict:
        """The verdict, by Fisher's exact test on ``added`` and ``left_out``."""
        all_of_them = self.differing
        if all_of_them.pulls < MIN_DIFFERING or all_of_them.taken_back < MIN_DIFFERING_REVERTED:
            return ReviewScoreVerdict.TOO_FEW
        draw = HypergeometricDraw(self.added.pulls, all_of_them.taken_back, all_of_them.pulls)
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
        missed=tuple(end for each, end in kept if end and each.is_listed_by_rules and not each.is_listed),
        by_verdict=by_verdict if any(rated.verdict for rated, _ in kept) else (),
    )


def _count(results: Iterable[RatedOutcome], are_counted: Iterable[bool]) -> Tally:
    return count_outcomes(outcome for _, outcome in compress(results, are_counted))


# --- lists


class TrackRecordVerdict(Enum):
    TOO_FEW = "too few to tell"
    BETTER = "better than chance"
    NOT_BETTER = "not better than chance"


@dataclass(frozen=True, slots=True)
class TrackRecordScore:
    """The outcomes of the ``listed`` pull requests of some digests, and of all ``others`` that were open in them.

    ``hits`` are the listed ones that were reverted or repaired, newest first. The same number drawn at random
    from each digest would have found ``by_chance`` of them on average, those with the most lines added
    ``by_lines``. ``p_value`` is the probability of so many hits or more by chance, ``shortfall_p_value`` of so few
    or fewer with doubled odds. ``young`` is the number of listed ones merged less than 30 days ago. ``known`` pull
    requests, reverted or repaired before their digest, are left out. ``versions`` are those of the rules.
    ``reviews`` says what became of the reviewed ones, and of what the rules alone would have listed.
    """

    digests: int = 0
    listed: Tally = EMPTY_TALLY
    others: Tally = EMPTY_TALLY
    hits: tuple[MergeOutcome, ...] = ()
    by_chance: float = 0.0
    by_lines: float = 0.0
    p_value: float = 1.0
    shortfall_p_value: float = 1.0
    young: int = 0
    known: int = 0
    versions: tuple[str, ...] = ()
    reviews: ReviewScore = NO_REVIEW_SCORE

    @property
    def shown(self) -> Tally:
        return self.listed + self.others

    @property
    def is_large(self) -> bool:
        """Whether enough were listed, reverted and repaired to look at shares at all."""
        return self.listed.pulls >= MIN_LISTED and self.shown.taken_back >= MIN_REVERTED

    @property
    def verdict(self) -> TrackRecordVerdict:
        """The verdict; between the two error rates, only more time can tell."""
        if self.is_large and self.p_value <= _FALSE_BETTER_RATE:
            return TrackRecordVerdict.BETTER
        if (
            self.is_large
            and self.by_chance >= MIN_EXPECTED_BY_CHANCE
            and self.shortfall_p_value <= _FALSE_NOT_BETTER_RATE
        ):
            return TrackRecordVerdict.NOT_BETTER
        return TrackRecordVerdict.TOO_FEW

    @property
    def is_reduced(self) -> bool:
        """Whether digests should list less: these lists were no better than chance."""
        return self.verdict is TrackRecordVerdict.NOT_BETTER


def compute_score(
    digests: Sequence[RatedDigest], outcomes: Iterable[MergeOutcome], now: datetime
) -> TrackRecordScore:
    """Compare the digests of one repository with the outcomes of their pull requests up to ``now`` (aware).

    A merge whose revert was itself reverted counts as never reverted. The order of the items does not matter.
    """
    slots, closed = _build_results(digests, _group_by_number(outcomes))
    draws = [slot.draw for slot in slots]
    hits = [hit for slot in slots for hit in slot.list_outcomes(is_listed=True) if hit]
    return TrackRecordScore(
        digests=len(slots),
        listed=count_outcomes(end for slot in slots for end in slot.list_outcomes(is_listed=True)),
        others=count_outcomes(end for slot in slots for end in slot.list_outcomes(is_listed=False)),
        hits=tuple(sorted(hits, key=lambda hit: (hit.pull.merge_time, hit.pull.number), reverse=True)),
        by_chance=fsum(draw.expected for draw in draws),
        by_lines=fsum(slot.by_lines for slot in slots),
        p_value=compute_upper_tail(compute_hit_distribution(draws), len(hits)),
        shortfall_p_value=compute_lower_tail(compute_hit_distribution(draws, USEFUL_ODDS), len(hits)),
        young=sum(
            each.is_listed and now - each.merged_at < SCORE_MATURITY for slot in slots for each in slot.rated
        ),
        known=closed,
        versions=tuple(sorted({digest.ratings.version for digest in digests})),
        reviews=compute_review_score(result for slot in slots for result in slot.list_results()),
    )


@dataclass(frozen=True, slots=True)
class _DigestResult:
    """The open pull requests that a digest was the first to show, and their outcomes by number."""

    rated: tuple[RatedPullRequest, ...]
    outcomes: Mapping[int, MergeOutcome]

    def list_outcomes(self, *, is_listed: bool) -> list[MergeOutcome | None]:
        """Return the outcome, or None, of each one that was listed or was not."""
        return [self.outcomes.get(each.number) for each in self.rated if each.is_listed is is_listed]

    def list_results(self) -> list[RatedOutcome]:
        return [(each, self.outcomes.get(each.number)) for each in self.rated]

    @property
    def draw(self) -> HypergeometricDraw:
        return HypergeometricDraw(sum(each.is_listed for each in self.rated), len(self.outcomes), len(self.rated))

    @property
    def by_lines(self) -> float:
        """The hits of the same number with the most lines added; ties for the last places share them evenly."""
        hits, left = 0.0, self.draw.drawn
        ranked = sorted(self.rated, key=lambda each: -each.lines)
        for _, same in groupby(ranked, key=lambda each: each.lines):
            tied = list(same)
            slots = min(left, len(tied))
            hits += slots * sum(each.number in self.outcomes for each in tied) / len(tied)
            left -= slots
        return hits


def _group_by_number(outcomes: Iterable[MergeOutcome]) -> dict[int, list[MergeOutcome]]:
    """Return the outcomes that stand by number, the weightiest kind first, each kind by time."""
    by_number: dict[int, list[MergeOutcome]] = {}
    standing = (outcome for outcome in outcomes if outcome.stands)
    ordered = sorted(
        standing,
        key=lambda outcome: (_KINDS_BY_WEIGHT.index(outcome.kind), outcome.by.merge_time, outcome.by.number),
    )
    for outcome in ordered:
        by_number.setdefault(outcome.pull.number, []).append(outcome)
    return by_number


def _build_results(
    digests: Iterable[RatedDigest], outcomes: Mapping[int, Sequence[MergeOutcome]]
) -> tuple[tuple[_DigestResult, ...], int]:
    """Return the slots of the digests, and the number of pull requests that were no longer open."""
    slots: list[_DigestResult] = []
    seen_numbers: set[int] = set()
    closed = 0
    # by the time of posting; digests of one instant by their keys, so that the result is reproducible
    for digest in sorted(digests, key=lambda digest: (digest.at, digest.key)):
        first = {each.number: each for each in digest.ratings.rated if each.number not in seen_numbers}
        seen_numbers |= first.keys()
        open_ones = tuple(each for each in first.values() if _is_open(each, digest, outcomes))
        closed += len(first) - len(open_ones)
        if open_ones:
            slots.append(_DigestResult(open_ones, _find_timely_outcomes(open_ones, outcomes)))
    return tuple(slots), closed


def _is_open(rated: RatedPullRequest, digest: RatedDigest, outcomes: Mapping[int, Sequence[MergeOutcome]]) -> bool:
    """Return whether the digest neither knew nor could have known of a full or partial revert or a repair."""
    is_known = rated.number in digest.ratings.known
    return not is_known and all(outcome.by.merge_time > digest.at for outcome in outcomes.get(rated.number, ()))


def _find_timely_outcomes(
    rated: Iterable[RatedPullRequest], outcomes_by_number: Mapping[int, Sequence[MergeOutcome]]
) -> dict[int, MergeOutcome]:
    """Return the weightiest outcome of each that had one within 30 days of its merge."""
    timely_ends = (
        (each, [end for end in outcomes_by_number.get(each.number, ()) if end.lifetime <= SCORE_MATURITY])
        for each in rated
    )
    return {each.number: outcomes[0] for each, outcomes in timely_ends if outcomes}
