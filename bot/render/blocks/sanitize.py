"""Sanitizing of external text in Slack's Markdown: nothing in it pings, links or affects what follows.

Angle brackets are escaped; in code they are broken instead, since Markdown shows entities there as they are
written. Signs that make a link of a word or ping a channel get a zero-width joiner in their middle, which is
invisible. Marks that only two pieces together form are broken too.
"""

from __future__ import annotations

import re

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
