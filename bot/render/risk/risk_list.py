"""The answer to ``/prrisks``: first what was reverted or repaired, then what deserves a second look."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.digest.risk_list import RiskList
from bot.domain.text.strings import one_line, plural, shorten
from bot.ports import Post
from bot.render.blocks.message_limits import first_that_fits
from bot.render.blocks.mrkdwn import escape
from bot.render.blocks.rich_text import Block, block, bullets, context, header, section, text
from bot.render.digest.parts import reverted, second_look, second_look_title

_MOST_NAMED = 6
_NOTES = 800


def risks_post(risk_list: RiskList) -> Post:
    """Render the list as a message."""
    name = shorten(one_line(risk_list.name), 60)
    title = f"Risky changes · {name} · {risk_list.span.title} · {_count(risk_list)}"
    # links in the model's text, and then words, are left out if they would not fit
    versions = ((180, True), (120, False), (40, False))
    blocks = first_that_fits(_blocks(title, risk_list, limit, links=links) for limit, links in versions)
    return Post(escape(title), tuple(blocks))


def _blocks(title: str, risk_list: RiskList, limit: int, *, links: bool) -> list[Block]:
    """Return the blocks; ``limit`` is in characters, for the reasons of the rules and for the model's."""
    return [
        header(title),
        *reverted(risk_list.taken_back, risk_list.older, ": ask for fewer days to see them"),
        *_riskiest(risk_list, limit, links=links),
        *_below(risk_list, limit, links=links),
        *_notes(risk_list),
    ]


def _count(risk_list: RiskList) -> str:
    """Format how many pull requests were merged, and how many match the filters."""
    if not risk_list.merged:
        return "nothing merged"
    return (
        f"{risk_list.matching:,} of {risk_list.merged:,} merged"
        if risk_list.filters
        else f"{risk_list.merged:,} merged"
    )


def _riskiest(risk_list: RiskList, limit: int, *, links: bool) -> Iterator[Block]:
    """Yield the list, or that it is empty."""
    urls = _known(risk_list) if links else {}
    if risk_list.riskiest:
        title = second_look_title(is_sparing=risk_list.is_sparing)
        yield block(section(title), bullets(second_look(entry, urls, limit) for entry in risk_list.riskiest))
    elif risk_list.filters and risk_list.merged and not risk_list.matching:
        yield block(
            section([text(f"No pull request of these days fits {shorten(one_line(risk_list.filters), 300)}.")])
        )
    elif risk_list.merged:
        yield block(section([text("Nothing else stands out." if risk_list.taken_back else "Nothing stands out.")]))


def _known(risk_list: RiskList) -> dict[int, str]:
    """Return the addresses of the listed pull requests by number."""
    return {entry.number: entry.pull.url for entry in (*risk_list.riskiest, *risk_list.below)}


def _below(risk_list: RiskList, limit: int, *, links: bool) -> Iterator[Block]:
    """Yield the entries below the bar that ``top:N`` requested, and a note if fewer than N can be ranked."""
    urls = _known(risk_list) if links else {}
    if risk_list.below:
        title = [text("Below the bar", bold=True), text(f" (listed because of top:{risk_list.top})", italic=True)]
        yield block(section(title), bullets(second_look(entry, urls, limit) for entry in risk_list.below))
    if risk_list.top and risk_list.matching and risk_list.ranked < risk_list.top:
        yield context(f"top:{risk_list.top}: only {plural(risk_list.ranked, 'pull request')} can be ranked.")


def _filters(risk_list: RiskList) -> str:
    """Format the filters."""
    return shorten(one_line(risk_list.filters), 300)


def _notes(risk_list: RiskList) -> Iterator[Block]:
    """Yield what the list does not cover."""
    numbers = [f"#{number}" for number in risk_list.unread[:_MOST_NAMED]]
    more = f" and {len(risk_list.unread) - _MOST_NAMED} more" if len(risk_list.unread) > _MOST_NAMED else ""
    notes = [
        *([_filters(risk_list)] if risk_list.filters else []),
        *([f"not read: {', '.join(numbers)}{more}"] if numbers else []),
        *dict.fromkeys(risk_list.doubts),
    ]
    if notes:
        yield context(shorten(" · ".join(notes), _NOTES))
