"""Escaping of external text in a Markdown file: nothing in it links, or looks like a part of the file itself.

Emphasis, code and lists of the text stay. Headings, rules, fences, quotations, tables and definitions of links are
escaped at the start of a line; links, images, HTML and bare addresses are escaped everywhere. Code spans end on
the line where they begin, and a backtick without a partner is escaped, so that every reader sees the same text as
code. ``@name`` and ``#1`` stay as they are: the file is not a comment on GitHub, and titles contain both.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from urllib.parse import quote

from bot.domain.text.redaction import redact_patch, redact_text
from bot.domain.text.strings import remove_invisible
from bot.render.blocks.sanitize import JOINER
from bot.render.blocks.sentences import UNNAMED

# what Python, or some other reader, treats as the end of a line
_BREAKS = re.compile("\r\n?|[\v\f\x1c-\x1e\x85\u2028\u2029]")
_RUNS_OF_BREAKS = re.compile("[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+")
# a bar that is already escaped stays as it is
_BAR = re.compile(r"(?<!\\)\|")
_BACKTICKS = re.compile("`+")
_SHORTEST_FENCE = 3
_TOKEN_PATTERN = re.compile(
    r"(?P<escaped>\\[!-/:-@\[-`{-~])|(?P<accents>`+)|(?P<html><)(?=[A-Za-z/!?])|(?P<address>:)(?=//)"
    r"|(?P<www>www)(?=\.)|(?P<opened>\[)|(?P<closed>\])(?=(?P<target>[(:])?)|(?P<last>\\\Z)",
    re.I,
)
# lists may stand in lists, and a heading in a list
_LIST_MARKERS = re.compile(r"(?:\s|[-+*]\s|\d{1,9}[.)]\s)*")
_BEGINS_A_BLOCK = re.compile(r"#{1,6}(?:\s|\Z)|>|~~~")
_RULE_LINE = re.compile(r"[-=_*+:|~\s]+")
_SAFE_IN_ADDRESS = ":/?#[]@!$&'*+,;=%~"


def escape_line(text: str) -> str:
    """Escape a text for one line, such as a heading or the label of a link, which no bracket of it ends."""
    line = _escape_signs(_join_lines(text), targets="(")
    lone = _find_lone_brackets(line)
    return "".join(f"\\{sign}" if at in lone else sign for at, sign in enumerate(line)) if lone else line


def escape_text(text: str) -> str:
    """Escape a text and keep its lines, for a paragraph with a heading of its own above it."""
    lines = redact_text(remove_invisible(_BREAKS.sub("\n", text).replace("\t", " "))).split("\n")
    return "\n".join(_escape_line_start(_escape_signs(line, targets="(:")) for line in lines)


def write_code(text: str) -> str:
    """Write a text as code on one line, between more backticks than it has in a row.

    Without a text there would be backticks alone, which would make code of what follows.
    """
    line = _join_lines(text) or UNNAMED
    mark = "`" * (1 + max((len(run) for run in _BACKTICKS.findall(line)), default=0))
    room = " " if len(mark) > 1 else ""
    return f"{mark}{room}{line}{room}{mark}"


def write_fence(content: str, language: str) -> str:
    """Write lines as a block of code, between fences that are longer than any run of backticks in them."""
    shown = redact_patch(remove_invisible(_BREAKS.sub(" ", content).replace("\t", "    ")))
    longest = max((len(run) for run in _BACKTICKS.findall(shown)), default=0)
    fence = "`" * max(_SHORTEST_FENCE, longest + 1)
    return f"{fence}{language}\n{shown}\n{fence}"


def write_address(url: str) -> str:
    """Write an address that code built, without signs that could end it."""
    return quote(url, safe=_SAFE_IN_ADDRESS)


def _escape_line_start(line: str) -> str:
    """Escape a line that begins like a block of Markdown."""
    if line.strip() and _RULE_LINE.fullmatch(line):
        start = len(line) - len(line.lstrip())
        return f"{line[:start]}\\{line[start:]}"
    points = _LIST_MARKERS.match(line)
    at = points.end() if points else 0
    is_block = at < len(line) and (_BEGINS_A_BLOCK.match(line, at) or _RULE_LINE.fullmatch(line, at))
    return f"{line[:at]}\\{line[at:]}" if is_block else line


def _join_lines(text: str) -> str:
    """Return the text on one line, without secrets or unprintable characters."""
    return redact_text(remove_invisible(_RUNS_OF_BREAKS.sub(" ", text).replace("\t", " ")))


def _escape_signs(line: str, targets: str) -> str:
    """Escape what could link; ``targets`` are the signs after a closing bracket that make it a link."""
    pieces, at = [], 0
    for match in _find_signs(line):
        pieces += [line[at : match.start()], _escape_sign(match, targets)]
        at = match.end()
    return _BAR.sub(r"\\|", "".join([*pieces, line[at:]]))


def _escape_sign(match: re.Match[str], targets: str) -> str:
    sign = match[0]
    if match["html"]:
        return "&lt;"
    if match["accents"] or match["last"]:
        return "".join(f"\\{each}" for each in sign)
    if match["address"] or match["www"]:
        return sign + JOINER
    return f"{sign}\\" if match["target"] and match["target"] in targets else sign


def _find_lone_brackets(line: str) -> set[int]:
    """Return the positions of brackets without a partner."""
    opened: list[int] = []
    lone: set[int] = set()
    for match in _find_signs(line):
        if match["opened"]:
            opened.append(match.start())
        elif match["closed"] and opened:
            opened.pop()
        elif match["closed"]:
            lone.add(match.start())
    return lone | set(opened)


def _find_signs(line: str) -> Iterator[re.Match[str]]:
    """Yield the matches of ``_TOKEN_PATTERN`` outside of code; backticks among them begin no code."""
    ends: defaultdict[int, list[int]] = defaultdict(list)
    for run in _BACKTICKS.finditer(line):
        ends[len(run[0])].append(run.end())
    at = 0
    while match := _TOKEN_PATTERN.search(line, at):
        at = match.end()
        same = ends[len(match[0])] if match["accents"] else []
        index = bisect_right(same, at)
        if index < len(same):
            at = same[index]
        else:
            yield match
