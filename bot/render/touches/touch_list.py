"""The answers to ``/prdigest touches``: the hits of some days, and what became of all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bot.domain.digest.touches import sort_hits
from bot.domain.text.strings import collapse_lines, truncate_text
from bot.domain.touches.decisions import LevelScore
from bot.domain.touches.listing import TouchList
from bot.ports import Post
from bot.render.blocks.message_limits import choose_fitting_blocks
from bot.render.blocks.mrkdwn import escape_mrkdwn
from bot.render.blocks.rich_text import (
    Block,
    Element,
    make_block,
    make_bullets,
    make_context,
    make_header,
    make_section,
    make_text,
)
from bot.render.contract.sentences import format_unread
from bot.render.digest.shared_parts import format_more
from bot.render.digest.touches import (
    HitContext,
    TouchLimits,
    make_title,
    make_verdict_row,
    render_hit_line,
    render_number,
    render_touches,
)
from bot.render.touches import sentences
from impact.touches.models import MergeTouches

# what is tried until a message fits
_LIMITS = ((20, 9, 14, 18), (12, 9, 14, 18), (12, 6, 8, 10), (8, 0, 6, 6), (4, 0, 0, 0))
# hits with buttons: nobody decides about more at once, and each takes three blocks
MAX_ROWS = 8
_VERSIONS = tuple(TouchLimits(*each) for each in _LIMITS)
_MAX_VERDICTS = 20
_MAX_NOTES_LENGTH = 1_500


def render_touch_list(touch_list: TouchList) -> Post:
    """Render the list as a message."""
    name = truncate_text(collapse_lines(touch_list.name), 60)
    profile = truncate_text(collapse_lines(touch_list.report.profile), 40)
    title = sentences.format_list_title(profile=profile, name=name, days=touch_list.span.title)
    blocks = choose_fitting_blocks(_render_blocks(title, touch_list, limits) for limits in _VERSIONS)
    return Post(escape_mrkdwn(title), tuple(blocks))


def _render_blocks(title: str, touch_list: TouchList, limits: TouchLimits) -> list[Block]:
    context = HitContext.build(touch_list.pulls, ())
    hits = sort_hits(touch_list.report, context.taken_back)
    section = list(_render_hits(touch_list, context, limits) if hits else _render_nothing(touch_list))
    listed = hits[min(MAX_ROWS, limits.hits) :]
    return [
        make_header(title),
        *section,
        *_render_verdicts(touch_list, listed, context),
        *_render_notes(touch_list),
    ]


def _render_nothing(touch_list: TouchList) -> Iterator[Block]:
    """Yield that nothing touches, or that nothing was merged."""
    context = HitContext.build(touch_list.pulls, ())
    section = list(render_touches(touch_list.report, context))
    yield from section or [make_block(make_section([make_text(sentences.format_no_merges())]))]


def _render_hits(touch_list: TouchList, context: HitContext, limits: TouchLimits) -> Iterator[Block]:
    """Yield the hits: the strongest with buttons, the others as a list."""
    report = touch_list.report
    hits = sort_hits(report, context.taken_back)
    yield make_block(make_title(report))
    with_row = min(MAX_ROWS, limits.hits)
    for hit in hits[:with_row]:
        yield make_block(make_bullets([render_hit_line(hit, context, limits)]))
        if pull := context.pulls.get(hit.number):
            yield make_verdict_row(pull, report.profile)
    items = [render_hit_line(hit, context, limits) for hit in hits[with_row : limits.hits]]
    if len(hits) > limits.hits:
        items.append([make_text(format_more(len(hits) - limits.hits, f": {sentences.IN_SHORTER_LISTS}"))])
    if items:
        yield make_block(make_bullets(items))


def _render_verdicts(
    touch_list: TouchList, listed: Iterable[MergeTouches], context: HitContext
) -> Iterator[Block]:
    """Yield what people said about the merges that are listed without buttons."""
    elements: list[Element] = []
    shown = [merge.number for merge in listed if merge.number in touch_list.verdicts]
    for number in shown[:_MAX_VERDICTS]:
        elements += [
            *([make_text("; ")] if elements else []),
            *render_number(number, context.pulls.get(number)),
            make_text(sentences.format_verdicts(touch_list.verdicts[number])),
        ]
    if elements:
        yield make_block(make_section([make_text(sentences.DECISIONS_TITLE, bold=True), *elements]))


def _render_notes(touch_list: TouchList) -> Iterator[Block]:
    """Yield what could not be looked at."""
    unread = touch_list.report.unread
    notes = [*([format_unread(unread)] if unread else []), *dict.fromkeys(touch_list.caveats)]
    if notes:
        yield make_context(truncate_text(" · ".join(notes), _MAX_NOTES_LENGTH))


def render_touch_score(profile: str, scores: Iterable[LevelScore]) -> Post:
    """Render what became of the hits of a profile."""
    title = sentences.format_score_title(truncate_text(collapse_lines(profile), 40))
    levels = list(scores)
    if any(score.shown for score in levels):
        lines = [[make_text(sentences.format_level_score(score))] for score in levels]
        blocks = [make_block(make_bullets(lines)), make_context(sentences.HOW_TO_SCORE)]
    else:
        blocks = [make_block(make_section([make_text(sentences.NOTHING_SHOWN)]))]
    return Post(escape_mrkdwn(title), (make_header(title), *blocks))
