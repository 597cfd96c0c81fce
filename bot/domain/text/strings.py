"""Small rules for text: one line, no longer than, one or many."""

from __future__ import annotations

import re
import unicodedata

# controls and formats, among them the bidirectional overrides that make a line read otherwise than it is
_INVISIBLE = {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}
# zero-width joiner and non-joiner carry meaning in emoji and in many scripts
_KEPT = {"\u200c", "\u200d"}
_COMMENT = re.compile(r"<!--.*?(-->|\Z)", re.S)


def one_line(text: str) -> str:
    """The text on one line: every run of white space is a blank, control characters are gone."""
    # nearly every text is printable, and then nothing of it is to go
    shown = text if text.isprintable() else "".join(char for char in text if char.isspace() or _is_shown(char))
    return " ".join(shown.split())


def printable(text: str) -> str:
    """The text with its line breaks, less every other character that could steer a terminal or hide something."""
    return text if text.isprintable() else "".join(char for char in text if char == "\n" or _is_shown(char))


def _is_shown(char: str) -> bool:
    return char in _KEPT or unicodedata.category(char) not in _INVISIBLE


def shorten(text: str, limit: int) -> str:
    """The text cut to ``limit`` characters, at a blank where there is one, with an ellipsis."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    at_blank = cut.rsplit(" ", 1)[0] if " " in cut[limit // 2 :] else cut
    return at_blank.rstrip() + "…"


def quoted(text: str) -> str:
    """What somebody typed, for a sentence about it: on one line, not long, in quotation marks."""
    return repr(shorten(one_line(text), 60))


def plural(count: int, singular: str, many: str = "") -> str:
    """``1 file``, ``2 files``, ``1,234 files``."""
    return f"{count:,} {singular if count == 1 else many or singular + 's'}"


def without_comments(markdown: str) -> str:
    """The text less HTML comments: pull request templates are full of hints that nobody wrote for a reader."""
    return _COMMENT.sub("", markdown)
