"""What a repository will remove: lines for a digest, a list for Slack and one for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from bot.domain.text.strings import collapse_lines, format_count, truncate_text
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
    make_link,
    make_section,
    make_text,
)
from bot.render.blocks.sentences import UNNAMED
from impact.contract.deprecations import Deprecation, DeprecationNews, DeprecationState
from impact.touches.deprecations import UsedDeprecation

_TITLES = {
    DeprecationState.OVERDUE: "Overdue: the release of the deadline is out",
    DeprecationState.DUE: "Due: the next release may remove it",
    DeprecationState.ANNOUNCED: "Announced",
    DeprecationState.REMOVED: "Removed",
}
_NEWS_WORDS = {
    DeprecationState.ANNOUNCED: "is deprecated",
    DeprecationState.DUE: "may go with the next release",
    DeprecationState.OVERDUE: "is overdue",
    DeprecationState.REMOVED: "was removed",
}
_READ_NOTE = "From the merges that I have read; due and overdue by the releases and tags of the repository"
_NOTHING = "No merge that I have read deprecates anything."
_MAX_NAME, _MAX_WHEN, _MAX_REPLACEMENT = 120, 40, 80
# entries of each state, until a message fits
_VERSIONS = (20, 12, 6, 3)

StatedDeprecation = tuple[DeprecationState, UsedDeprecation]


def render_deprecations(name: str, entries: Sequence[StatedDeprecation], url: str) -> Post:
    """Render the list as a message, what is used first. ``url`` is the address of the repository."""
    title = f"{truncate_text(collapse_lines(name), 60)} · {format_count(len(entries), 'deprecation')}"
    blocks = choose_fitting_blocks(_render_blocks(title, entries, url, most) for most in _VERSIONS)
    return Post(escape_mrkdwn(title), tuple(blocks))


def render_news(news: Iterable[tuple[DeprecationNews, UsedDeprecation]], url: str) -> Iterator[list[Element]]:
    """Yield a line of a digest for each step of a deprecation. Without an address, nothing is linked."""
    for step, used in news:
        yield [make_text(f"{describe_step(step)}: "), *_render_entry(used, url)]


def describe_step(news: DeprecationNews) -> str:
    """Describe a step as the end of a sentence about its name."""
    return f"{_NEWS_WORDS[news.state]}{f' since {news.release.name}' if news.release else ''}"


def format_deprecations(entries: Sequence[StatedDeprecation]) -> str:
    """Format the list for a terminal."""
    lines = []
    for state, used in _sort_entries(entries):
        entry = used.entry
        parts = [f"{state:9}", entry.name, _describe_deadline(entry), f"#{entry.number}", *_list_places(used)]
        lines.append(collapse_lines("  ".join(part for part in parts if part)))
    return "\n".join(lines) or _NOTHING


def _render_blocks(title: str, entries: Sequence[StatedDeprecation], url: str, most: int) -> list[Block]:
    blocks = [make_header(title)]
    ordered = _sort_entries(entries)
    for state, heading in _TITLES.items():
        lines = [_render_entry(used, url) for each, used in ordered if each is state]
        if lines:
            rest = [[make_text(f"and {len(lines) - most} more")]] if len(lines) > most else []
            blocks.append(
                make_block(make_section([make_text(heading, bold=True)]), make_bullets([*lines[:most], *rest]))
            )
    if not entries:
        blocks.append(make_block(make_section([make_text(_NOTHING)])))
    return [*blocks, *([make_context(_READ_NOTE)] if entries else [])]


def _render_entry(used: UsedDeprecation, url: str) -> list[Element]:
    entry = used.entry
    details = _describe_deadline(entry)
    number = entry.removed_by or entry.number
    places = "".join(f" · used at {place}" for place in _list_places(used))
    name = f"#{number}" if number > 0 else entry.commit[:10]
    link = make_link(f"{url}/pull/{number}", name) if number > 0 and url else make_text(name)
    return [
        make_text(truncate_text(collapse_lines(entry.name), _MAX_NAME) or UNNAMED, code=True),
        make_text(f" {details} (" if details else " ("),
        link,
        make_text(f"){places}"),
    ]


def _describe_deadline(entry: Deprecation) -> str:
    """Describe when something goes, and what takes its place."""
    when = f"to go in {truncate_text(collapse_lines(entry.when), _MAX_WHEN)}" if entry.when else ""
    instead = truncate_text(collapse_lines(entry.replacement), _MAX_REPLACEMENT)
    return ", ".join(part for part in (when, f"use {instead}" if instead else "") if part)


def _list_places(used: UsedDeprecation) -> Iterator[str]:
    """Yield the first place where it is used, with how many others there are."""
    if used.uses:
        first, others = used.uses[0], len(used.uses) - 1
        more = f" and {format_count(others, 'other line')}" if others else ""
        yield truncate_text(collapse_lines(f"{first.path}:{first.line}"), 100) + more


def _sort_entries(entries: Iterable[StatedDeprecation]) -> list[StatedDeprecation]:
    """Return the entries: those that are used first, then by deadline."""
    states = list(_TITLES)
    return sorted(
        entries, key=lambda each: (states.index(each[0]), not each[1].uses, each[1].entry.when, each[1].entry.name)
    )
