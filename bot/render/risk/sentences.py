"""What people read in the list of risky changes and in its score."""

from __future__ import annotations

from collections.abc import Sequence

from bot.domain.review.models import ReviewVerdict
from bot.domain.text.strings import format_count
from bot.domain.track_record.review_score import (
    MIN_DIFFERING,
    MIN_DIFFERING_REVERTED,
    ReviewScore,
    ReviewScoreVerdict,
)
from bot.domain.track_record.score import MIN_EXPECTED_BY_CHANCE, MIN_LISTED, MIN_REVERTED, TrackRecordScore
from bot.domain.track_record.tally import Tally

# the list

OUTCOMES_ELSEWHERE = ": ask for fewer days to see them"
HITS_ELSEWHERE = ": ask for fewer days to see them"
NOTHING = "Nothing stands out."
NOTHING_ELSE = "Nothing else stands out."
BELOW_BAR_TITLE = "Below the bar"


def format_list_title(*, name: str, days: str, count: str) -> str:
    """Return the title of the list."""
    return f"Risky changes · {name} · {days} · {count}"


def format_merge_count(*, merged: int, matching: int, is_filtered: bool) -> str:
    """Return how many pull requests were merged and, with filters, how many match them."""
    if not merged:
        return "nothing merged"
    return f"{matching:,} of {merged:,} merged" if is_filtered else f"{merged:,} merged"


def format_no_match(filters: str) -> str:
    """Return that no pull request matches the filters."""
    return f"No pull request of these days matches {filters}."


def format_top_reason(top: int) -> str:
    """Return why the list goes on below its bar."""
    return f" (listed because of top:{top})"


def format_few_ranked(*, top: int, ranked: int) -> str:
    """Return that the list has fewer entries than requested."""
    return f"top:{top}: only {format_count(ranked, 'pull request')} can be ranked."


def format_unread(numbers: Sequence[int], limit: int) -> str:
    """Return which pull requests could not be read, the first ``limit`` of them by number."""
    rest = f" and {len(numbers) - limit} more" if len(numbers) > limit else ""
    return f"not read: {', '.join(f'#{number}' for number in numbers[:limit])}{rest}"


# the score: what was listed, beside chance and size

NOTHING_TO_SCORE = (
    "There is nothing to score: no digest with ratings was posted on these days. Subscribe with /prdigest "
    "subscribe at 09:00, and ask again in a month."
)
HITS_TITLE = "Listed, and later reverted or repaired"


def format_score_title(*, name: str, days: str) -> str:
    """Return the title of the score."""
    return f"How good was the risk list? · {name} · {days}"


def format_listed(score: TrackRecordScore) -> str:
    """Return how many were listed, and how many of these were reverted or repaired."""
    listed, others, shown = score.listed, score.others, score.shown
    where = f"of {format_count(shown.pulls, 'merged pull request')}, in {format_count(score.digests, 'digest')}."
    if not listed.pulls:
        return f"Listed: none {where} {_format_outcomes(others)} ({_format_share(others)})."
    low, high = listed.interval
    least = f"{_format_share(listed)}, 95% interval {_format_percent(low)} to {_format_percent(high)}%"
    comparison = f", of all others {_format_share(others)}" if others.pulls else ""
    return f"Listed: {listed.pulls:,} {where} {_format_outcomes(listed)} ({least}){comparison}."


def _format_outcomes(tally: Tally) -> str:
    """Return how many were reverted and how many repaired."""
    if not tally.taken_back:
        return "None of them was reverted or repaired"
    counts = ((tally.reverted, "reverted"), (tally.repaired, "repaired"))
    parts = " and ".join(f"{count:,} {what}" for count, what in counts if count)
    return f"Later: {parts}"


def format_baselines(score: TrackRecordScore) -> str:
    """Return what a random choice and the lines added would have found."""
    return (
        f"Hits: this list {score.listed.taken_back:,}; random picks {_format_number(score.by_chance)}; "
        f"largest changes {_format_number(score.by_lines)}."
    )


def format_recall(score: TrackRecordScore) -> str:
    """Return how many of the reverted and repaired ones had been listed."""
    kinds = (
        ("reverted", score.shown.reverted, score.listed.reverted),
        ("repaired", score.shown.repaired, score.listed.repaired),
    )
    parts = [
        f"of {count:,} that {'was' if count == 1 else 'were'} {what} after the digest, {listed or 'none'} "
        f"had been listed"
        for what, count, listed in kinds
        if count
    ]
    if not parts:
        return "No change was reverted or repaired after its digest."
    sentence = "; ".join(parts)
    return f"{sentence[0].upper()}{sentence[1:]}."


def format_more_hits(count: int) -> str:
    """Return how many more of the listed ones were reverted or repaired."""
    return f"and {count:,} more: ask for fewer days"


# the score: what its verdict is based on; each follows the verdict and a colon


def format_better(p_value: float) -> str:
    """Return why the list is better than chance."""
    return f"random picks would do as well in {_format_probability(p_value)} of such periods."


def format_not_better(shortfall_p_value: float) -> str:
    """Return why the list is not better than chance, and what follows from it."""
    return (
        f"a useful list would find so few in only {_format_probability(shortfall_p_value)} of such periods. "
        "If that holds for 180 days, digests list at most one change of the highest band."
    )


def format_too_small(score: TrackRecordScore) -> str:
    """Return that there are too few pull requests for a verdict."""
    return (
        f"a verdict needs {MIN_LISTED} listed and {MIN_REVERTED} reverted or repaired changes; there are "
        f"{score.listed.pulls:,} and {score.shown.taken_back:,}."
    )


def format_small_chance(by_chance: float) -> str:
    """Return that chance would find too few for a verdict."""
    least = _format_number(MIN_EXPECTED_BY_CHANCE)
    return f"random picks would find {_format_number(by_chance)}; a verdict needs {least}."


def format_undecided(*, p_value: float, shortfall_p_value: float) -> str:
    """Return that the counts allow both verdicts."""
    return (
        f"random picks would do as well in {_format_probability(p_value)} of such periods, a useful list as "
        f"badly in {_format_probability(shortfall_p_value)}."
    )


# the score: rules and second reading

REVIEWS_TITLE = "Rules and second reading"
_KINDS = {
    ReviewVerdict.CONFIRMED: "with a confirmed bug",
    ReviewVerdict.POSSIBLE: "with a possible bug",
    ReviewVerdict.NOTHING: "where it found nothing",
    None: "not read a second time",
}


def format_rule_list(score: TrackRecordScore) -> str:
    """Return how many the posted lists found, and how many those of the rules alone would have found."""
    return (
        f"The posted lists had {_format_taken_back(score.listed)}. "
        f"The rules alone would have listed {_format_taken_back(score.reviews.by_rules)}."
    )


def format_differences(reviews: ReviewScore) -> str:
    """Return where the two lists differ, and what became of these pull requests."""
    added, left_out = reviews.added, reviews.left_out
    if not reviews.differing.pulls:
        return "The two lists are the same."
    parts = [
        *([f"put {_format_hits(added)} on the list"] if added.pulls else []),
        *([f"took {_format_hits(left_out)} off it"] if left_out.pulls else []),
    ]
    return f"The second reading {' and '.join(parts)}."


def format_verdict_share(verdict: ReviewVerdict | None, tally: Tally) -> str:
    """Return how many pull requests of a verdict were reverted or repaired."""
    return f"{tally.pulls:,} {_KINDS[verdict]}: {_format_share_of_taken_back(tally)}."


def format_review_verdict(reviews: ReviewScore) -> str:
    """Return which of the two was right more often, or why that can't be said."""
    sentence = reviews.verdict.value.capitalize()
    if reviews.verdict is ReviewScoreVerdict.NEITHER:
        return f"{sentence}."
    if reviews.verdict is not ReviewScoreVerdict.TOO_FEW:
        return f"{sentence}: chance alone gives such a difference in at most 5% of such periods."
    return (
        f"{sentence}: that takes {MIN_DIFFERING} in which the lists differ, {MIN_DIFFERING_REVERTED} of them "
        f"reverted or repaired. Here are {reviews.differing.pulls:,} and {reviews.differing.taken_back:,}."
    )


def _format_hits(tally: Tally) -> str:
    """Format a number of pull requests, and how many of them were reverted or repaired."""
    return f"{tally.pulls:,} ({tally.taken_back or 'none'} later reverted or repaired)"


def _format_taken_back(tally: Tally) -> str:
    """Format a number of pull requests with what became of them."""
    return f"{tally.pulls:,}, {_format_share_of_taken_back(tally)}" if tally.pulls else "none"


def _format_share_of_taken_back(tally: Tally) -> str:
    """Format how many were reverted or repaired, with the share and its interval."""
    low, high = tally.interval
    return (
        f"{tally.taken_back:,} of them reverted or repaired ({_format_share(tally)}, "
        f"95% interval {_format_percent(low)} to {_format_percent(high)}%)"
    )


# the score: what the counts are based on, and what they leave out

COUNTED = "Counted: reverts and repairs that name the change, after its digest and within 30 days of its merge."
NO_REVERTS = "Reverts may be worded differently here: I only recognize those that name the reverted change."


def format_young(count: int) -> str:
    """Return how many of the listed ones are too young to count on."""
    verb = "is" if count == 1 else "are"
    return f"{count:,} of the listed {verb} younger than 30 days: some may still be reverted."


def format_left_out(count: int) -> str:
    """Return how many were reverted or repaired before their digest."""
    verb = "was" if count == 1 else "were"
    return f"{format_count(count, 'pull request')} {verb} left out: reverted or repaired before the digest."


def format_versions(versions: str) -> str:
    """Return that several versions of the rules made the lists."""
    return f"The rules changed during this time: {versions}."


# figures


def _format_share(tally: Tally) -> str:
    """Format the share of a tally that was reverted or repaired."""
    return f"{_format_percent(tally.taken_back / tally.pulls)}%"


def _format_percent(share: float) -> str:
    """Format a share in percent: a whole number from ten on; below, one decimal place."""
    return f"{100 * share:.0f}" if share >= 0.0995 else _format_number(100 * share)


def _format_number(expected: float) -> str:
    """Format an expected number, or a small share, to one decimal place."""
    return "less than 0.1" if 0 < expected < 0.05 else f"{expected:,.1f}".removesuffix(".0")


def _format_probability(probability: float) -> str:
    """Format a probability in percent."""
    return f"{_format_percent(probability)}%"
