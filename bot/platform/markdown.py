"""Markdown for files: everything from outside is escaped."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from urllib.parse import quote

from bot.platform.slack.blocks import UNNAMED
from bot.redaction import redact_patch, redact_text
from impact.text.strings import remove_invisible

JOINER = "\u200d"
# each is broken after its first sign, "www." before its dot: some readers link a word that only begins with it
_MARKS = ("://", "](", "]:", "www.", "@channel", "@here", "@everyone", "@group")
# an exclamation mark makes an image even of a link of our own
_ACTIVE_MARK = re.compile("(?=(" + "|".join(map(re.escape, (*_MARKS, "!["))) + "))", re.I)
_MAX_MARK_LENGTH = max(map(len, _MARKS))
_ENTITIES = {"<": "&lt;", ">": "&gt;"}
# a name, an address or a tag begins right after the bracket
_CODE_BRACKETS = {"<": f"<{JOINER}", ">": ">"}
# characters that begin no mark and need no check
PLAIN_SIGN = r"[^<>`\[\]@#:wW]"
PLAIN_RUN = re.compile(rf"{PLAIN_SIGN}+")


def sanitize_text(text: str, *, in_code: bool = False) -> str:
    """Return the text with nothing in it that Slack would interpret."""
    pieces: list[str] = []
    at = 0
    while at < len(text):
        used, piece = sanitize_next(text[at : at + _MAX_MARK_LENGTH], is_final=True, in_code=in_code) or (1, "")
        pieces.append(piece)
        at += used
    return "".join(pieces)


def sanitize_next(rest: str, *, is_final: bool, in_code: bool = False) -> tuple[int, str] | None:
    """Return how many characters are used, and what to show for them; None if more text must come first."""
    plain = PLAIN_RUN.match(rest)
    if plain:
        return plain.end(), plain[0]
    sign = rest[0]
    if sign in "<>":
        return 1, (_CODE_BRACKETS if in_code else _ENTITIES)[sign]
    start = rest[:_MAX_MARK_LENGTH].lower()
    active_mark = next((mark for mark in _MARKS if start.startswith(mark)), "")
    if active_mark:
        length = len(active_mark) - 1 if active_mark == "www." else 1
        return length, rest[:length] + JOINER
    may_go_on = len(rest) < _MAX_MARK_LENGTH and any(mark.startswith(start) for mark in _MARKS)
    return None if may_go_on and not is_final else (1, sign)


def sanitize_seam(before: str, piece: str) -> str:
    """Return the piece so that nothing becomes active where it touches the text before it."""
    tail = before[-_MAX_MARK_LENGTH:]
    seam = tail + piece[:_MAX_MARK_LENGTH]
    is_active = any(
        match.start() < len(tail) < match.start() + len(match[1]) for match in _ACTIVE_MARK.finditer(seam)
    )
    return JOINER + piece if is_active else piece


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
    """Write a text as code on one line, between more backticks than it has in a row."""
    # without a text there would be backticks alone, which would make code of what follows
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
    if line.strip() and _RULE_LINE.fullmatch(line):
        start = len(line) - len(line.lstrip())
        return f"{line[:start]}\\{line[start:]}"
    points = _LIST_MARKERS.match(line)
    at = points.end() if points else 0
    is_block = at < len(line) and (_BEGINS_A_BLOCK.match(line, at) or _RULE_LINE.fullmatch(line, at))
    return f"{line[:at]}\\{line[at:]}" if is_block else line


def _join_lines(text: str) -> str:
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
