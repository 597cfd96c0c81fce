"""The answer to ``/prrisks score``: the results of the lists in counts, compared to chance and to size."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.text.strings import collapse_lines, truncate_text
from bot.domain.time.date_range import Span
from bot.domain.track_record.score import MIN_EXPECTED_BY_CHANCE, TrackRecordScore, TrackRecordVerdict
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
from bot.render.risk import sentences

_MAX_HITS = 8
# at vLLM's share of 1.3 %, none of so many would be reverted or repaired in 2 of 100 such periods
_SURPRISING_COUNT = 300


def render_score(name: str, span: Span, score: TrackRecordScore) -> Post:
    """Render the score of some days of a repository as a message."""
    title = sentences.format_score_title(name=truncate_text(collapse_lines(name), 60), days=span.title)
    return Post(escape_mrkdwn(title), (make_header(title), *_render_blocks(score)))


def format_score(score: TrackRecordScore) -> str:
    """Format the score for a terminal, without the title."""
    return format_message(Post("", tuple(_render_blocks(score))))


def _render_blocks(score: TrackRecordScore) -> Iterator[Block]:
    """Yield the blocks below the title."""
    if score.digests:
        formats = (sentences.format_listed, sentences.format_baselines, sentences.format_recall)
        yield make_block(make_bullets([make_text(format_sentence(score))] for format_sentence in formats))
        verdict = score.verdict.value
        yield make_block(
            make_section([make_text(verdict.capitalize(), bold=True), make_text(f": {_explain_verdict(score)}")])
        )
        yield from _render_reviews(score)
        yield from _render_hits(score)
    else:
        yield make_block(make_section([make_text(sentences.NOTHING_TO_SCORE)]))
    notes = [*_list_limits(score)]
    if notes:
        yield make_context(" ".join(notes))


def _explain_verdict(score: TrackRecordScore) -> str:
    """Return what the verdict is based on."""
    match score.verdict:
        case TrackRecordVerdict.BETTER:
            return sentences.format_better(score.p_value)
        case TrackRecordVerdict.NOT_BETTER:
            return sentences.format_not_better(score.shortfall_p_value)
    if not score.is_large:
        return sentences.format_too_small(score)
    if score.by_chance < MIN_EXPECTED_BY_CHANCE:
        return sentences.format_small_chance(score.by_chance)
    return sentences.format_undecided(p_value=score.p_value, shortfall_p_value=score.shortfall_p_value)


def _render_reviews(score: TrackRecordScore) -> Iterator[Block]:
    """Yield what the rules alone would have found, what became of each verdict, and which was right."""
    reviews = score.reviews
    if not reviews.has_reviews:
        return
    lines = [
        sentences.format_rule_list(score),
        sentences.format_differences(reviews),
        *(sentences.format_verdict_share(verdict, tally) for verdict, tally in reviews.by_verdict if tally.pulls),
        sentences.format_review_verdict(reviews),
    ]
    yield make_block(
        make_section([make_text(sentences.REVIEWS_TITLE, bold=True)]),
        make_bullets([make_text(line)] for line in lines),
    )


def _render_hits(score: TrackRecordScore) -> Iterator[Block]:
    """Yield the listed pull requests that were reverted or repaired."""
    items = [render_outcome(hit) for hit in score.hits]
    if len(items) > _MAX_HITS:
        items[_MAX_HITS - 1 :] = [[make_text(sentences.format_more_hits(len(items) - _MAX_HITS + 1))]]
    if items:
        yield make_block(make_section([make_text(sentences.HITS_TITLE, bold=True)]), make_bullets(items))


def _list_limits(score: TrackRecordScore) -> Iterator[str]:
    """Yield what the counts are based on, and what they leave out."""
    if score.digests:
        yield sentences.COUNTED
    if score.young:
        yield sentences.format_young(score.young)
    if score.known:
        yield sentences.format_left_out(score.known)
    if score.shown.pulls >= _SURPRISING_COUNT and not score.shown.taken_back:
        yield sentences.NO_REVERTS
    if len(score.versions) > 1:
        yield sentences.format_versions(truncate_text(", ".join(score.versions), 200))
