"""What all prompts for a model have in common: instructions from files, fences, small schemas, and limits."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import count
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from bot.redaction import redact_text
from bot.text import format_count
from impact.text.strings import truncate_text


@cache
def read_instructions(version: str) -> str:
    """Return the text of a version of the instructions."""
    return files("bot.prompts").joinpath(f"{version}.md").read_text(encoding="utf-8").strip()


def fence_text(name: str, text: str) -> str:
    """Return the text without credentials, between marks that it can't forge: it does not contain their id."""
    text = redact_text(text)
    # they depend on the text alone, so that the same text is the same prompt; one that contains its own first mark
    # takes some four billion attempts to find, which a machine does in an hour
    marks = (hashlib.sha256(f"{text}{number or ''}".encode()).hexdigest()[:8] for number in count())
    mark = choose_mark(text, marks)
    return f'<{name} id="{mark}">\n{text}\n</{name} id="{mark}">'


def choose_mark(text: str, marks: Iterable[str]) -> str:
    """Return the first mark that is not in the text."""
    return next(mark for mark in marks if mark not in text)


class CompactSchema(GenerateJsonSchema):
    """Generator of schemas without titles: they repeat the names and cost tokens in every prompt."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


# --- texts of lines that have to fit: what is left out is said

# characters of the result of a tool: some 3,000 tokens; and of a diff: some 6,000
MAX_RESULT_LENGTH, MAX_DIFF_LENGTH = 12_000, 24_000
_MAX_LINE_LENGTH = 6_000


@dataclass(frozen=True, slots=True)
class TextBounds:
    """The most characters of a result and of a diff. A reader that turns pages takes more than a model at once."""

    result: int = MAX_RESULT_LENGTH
    diff: int = MAX_DIFF_LENGTH


MODEL_BOUNDS = TextBounds()


@dataclass(frozen=True, slots=True)
class BoundedText:
    """A text of lines, and how many of them are left out."""

    text: str
    hidden_count: int = 0


def limit_lines(lines: Iterable[str], most: int, what: str, advice: str) -> BoundedText:
    """Return as many of the lines as fit into ``most`` characters; ``what`` names one that does not."""
    kept: list[str] = []
    hidden, room = 0, most
    for line in lines:
        if len(line) > _MAX_LINE_LENGTH:
            # it must not displace all those after it
            line = f"{truncate_text(line, _MAX_LINE_LENGTH)} [cut: the rest of this line]"  # noqa: PLW2901
        if hidden or len(line) > room:
            hidden += 1
        else:
            kept.append(line)
            room -= len(line) + 1
    if hidden:
        kept.append(f"[cut: {format_count(hidden, what)} not shown; {advice}]")
    return BoundedText("\n".join(kept), hidden)


def join_items(items: Sequence[str], most: int) -> str:
    """Join as many of the items as fit into ``most`` characters, and the number of the others."""
    length, shown = 0, 0
    for item in items:
        length += len(item) + 2
        if length > most:
            break
        shown += 1
    more = f" [cut: {len(items) - shown:,} more]" if shown < len(items) else ""
    return ", ".join(items[:shown]) + more
