"""The texts of reports, in a form that says nothing about whose report it was."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from bot.domain.errors import UsageError
from bot.domain.summaries.models import NO_RISKS
from bot.domain.text.strings import remove_invisible
from bot.render.blocks.sanitize import JOINER
from bot.render.digest.report import NO_INSIGHTS

HEADINGS = ("What changed and why", "Technical impact", "Potential risks", "Key insights")
# a section that says nothing: the sentences that reports of ours have there would give them away
NOTHING = "None."
_EMPTY = (NO_RISKS, NO_INSIGHTS)

_ENTRY = re.compile(r"^## \d+\. ", re.M)
_NUMBER = re.compile(r"^- \*\*PR Number:\*\* #(\d+)[ ]*$", re.M)
_SUMMARY = re.compile(r"^### Summary[ ]*$", re.M)
_HEADING = re.compile(rf"^\*\*({'|'.join(HEADINGS)})\*\*[ ]*$", re.M)
_END = re.compile(r"\s*^---[ ]*\s*\Z", re.M)

_CODE = re.compile(r"(?<![\\`])(`+)(?!`)(.+?)(?<!`)\1(?!`)")
# reports of ours escape the parenthesis
_LINK = re.compile(r"!?\[([^\[\]]*)\]\\?\([^()\s]*\)")
_ADDRESS = re.compile(r"<?\b(?:https?://|www\.)[^\s<>)]+>?")
# reports of ours escape what imitates their labels
_BOLD = re.compile(r"\\?\*\*(\S(?:[^*]*\S)?)\*\*|__(\S(?:[^_]*\S)?)__")
_ITALIC = re.compile(r"(?<![\w*])\*(\S(?:[^*]*\S)?)\*(?![\w*])")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_LIST_ITEM = re.compile(r"\s*(?:[-+*•]|\d{1,2}[.)])\s+")
# quotation marks, dashes and the ellipsis of typography, as a keyboard has them
_SIGNS = str.maketrans(
    {"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": "-", "\u2026": "..."}
)


def parse_report(text: str, name: str) -> dict[int, str]:
    """Return the normal text of each pull request of a report, by number.

    Raises:
        UsageError: one has no number, or not the four sections; ``name`` is that of the report.
    """
    return dict(_parse_entry(entry, name) for entry in _ENTRY.split(text)[1:])


def _parse_entry(entry: str, name: str) -> tuple[int, str]:
    number = _NUMBER.search(entry)
    if number is None:
        raise UsageError(f"{name}: an entry has no number.")
    _, *summary = _SUMMARY.split(entry, maxsplit=1)
    _, *parts = _HEADING.split(summary[0] if summary else "")
    if tuple(parts[::2]) != HEADINGS:
        raise UsageError(f"{name}: #{number[1]} does not have the four sections of a report.")
    sections = (normalise_text(_END.sub("", part)) for part in parts[1::2])
    return int(number[1]), "\n\n".join(map("\n".join, zip(HEADINGS, sections, strict=True)))


def normalise_text(text: str) -> str:
    """Return a section as one paragraph of plain text.

    Lists become sentences. Emphasis, code marks, links, addresses, escapes and typographic signs go.
    """
    sentences = [_normalise_line(line) for line in _join_items(text)]
    paragraph = " ".join(" ".join(sentences).split())
    return NOTHING if paragraph in ("", *_EMPTY) else paragraph


def _join_items(text: str) -> Iterator[str]:
    """Yield the lines without the marks of lists; the end of an item ends a sentence."""
    # reports of ours break addresses by an invisible sign
    for line in remove_invisible(text.replace(JOINER, "")).split("\n"):
        marker = _LIST_ITEM.match(line)
        item = line[marker.end() :].strip() if marker else line.strip()
        yield f"{item}." if marker and item and item[-1] not in ".:;!?" else item


def _normalise_line(line: str) -> str:
    pieces, at = [], 0
    for code in _CODE.finditer(line):
        # a bar is escaped in code, too: reports may be shown in tables
        pieces += [_remove_marks(line[at : code.start()]), code[2].strip().replace(r"\|", "|")]
        at = code.end()
    return "".join([*pieces, _remove_marks(line[at:])]).translate(_SIGNS)


def _remove_marks(text: str) -> str:
    plain = _ADDRESS.sub("", _LINK.sub(r"\1", text))
    plain = _BOLD.sub(lambda match: match[1] or match[2], plain)
    return html.unescape(_ESCAPE.sub(r"\1", _ITALIC.sub(r"\1", plain)))
