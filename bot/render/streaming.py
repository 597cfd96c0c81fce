"""Makes of a model's words, as they come in, Markdown that Slack may show: piece by piece, nothing half shown.

Slack reads ``<!channel>``, ``<@U…>`` and links in Markdown as it streams in. So nothing of the model's own is
live: angle brackets are escaped, links lose their address, and what begins like a control sequence is held back
until it is known what it is. The only links are those that code makes, of verified citations and of numbers of
pull requests that exist. Where the text is cut into pieces makes no difference to what comes out.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from bot.domain.citations import Citation
from bot.domain.numbers import number_of
from bot.domain.texts import printable

_JOINER = "\u200d"
_OPEN, _CLOSE = "<answer>", "</answer>"
_PLAIN = re.compile(r"[^<>`\[\]@#:wW]+")
_WORD = re.compile(r"\s+|\S+")
_CITE = re.compile(
    r'<cite\s+pr="(?P<pr>[^"<>\n]{1,200})"\s+path="(?P<path>[^"<>\n]{1,1000})"\s*>(?P<quote>.{1,1500}?)</cite>',
    re.S,
)
_LONGEST_CITE = 3_000
_CODE = re.compile(r"`[^`\n]{1,300}`")
_LONGEST_CODE = 302
_LABEL = re.compile(r"\[(?P<label>[^\[\]\n]{0,300})\]")
_LONGEST_LABEL = 302
_TARGET = re.compile(r"\((?:[^()\n]|\([^()\n]{0,500}\)){0,1000}\)")
_LONGEST_TARGET = 2_000
_NUMBER = re.compile(r"#(?P<number>\d+)")
# what stands before a number that is not one of this repository: pytorch/pytorch#1, &#35;
_ATTACHED = re.compile(r"[\w/.&-]")
_BROADCASTS = ("@channel", "@here", "@everyone", "@group")
# of a message's 12,000 characters; the rest is for what code adds below
LONGEST_ANSWER = 9_000

# what came of a piece of text: how much of it was used, and what is shown for it; None asks for more text
Step = tuple[int, str] | None


@dataclass(frozen=True, slots=True)
class Links:
    """What may be linked: the address and label of a citation that holds, the address of a number that exists."""

    citation: Callable[[Citation], tuple[str, str] | None]
    number: Callable[[int], str | None]


class AnswerMarkdown:
    """One answer. Its text stands between ``<answer>`` and ``</answer>``; what is said before is not shown."""

    def __init__(self, links: Links, limit: int = LONGEST_ANSWER) -> None:
        self._links = links
        self._limit = limit
        self._waiting = ""
        self._last = "\n"
        self._is_open = False
        self._is_closed = False
        self._is_fenced = False
        self.shown = ""
        self.said = ""
        self.is_cut = False

    def feed(self, text: str) -> str:
        """More of the model's words; what may be shown now."""
        self._waiting += printable(text)
        return self._pass(is_final=False) if self._is_open or self._opened() else ""

    def turn(self) -> None:
        """The model goes on to use a tool: what it said to itself before the answer is forgotten."""
        self._is_closed = False
        self._waiting = f"{self._waiting}\n\n" if self._is_open else ""

    def end(self) -> str:
        """The model is done; the rest that may be shown. Without marks, all that it said last is the answer."""
        self._is_open = True
        rest = self._pass(is_final=True)
        if self._is_fenced:
            self._is_fenced = False
            rest += self._show("\n```")
        return rest

    def _opened(self) -> bool:
        _, mark, after = self._waiting.partition(_OPEN)
        if mark:
            self._is_open, self._waiting = True, after.lstrip()
        return bool(mark)

    def _pass(self, *, is_final: bool) -> str:
        if not self.shown:
            self._waiting = self._waiting.lstrip()
        shown, at = "", 0
        while at < len(self._waiting) and not self._is_closed:
            step = self._step(self._waiting[at : at + _LONGEST_CITE], is_final=is_final)
            if step is None:
                break
            used, piece = step
            self._last = self._waiting[at + used - 1]
            at += used
            shown += self._show(piece, self._waiting[at - used : at])
        self._waiting = self._waiting[at:]
        return shown

    def _show(self, piece: str, said: str = "") -> str:
        """Pieces are shown whole or not at all: half a link would be none.

        ``said`` is what the model wrote for it. :attr:`said` keeps that of all that was shown: in the thread's
        memory is no citation that failed.
        """
        if self.is_cut or len(self.shown) + len(piece) > self._limit:
            self.is_cut = self.is_cut or bool(piece.strip())
            return ""
        self.shown += piece
        self.said += said if piece else ""
        return piece

    def _step(self, rest: str, *, is_final: bool) -> Step:
        plain = _PLAIN.match(rest)
        if plain:
            return self._word(plain[0], rest, is_final=is_final)
        readers = {"<": self._angle, "`": self._code, "[": self._bracket, "#": self._number}
        reader = readers.get(rest[0], _neutral)
        if self._is_fenced and rest[0] in "[#":
            return 1, rest[0]
        return reader(rest, is_final=is_final)

    def _word(self, plain: str, rest: str, *, is_final: bool) -> Step:
        """One word or gap at a time, so that a limit cuts between them."""
        word = next(iter(_WORD.findall(plain)))
        is_whole = is_final or len(word) < len(rest) or len(rest) >= _LONGEST_CITE
        return (len(word), word) if is_whole else None

    def _angle(self, rest: str, *, is_final: bool) -> Step:
        for mark, read in (
            ("<cite", self._cite),
            (_CLOSE, self._closing),
            (_OPEN, _dropped),
            ("</cite>", _dropped),
        ):
            if rest.startswith(mark):
                return read(rest, is_final=is_final)
            if mark.startswith(rest) and not is_final:
                return None
        return 1, "&lt;"

    def _cite(self, rest: str, *, is_final: bool) -> Step:
        found = _CITE.match(rest)
        if found:
            cited = self._links.citation(Citation(found["pr"], found["path"], found["quote"]))
            return found.end(), f" [{_label(cited[0])}]({cited[1]})" if cited else ""
        end = rest.find("</cite>")
        if end >= 0:
            return end + len("</cite>"), ""
        return (len(rest), "") if is_final or len(rest) >= _LONGEST_CITE else None

    def _closing(self, rest: str, *, is_final: bool) -> Step:
        self._is_closed = True
        return len(_CLOSE), ""

    def _code(self, rest: str, *, is_final: bool) -> Step:
        if len(rest) < 3 and not rest.strip("`") and not is_final:
            return None
        if rest.startswith("```"):
            self._is_fenced = not self._is_fenced
            return 3, "```"
        found = None if self._is_fenced else _CODE.match(rest)
        if found:
            return found.end(), literal(found[0])
        is_open = not self._is_fenced and "\n" not in rest and len(rest) < _LONGEST_CODE
        return None if is_open and not is_final else (1, "`")

    def _bracket(self, rest: str, *, is_final: bool) -> Step:
        found = _LABEL.match(rest)
        if not found:
            is_open = not re.search(r"[\[\n]", rest[1:]) and len(rest) < _LONGEST_LABEL
            return None if is_open and not is_final else (1, "[")
        after = rest[found.end() :]
        if not after:
            return (1, "[") if is_final else None
        if after[0] != "(":
            return 1, "["
        target = _TARGET.match(after)
        if target:
            return found.end() + target.end(), self._labelled(found["label"])
        is_open = "\n" not in after and len(after) < _LONGEST_TARGET
        return None if is_open and not is_final else (1, "[")

    def _labelled(self, label: str) -> str:
        """What is left of a link of the model's own: its label, which may be a number that code can link."""
        found = _NUMBER.fullmatch(label.strip())
        return self._linked(found) if found else literal(label)

    def _number(self, rest: str, *, is_final: bool) -> Step:
        found = _NUMBER.match(rest)
        if not is_final and (found.end() if found else 1) == len(rest):
            return None
        if not found or _ATTACHED.match(self._last) or rest[found.end() : found.end() + 1].isalnum():
            return 1, "#"
        return found.end(), self._linked(found)

    def _linked(self, found: re.Match[str]) -> str:
        address = self._links.number(number_of(found["number"]))
        return f"[{found[0]}]({address})" if address else found[0]


def literal(text: str) -> str:
    """The text with nothing in it that could ping or link."""
    shown, at = "", 0
    while at < len(text):
        plain = _PLAIN.match(text, at)
        used, piece = (
            (len(plain[0]), plain[0]) if plain else _neutral(text[at : at + 20], is_final=True) or (1, "")
        )
        shown, at = shown + piece, at + used
    return shown


def _neutral(rest: str, *, is_final: bool) -> Step:
    """A sign that could begin something live, made harmless where it does."""
    sign = rest[0]
    if sign in "<>":
        return 1, {"<": "&lt;", ">": "&gt;"}[sign]
    marks = {"@": _BROADCASTS, ":": ("://",), "]": ("](", "]:"), "w": ("www.",), "W": ("www.",)}.get(sign, ())
    if any(rest.lower().startswith(mark) for mark in marks):
        return (4, rest[:4] + _JOINER) if sign in "wW" else (1, sign + _JOINER)
    if not is_final and any(mark.startswith(rest.lower()) for mark in marks):
        return None
    return 1, sign


def _dropped(rest: str, *, is_final: bool) -> Step:
    return rest.index(">") + 1, ""


def _label(text: str) -> str:
    """A label of code's own making, in which a file name may hold signs of Markdown."""
    return re.sub(r"([\\`*\[\]]|__)", r"\\\1", literal(text))
