"""Limits of texts for the model: a text that is too long is cut with a note."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bot.domain.text.strings import format_count, truncate_text

# characters of a result: some 3,000 tokens
MAX_RESULT_LENGTH = 12_000
# of a diff: some 6,000 tokens
MAX_DIFF_LENGTH = 24_000
_MAX_LINE_LENGTH = 6_000


@dataclass(frozen=True, slots=True)
class TextBounds:
    """The most characters of a result and of a diff. A reader that turns pages takes more than a model at once."""

    result: int = MAX_RESULT_LENGTH
    diff: int = MAX_DIFF_LENGTH


MODEL_BOUNDS = TextBounds()


@dataclass(frozen=True, slots=True)
class BoundedText:
    """A text of lines, truncated with a note if it is too long."""

    text: str
    hidden_count: int = 0


def limit_lines(lines: Iterable[str], most: int, what: str, advice: str) -> BoundedText:
    """Return as many of the lines as fit into ``most`` characters; ``what`` names one that does not."""
    kept: list[str] = []
    hidden, room = 0, most
    for line in map(_limit_line, lines):
        if hidden or len(line) > room:
            hidden += 1
        else:
            kept.append(line)
            room -= len(line) + 1
    if hidden:
        kept.append(f"[cut: {format_count(hidden, what)} not shown; {advice}]")
    return BoundedText("\n".join(kept), hidden)


def _limit_line(line: str) -> str:
    """Truncate a line, so that it does not displace all those after it."""
    return (
        line
        if len(line) <= _MAX_LINE_LENGTH
        else f"{truncate_text(line, _MAX_LINE_LENGTH)} [cut: the rest of this line]"
    )


def join_items(items: list[str], most: int) -> str:
    """Join as many of the items as fit into ``most`` characters, and the number of the others."""
    length, shown = 0, 0
    for item in items:
        length += len(item) + 2
        if length > most:
            break
        shown += 1
    more = f" [cut: {len(items) - shown:,} more]" if shown < len(items) else ""
    return ", ".join(items[:shown]) + more
