"""Text from outside in the Markdown of a file: nothing in it links, or looks like a part of the file of our own.

Emphasis, code and lists of the text stay. Headings, rules, fences, quotations, tables and definitions of links are
escaped where a line begins like one; links, images, HTML and bare addresses wherever they stand. Code spans end on
the line where they begin, and an accent without its partner is escaped, so that what is code is the same for every
reader. ``@name`` and ``#1`` stay as they are: the file is no comment on GitHub, and titles hold both.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from urllib.parse import quote

from bot.domain.text.redaction import without_secrets
from bot.domain.text.strings import printable
from bot.render.blocks.sanitize import JOINER

# what Python, or some reader of lines, takes for the end of one
_BREAKS = re.compile("\r\n?|[\v\f\x1c-\x1e\x85\u2028\u2029]")
_RUNS_OF_BREAKS = re.compile("[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+")
# a bar that is escaped already stays as it is
_BAR = re.compile(r"(?<!\\)\|")
_ACCENTS = re.compile("`+")
_TOKEN = re.compile(
    r"(?P<escaped>\\[!-/:-@\[-`{-~])|(?P<accents>`+)|(?P<html><)(?=[A-Za-z/!?])|(?P<address>:)(?=//)"
    r"|(?P<www>www)(?=\.)|(?P<opened>\[)|(?P<closed>\])(?=(?P<target>[(:])?)|(?P<last>\\\Z)",
    re.I,
)
# lists may stand in lists, and a heading in a list
_POINTS = re.compile(r"(?:\s|[-+*]\s|\d{1,9}[.)]\s)*")
_BEGINS_A_BLOCK = re.compile(r"#{1,6}(?:\s|\Z)|>|~~~")
_RULE = re.compile(r"[-=_*+:|~\s]+")
_SAFE_IN_ADDRESS = ":/?#[]@!$&'*+,;=%~"


def escape_line(text: str) -> str:
    """The text on one line, for a heading or the label of a link, which no bracket of it ends."""
    line = _escape_signs(_on_one_line(text), targets="(")
    lone = _lone_brackets(line)
    return "".join(f"\\{sign}" if at in lone else sign for at, sign in enumerate(line)) if lone else line


def escape_text(text: str) -> str:
    """The text with its lines, for a paragraph that has a heading of its own above it."""
    lines = without_secrets(printable(_BREAKS.sub("\n", text).replace("\t", " "))).split("\n")
    return "\n".join(_escape_beginning(_escape_signs(line, targets="(:")) for line in lines)


def write_code(text: str) -> str:
    """The text as code on one line, between more accents than it has in a row."""
    line = _on_one_line(text)
    mark = "`" * (1 + max((len(run) for run in _ACCENTS.findall(line)), default=0))
    room = " " if len(mark) > 1 else ""
    return f"{mark}{room}{line}{room}{mark}"


def write_address(url: str) -> str:
    """An address that code built, less what could end it."""
    return quote(url, safe=_SAFE_IN_ADDRESS)


def _escape_beginning(line: str) -> str:
    if line.strip() and _RULE.fullmatch(line):
        start = len(line) - len(line.lstrip())
        return f"{line[:start]}\\{line[start:]}"
    points = _POINTS.match(line)
    at = points.end() if points else 0
    begins = at < len(line) and (_BEGINS_A_BLOCK.match(line, at) or _RULE.fullmatch(line, at))
    return f"{line[:at]}\\{line[at:]}" if begins else line


def _on_one_line(text: str) -> str:
    return without_secrets(printable(_RUNS_OF_BREAKS.sub(" ", text).replace("\t", " ")))


def _escape_signs(line: str, targets: str) -> str:
    """The line with nothing in it that links; ``targets`` are the signs behind a bracket that make it a link."""
    pieces, at = [], 0
    for found in _signs(line):
        pieces += [line[at : found.start()], _escape_sign(found, targets)]
        at = found.end()
    return _BAR.sub(r"\\|", "".join([*pieces, line[at:]]))


def _escape_sign(found: re.Match[str], targets: str) -> str:
    sign = found[0]
    if found["html"]:
        return "&lt;"
    if found["accents"] or found["last"]:
        return "".join(f"\\{each}" for each in sign)
    if found["address"] or found["www"]:
        return sign + JOINER
    return f"{sign}\\" if found["target"] and found["target"] in targets else sign


def _lone_brackets(line: str) -> set[int]:
    opened: list[int] = []
    lone: set[int] = set()
    for found in _signs(line):
        if found["opened"]:
            opened.append(found.start())
        elif found["closed"] and opened:
            opened.pop()
        elif found["closed"]:
            lone.add(found.start())
    return lone | set(opened)


def _signs(line: str) -> Iterator[re.Match[str]]:
    """What may mean something outside of code; accents are those that begin none."""
    ends: defaultdict[int, list[int]] = defaultdict(list)
    for run in _ACCENTS.finditer(line):
        ends[len(run[0])].append(run.end())
    at = 0
    while found := _TOKEN.search(line, at):
        at = found.end()
        same = ends[len(found[0])] if found["accents"] else []
        behind = bisect_right(same, at)
        if behind < len(same):
            at = same[behind]
        else:
            yield found
