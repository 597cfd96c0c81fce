"""The answer to ``/prrisks``: first what was reverted or repaired, then what deserves a second look."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from bot.domain.digest.risk_list import RiskList
from bot.domain.text.strings import collapse_lines, truncate_text
from bot.ports import Post
from bot.render.blocks.message_limits import choose_fitting_blocks
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
from bot.render.digest.shared_parts import render_outcomes, render_second_look, render_second_look_title
from bot.render.digest.touches import WIDE_TOUCHES, HitContext, render_touches
from bot.render.risk import sentences

_MAX_NUMBERS = 6
_MAX_NOTES_LENGTH = 800
_MAX_HITS = 10


def render_risk_list(risk_list: RiskList) -> Post:
    """Render the list as a message."""
    name = truncate_text(collapse_lines(risk_list.name), 60)
    title = sentences.format_list_title(name=name, days=risk_list.span.title, count=_format_count(risk_list))
    # links in the model's text, and then words, are left out if they would not fit
    versions = ((180, True), (120, False), (40, False))
    blocks = choose_fitting_blocks(
        _render_blocks(title, risk_list, limit, links=links) for limit, links in versions
    )
    return Post(escape_mrkdwn(title), tuple(blocks))


def _render_blocks(title: str, risk_list: RiskList, limit: int, *, links: bool) -> list[Block]:
    """Return the blocks; ``limit`` is in characters, for the reasons of the rules and for the model's."""
    return [
        make_header(title),
        *_render_touches(risk_list),
        *render_outcomes(risk_list.taken_back, risk_list.older, sentences.OUTCOMES_ELSEWHERE),
        *_render_riskiest(risk_list, limit, links=links),
        *_render_below_bar(risk_list, limit, links=links),
        *_render_notes(risk_list),
    ]


def _render_touches(risk_list: RiskList) -> Iterator[Block]:
    """Yield what touches the profile, first of all."""
    if risk_list.touches:
        context = HitContext.build(risk_list.touching, risk_list.taken_back)
        limits = replace(WIDE_TOUCHES, hits=_MAX_HITS)
        yield from render_touches(risk_list.touches, context, limits, sentences.HITS_ELSEWHERE)


def _format_count(risk_list: RiskList) -> str:
    """Format how many pull requests were merged, and how many match the filters."""
    return sentences.format_merge_count(
        merged=risk_list.merged, matching=risk_list.matching, is_filtered=bool(risk_list.filters)
    )


def _render_riskiest(risk_list: RiskList, limit: int, *, links: bool) -> Iterator[Block]:
    """Yield the list, or that it is empty."""
    urls = _collect_urls(risk_list) if links else {}
    if risk_list.riskiest:
        title = render_second_look_title(is_reduced=risk_list.is_reduced)
        yield make_block(
            make_section(title),
            make_bullets(render_second_look(entry, urls, limit) for entry in risk_list.riskiest),
        )
    elif risk_list.touches and not risk_list.matching:
        return
    elif risk_list.filters and risk_list.merged and not risk_list.matching:
        yield make_block(make_section([make_text(sentences.format_no_match(_format_filters(risk_list)))]))
    elif risk_list.merged:
        sentence = sentences.NOTHING_ELSE if risk_list.taken_back else sentences.NOTHING
        yield make_block(make_section([make_text(sentence)]))


def _collect_urls(risk_list: RiskList) -> dict[int, str]:
    """Return the addresses of the listed pull requests by number."""
    return {entry.number: entry.pull.url for entry in (*risk_list.riskiest, *risk_list.below)}


def _render_below_bar(risk_list: RiskList, limit: int, *, links: bool) -> Iterator[Block]:
    """Yield the entries below the bar that ``top:N`` requested, and a note if fewer than N can be ranked."""
    urls = _collect_urls(risk_list) if links else {}
    if risk_list.below and risk_list.top:
        title = [
            make_text(sentences.BELOW_BAR_TITLE, bold=True),
            make_text(sentences.format_top_reason(risk_list.top), italic=True),
        ]
        yield make_block(
            make_section(title), make_bullets(render_second_look(entry, urls, limit) for entry in risk_list.below)
        )
    if risk_list.top and risk_list.matching and risk_list.ranked < risk_list.top:
        yield make_context(sentences.format_few_ranked(top=risk_list.top, ranked=risk_list.ranked))


def _format_filters(risk_list: RiskList) -> str:
    """Format the filters."""
    return truncate_text(collapse_lines(risk_list.filters), 300)


def _render_notes(risk_list: RiskList) -> Iterator[Block]:
    """Yield what the list does not cover."""
    notes = [
        *([_format_filters(risk_list)] if risk_list.filters else []),
        *([sentences.format_unread(risk_list.unread, _MAX_NUMBERS)] if risk_list.unread else []),
        *dict.fromkeys(risk_list.caveats),
    ]
    if notes:
        yield make_context(truncate_text(" · ".join(notes), _MAX_NOTES_LENGTH))
