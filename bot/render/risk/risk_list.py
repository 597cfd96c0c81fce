"""The answer to ``/prrisks``: first what was reverted or repaired, then what deserves a second look."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.digest.risk_list import RiskList
from bot.domain.text.strings import collapse_lines, format_count, truncate_text
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

_MAX_NUMBERS = 6
_MAX_NOTES_LENGTH = 800


def render_risk_list(risk_list: RiskList) -> Post:
    """Render the list as a message."""
    name = truncate_text(collapse_lines(risk_list.name), 60)
    title = f"Risky changes · {name} · {risk_list.span.title} · {_format_count(risk_list)}"
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
        *render_outcomes(risk_list.taken_back, risk_list.older, ": ask for fewer days to see them"),
        *_render_riskiest(risk_list, limit, links=links),
        *_render_below_bar(risk_list, limit, links=links),
        *_render_notes(risk_list),
    ]


def _format_count(risk_list: RiskList) -> str:
    """Format how many pull requests were merged, and how many match the filters."""
    if not risk_list.merged:
        return "nothing merged"
    return (
        f"{risk_list.matching:,} of {risk_list.merged:,} merged"
        if risk_list.filters
        else f"{risk_list.merged:,} merged"
    )


def _render_riskiest(risk_list: RiskList, limit: int, *, links: bool) -> Iterator[Block]:
    """Yield the list, or that it is empty."""
    urls = _collect_urls(risk_list) if links else {}
    if risk_list.riskiest:
        title = render_second_look_title(is_sparing=risk_list.is_reduced)
        yield make_block(
            make_section(title),
            make_bullets(render_second_look(entry, urls, limit) for entry in risk_list.riskiest),
        )
    elif risk_list.filters and risk_list.merged and not risk_list.matching:
        yield make_block(
            make_section(
                [
                    make_text(
                        f"No pull request of these days fits "
                        f"{truncate_text(collapse_lines(risk_list.filters), 300)}."
                    )
                ]
            )
        )
    elif risk_list.merged:
        yield make_block(
            make_section(
                [make_text("Nothing else stands out." if risk_list.taken_back else "Nothing stands out.")]
            )
        )


def _collect_urls(risk_list: RiskList) -> dict[int, str]:
    """Return the addresses of the listed pull requests by number."""
    return {entry.number: entry.pull.url for entry in (*risk_list.riskiest, *risk_list.below)}


def _render_below_bar(risk_list: RiskList, limit: int, *, links: bool) -> Iterator[Block]:
    """Yield the entries below the bar that ``top:N`` requested, and a note if fewer than N can be ranked."""
    urls = _collect_urls(risk_list) if links else {}
    if risk_list.below:
        title = [
            make_text("Below the bar", bold=True),
            make_text(f" (listed because of top:{risk_list.top})", italic=True),
        ]
        yield make_block(
            make_section(title), make_bullets(render_second_look(entry, urls, limit) for entry in risk_list.below)
        )
    if risk_list.top and risk_list.matching and risk_list.ranked < risk_list.top:
        yield make_context(
            f"top:{risk_list.top}: only {format_count(risk_list.ranked, 'pull request')} can be ranked."
        )


def _format_filters(risk_list: RiskList) -> str:
    """Format the filters."""
    return truncate_text(collapse_lines(risk_list.filters), 300)


def _render_notes(risk_list: RiskList) -> Iterator[Block]:
    """Yield what the list does not cover."""
    numbers = [f"#{number}" for number in risk_list.unread[:_MAX_NUMBERS]]
    more = f" and {len(risk_list.unread) - _MAX_NUMBERS} more" if len(risk_list.unread) > _MAX_NUMBERS else ""
    notes = [
        *([_format_filters(risk_list)] if risk_list.filters else []),
        *([f"not read: {', '.join(numbers)}{more}"] if numbers else []),
        *dict.fromkeys(risk_list.caveats),
    ]
    if notes:
        yield make_context(truncate_text(" · ".join(notes), _MAX_NOTES_LENGTH))
