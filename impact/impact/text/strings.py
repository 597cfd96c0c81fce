"""Helpers for text: one line, limited length, nothing that can't be seen; and dates as people write them."""

from __future__ import annotations

import datetime as dt
import json
import re
import unicodedata
from collections.abc import Sequence

from impact.errors import UsageError

# control and format characters, among them bidirectional overrides, which can make a line look like another one
_INVISIBLE = {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}
# the zero-width joiner and non-joiner have a meaning in emoji and in many scripts
_JOINERS = {"\u200c", "\u200d"}
_HIDDEN = re.compile(
    "[\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)
# no repository is older, and datetime can't express the end of a day after the last one
_FIRST_YEAR, _LAST_YEAR = 1970, 9998
_COMMENT = re.compile(r"<!--.*?(-->|\Z)", re.S)


def collapse_lines(text: str) -> str:
    """Return the text on one line: runs of white space become one blank, control characters are removed."""
    line = " ".join(text.split())
    # nearly every line is printable, and then there is nothing to remove
    if line.isprintable():
        return line
    return " ".join("".join(char for char in text if char.isspace() or _is_visible(char)).split())


def remove_invisible(text: str) -> str:
    """Remove control and invisible characters, which could affect a terminal or hide text; keep line breaks."""
    if text.replace("\n", "").isprintable():
        return text
    return "".join(char for char in text if char == "\n" or _is_visible(char))


def escape_invisible(json_text: str) -> str:
    """Escape what can't be seen in JSON, and what turns a line around: the value stays the same."""
    return _HIDDEN.sub(lambda match: json.dumps(match[0])[1:-1], json_text)


def _is_visible(char: str) -> bool:
    return char in _JOINERS or unicodedata.category(char) not in _INVISIBLE


def count_common(first: Sequence[object], second: Sequence[object]) -> int:
    """Return how many characters, or lines, both begin with."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((index for index, (one, other) in pairs if one != other), min(len(first), len(second)))


def truncate_text(text: str, limit: int) -> str:
    """Truncate the text to ``limit`` characters with an ellipsis, between words where possible."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    at_blank = cut.rsplit(" ", 1)[0] if " " in cut[limit // 2 :] else cut
    return at_blank.rstrip() + "…"


def quote_input(text: str) -> str:
    """Return user input for use in a message: on one line, at most 60 characters, in quotation marks."""
    return repr(truncate_text(collapse_lines(text), 60))


def remove_comments(markdown: str) -> str:
    """Remove HTML comments: templates of pull requests are full of hints that are not meant for readers."""
    return _COMMENT.sub("", markdown)


def parse_date(text: str) -> dt.date:
    """Parse a date written as ``YYYY-MM-DD``. Raises UsageError."""
    refusal = f"{quote_input(text)} is not a date: write it as YYYY-MM-DD, such as 2026-02-28."
    try:
        date = dt.date.fromisoformat(text)
    except ValueError as error:
        raise UsageError(refusal) from error
    # fromisoformat accepts other spellings too
    if date.isoformat() != text or not _FIRST_YEAR <= date.year <= _LAST_YEAR:
        raise UsageError(refusal)
    return date
