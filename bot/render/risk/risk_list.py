"""The answer to ``/prrisks``: first what was taken back, then what deserves a second look."""

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


def risks_post(found: RiskList) -> Post:
    """The list as a message."""
    name = shorten(one_line(found.name), 60)
    title = f"Risky changes · {name} · {found.span.title} · {_count(found)}"
    # links in what the model says, and then words, are left out where they would not fit
    versions = ((180, True), (120, False), (40, False))
    blocks = first_that_fits(_blocks(title, found, limit, links=links) for limit, links in versions)
    return Post(escape(title), tuple(blocks))


def _blocks(title: str, found: RiskList, limit: int, *, links: bool) -> list[Block]:
    """``limit`` is in characters, for the reasons of each pull request and for what the model says of it."""
    return [
        header(title),
        *reverted(found.taken_back, found.older, ": ask for fewer days to see them"),
        *_riskiest(found, limit, links=links),
        *_below(found, limit, links=links),
        *_notes(found),
    ]


def _count(found: RiskList) -> str:
    if not found.merged:
        return "nothing merged"
    return f"{found.matching:,} of {found.merged:,} merged" if found.filters else f"{found.merged:,} merged"


def _riskiest(found: RiskList, limit: int, *, links: bool) -> Iterator[Block]:
    known = _known(found) if links else {}
    if found.riskiest:
        title = second_look_title(is_sparing=found.is_sparing)
        yield block(section(title), bullets(second_look(entry, known, limit) for entry in found.riskiest))
    elif found.filters and found.merged and not found.matching:
        yield block(
            section([text(f"No pull request of these days fits {shorten(one_line(found.filters), 300)}.")])
        )
    elif found.merged:
        yield block(section([text("Nothing else stands out." if found.taken_back else "Nothing stands out.")]))


def _known(found: RiskList) -> dict[int, str]:
    return {entry.number: entry.pull.url for entry in (*found.riskiest, *found.below)}


def _below(found: RiskList, limit: int, *, links: bool) -> Iterator[Block]:
    """What was asked for by number and does not stand out; and where there were fewer, that these are all."""
    known = _known(found) if links else {}
    if found.below:
        title = [text("Below the bar", bold=True), text(f" (listed because of top:{found.top})", italic=True)]
        yield block(section(title), bullets(second_look(entry, known, limit) for entry in found.below))
    if found.top and found.matching and found.ranked < found.top:
        yield context(f"top:{found.top}: only {plural(found.ranked, 'pull request')} can be ranked.")


def _filters(found: RiskList) -> str:
    return shorten(one_line(found.filters), 300)


def _notes(found: RiskList) -> Iterator[Block]:
    """What the list does not cover."""
    numbers = [f"#{number}" for number in found.unread[:_MOST_NAMED]]
    more = f" and {len(found.unread) - _MOST_NAMED} more" if len(found.unread) > _MOST_NAMED else ""
    notes = [
        *([_filters(found)] if found.filters else []),
        *([f"not read: {', '.join(numbers)}{more}"] if numbers else []),
        *dict.fromkeys(found.doubts),
    ]
    if notes:
        yield context(shorten(" · ".join(notes), _NOTES))
