"""The answer to ``/prrisks score``: the results of the lists in counts, compared to chance and to size."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.text.strings import collapse_lines, format_count, truncate_text
from bot.domain.time.date_range import Span
from bot.domain.track_record.score import (
    MIN_EXPECTED_BY_CHANCE,
    MIN_LISTED,
    MIN_REVERTED,
    Tally,
    TrackRecordScore,
    TrackRecordVerdict,
)
from bot.ports import Post
from bot.render.blocks.mrkdwn import escape_mrkdwn
from bot.render.blocks.rich_text import (
    Block,
    make_block,
    make_bullets,
    make_context,
    make_header,
    make_section,
    make_text,
)
from bot.render.blocks.terminal import format_message
from bot.render.digest.shared_parts import render_outcome

_MAX_HITS = 8
# at vLLM's share of 1.3 %, none of so many would be reverted or repaired in 2 of 100 such periods
_SURPRISING_COUNT = 300
_NOTHING_SENTENCE = (
    "There is nothing to score: no digest of these days was kept with what it listed. Have one posted every day "
    "with /prdigest subscribe at 09:00, and ask again in a month, when what it listed had time to be reverted."
)
_COUNTING_NOTE = (
    "Counted: reverts and repairs that name what they undo, after its digest and within 30 days of its merge."
)


def render_score(name: str, span: Span, score: TrackRecordScore) -> Post:
    """Render the score of some days of a repository as a message."""
    title = f"How good was the risk list? · {truncate_text(collapse_lines(name), 60)} · {span.title}"
    return Post(escape_mrkdwn(title), (make_header(title), *_render_blocks(score)))


def format_score(score: TrackRecordScore) -> str:
    """Format the score for a terminal, without the title."""
    return format_message(Post("", tuple(_render_blocks(score))))


def _render_blocks(score: TrackRecordScore) -> Iterator[Block]:
    """Yield the blocks below the title."""
    if score.digests:
        yield make_block(
            make_bullets(
                [make_text(sentence)]
                for sentence in (_describe_listed(score), _describe_baselines(score), _describe_recall(score))
            )
        )
        verdict = score.verdict.value
        yield make_block(
            make_section([make_text(verdict.capitalize(), bold=True), make_text(f": {_explain_verdict(score)}")])
        )
        yield from _render_hits(score)
    else:
        yield make_block(make_section([make_text(_NOTHING_SENTENCE)]))
    notes = [*_describe_limits(score)]
    if notes:
        yield make_context(" ".join(notes))


def _describe_listed(score: TrackRecordScore) -> str:
    """Return how many were listed, and how many of these were reverted or repaired."""
    listed, others, shown = score.listed, score.others, score.shown
    where = f"of {format_count(shown.pulls, 'merged pull request')}, in {format_count(score.digests, 'digest')}."
    if not listed.pulls:
        return f"Listed: none {where} {_describe_outcomes(others)} ({_format_share(others)})."
    low, high = listed.interval
    least = f"{_format_share(listed)}, 95 % interval {_format_percent(low)} to {_format_percent(high)} %"
    comparison = f", of all others {_format_share(others)}" if others.pulls else ""
    return f"Listed: {listed.pulls:,} {where} {_describe_outcomes(listed)} ({least}){comparison}."


def _describe_outcomes(tally: Tally) -> str:
    """Return how many were reverted and how many repaired."""
    if not tally.taken_back:
        return "None of them was reverted or repaired"
    counts = ((tally.reverted, "reverted"), (tally.repaired, "repaired"))
    parts = " and ".join(f"{count:,} {what}" for count, what in counts if count)
    return f"Later taken back: {parts}"


def _describe_baselines(score: TrackRecordScore) -> str:
    """Return what a random choice and the lines added would have found."""
    return (
        f"As many drawn at random from each digest would have found {_format_number(score.by_chance)}, "
        f"those with the most lines added {_format_number(score.by_lines)}; "
        f"the list found {score.listed.taken_back:,}."
    )


def _describe_recall(score: TrackRecordScore) -> str:
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
        return "Nothing that was shown was reverted or repaired after its digest."
    sentence = "; ".join(parts)
    return f"{sentence[0].upper()}{sentence[1:]}."


def _explain_verdict(score: TrackRecordScore) -> str:
    """Return what the verdict is based on."""
    luck, shortfall = _format_probability(score.p_value), _format_probability(score.shortfall_p_value)
    match score.verdict:
        case TrackRecordVerdict.BETTER:
            return f"chance alone would find as many or more in {luck} of such periods."
        case TrackRecordVerdict.NOT_BETTER:
            return (
                f"a list that doubles the odds would find so few in only {shortfall} of such periods. Where that "
                "holds for 180 days, digests list at most one pull request, of the highest band."
            )
    if not score.is_large:
        return (
            f"a verdict takes {MIN_LISTED} listed and {MIN_REVERTED} reverted or repaired, "
            f"and here are {score.listed.pulls:,} and {score.shown.taken_back:,}."
        )
    if score.by_chance < MIN_EXPECTED_BY_CHANCE:
        least = _format_number(MIN_EXPECTED_BY_CHANCE)
        return f"chance would find {_format_number(score.by_chance)}, and a verdict takes {least}."
    return (
        f"chance alone would find as many or more in {luck} of such periods, and a list that doubles the odds "
        f"so few in {shortfall}."
    )


def _render_hits(score: TrackRecordScore) -> Iterator[Block]:
    """Yield the listed pull requests that were reverted or repaired."""
    items = [render_outcome(hit) for hit in score.hits]
    if len(items) > _MAX_HITS:
        items[_MAX_HITS - 1 :] = [[make_text(f"and {len(items) - _MAX_HITS + 1:,} more: ask for fewer days")]]
    if items:
        yield make_block(make_section([make_text("Listed, and later taken back", bold=True)]), make_bullets(items))


def _describe_limits(score: TrackRecordScore) -> Iterator[str]:
    """Yield what the counts are based on, and what they leave out."""
    if score.digests:
        yield _COUNTING_NOTE
    if score.young:
        verb = "is" if score.young == 1 else "are"
        yield f"{score.young:,} of the listed {verb} younger than 30 days: some may still be reverted."
    if score.known:
        verb = "was" if score.known == 1 else "were"
        count = format_count(score.known, "pull request")
        yield f"{count} {verb} left out: already taken back when the digest came."
    if score.unrated:
        verb = "was" if score.unrated == 1 else "were"
        yield f"{format_count(score.unrated, 'digest')} {verb} posted before scores were kept."
    if score.shown.pulls >= _SURPRISING_COUNT and not score.shown.taken_back:
        yield "Perhaps reverts are written in another way here: I know those that name what they take back."
    if len(score.versions) > 1:
        yield f"The rules changed meanwhile: {truncate_text(', '.join(score.versions), 200)}."


def _format_share(tally: Tally) -> str:
    """Format the share of a tally that was reverted or repaired."""
    return f"{_format_percent(tally.taken_back / tally.pulls)} %"


def _format_percent(share: float) -> str:
    """Format a share in percent: a whole number from ten on; below, one decimal place."""
    return f"{100 * share:.0f}" if share >= 0.0995 else _format_number(100 * share)


def _format_number(expected: float) -> str:
    """Format an expected number, or a small share, to one decimal place."""
    return "less than 0.1" if 0 < expected < 0.05 else f"{expected:,.1f}".removesuffix(".0")


def _format_probability(probability: float) -> str:
    """Format a probability in percent."""
    return f"{_format_percent(probability)} %"
