"""What a repository will remove: lines for messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bot.domain.text.strings import collapse_lines, format_count, truncate_text
from bot.render.blocks.rich_text import Element, make_link, make_text
from bot.render.blocks.sentences import UNNAMED
from impact.contract.deprecations import Deprecation, DeprecationNews, DeprecationState
from impact.touches.deprecations import UsedDeprecation

_NEWS_WORDS = {
    DeprecationState.ANNOUNCED: "is deprecated",
    DeprecationState.DUE: "may go with the next release",
    DeprecationState.OVERDUE: "is overdue",
    DeprecationState.REMOVED: "was removed",
}


def render_news(news: Iterable[tuple[DeprecationNews, UsedDeprecation]], url: str) -> Iterator[list[Element]]:
    """Yield a line of a digest for each step of a deprecation. Without an address, nothing is linked."""
    for step, used in news:
        yield [make_text(f"{describe_step(step)}: "), *render_deprecation(used, url)]


def describe_step(news: DeprecationNews) -> str:
    """Describe a step as the end of a sentence about its name."""
    return f"{_NEWS_WORDS[news.state]}{f' since {news.release.name}' if news.release else ''}"


def render_deprecation(used: UsedDeprecation, url: str) -> list[Element]:
    entry = used.entry
    details = describe_deadline(entry)
    number = entry.removed_by or entry.number
    name = f"#{number}" if number > 0 else entry.commit[:10]
    place = describe_first_use(used)
    return [
        make_text(truncate_text(collapse_lines(entry.name), 120) or UNNAMED, code=True),
        make_text(f" {details} (" if details else " ("),
        make_link(f"{url}/pull/{number}", name) if number > 0 and url else make_text(name),
        make_text(f"){f' · used at {place}' if place else ''}"),
    ]


def describe_deadline(entry: Deprecation) -> str:
    """Describe when something goes, and what takes its place."""
    when = f"to go in {truncate_text(collapse_lines(entry.when), 40)}" if entry.when else ""
    instead = truncate_text(collapse_lines(entry.replacement), 80)
    return ", ".join(part for part in (when, f"use {instead}" if instead else "") if part)


def describe_first_use(used: UsedDeprecation) -> str:
    """Return the first place where it is used, with how many others there are; empty if there is none."""
    if not used.uses:
        return ""
    first, others = used.uses[0], len(used.uses) - 1
    more = f" and {format_count(others, 'other line')}" if others else ""
    return truncate_text(collapse_lines(f"{first.path}:{first.line}"), 100) + more
