"""Text from outside in the Markdown that Slack shows: nothing in it pings, links or steers what follows.

Angle brackets are escaped, in code broken instead: Markdown shows entities there as they are written. What
makes a link of a word or wakes a channel gets a zero-width joiner in its middle, which nobody sees. Also what
two harmless pieces make together is taken apart.
"""

from __future__ import annotations

import re

JOINER = "\u200d"
# each is broken after its first sign, "www." before its dot: some readers link what only begins with it
_MARKS = ("://", "](", "]:", "www.", "@channel", "@here", "@everyone", "@group")
# an exclamation mark makes an image even of a link of our own
_LIVE = re.compile("(?=(" + "|".join(map(re.escape, (*_MARKS, "!["))) + "))", re.I)
_LONGEST = max(map(len, _MARKS))
_WRITTEN = {"<": "&lt;", ">": "&gt;"}
# a name, an address or a tag begins right after the bracket
_IN_CODE = {"<": f"<{JOINER}", ">": ">"}
# what no mark begins with, and needs no look
PLAIN_SIGN = r"[^<>`\[\]@#:wW]"
PLAIN = re.compile(rf"{PLAIN_SIGN}+")


def literal(text: str, *, in_code: bool = False) -> str:
    """The text with nothing alive in it."""
    pieces: list[str] = []
    at = 0
    while at < len(text):
        used, piece = neutral(text[at : at + _LONGEST], is_final=True, in_code=in_code) or (1, "")
        pieces.append(piece)
        at += used
    return "".join(pieces)


def neutral(rest: str, *, is_final: bool, in_code: bool = False) -> tuple[int, str] | None:
    """How much of a text is used, and what is shown for it; None if more must be known first."""
    plain = PLAIN.match(rest)
    if plain:
        return plain.end(), plain[0]
    sign = rest[0]
    if sign in "<>":
        return 1, (_IN_CODE if in_code else _WRITTEN)[sign]
    begun = rest[:_LONGEST].lower()
    found = next((mark for mark in _MARKS if begun.startswith(mark)), "")
    if found:
        kept = len(found) - 1 if found == "www." else 1
        return kept, rest[:kept] + JOINER
    may_go_on = len(rest) < _LONGEST and any(mark.startswith(begun) for mark in _MARKS)
    return None if may_go_on and not is_final else (1, sign)


def apart(before: str, piece: str) -> str:
    """The piece so that nothing comes alive where it touches what was shown before."""
    tail = before[-_LONGEST:]
    seam = tail + piece[:_LONGEST]
    meets = any(found.start() < len(tail) < found.start() + len(found[1]) for found in _LIVE.finditer(seam))
    return JOINER + piece if meets else piece
