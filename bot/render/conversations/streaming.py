"""Makes of a model's words, as they come in, Markdown that Slack may show: piece by piece, nothing half shown.

Slack reads ``<!channel>``, ``<@U…>`` and links in Markdown as it streams in. So nothing of the model's own is
live (:mod:`bot.render.blocks.sanitize`), links lose their address, and what begins like a control sequence is held
back until it is known what it is. The only links are those that code makes, of verified citations and of numbers
of pull requests that exist. Where the text is cut into pieces makes no difference to what comes out.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from bot.domain.summaries.citations import Citation
from bot.domain.text.issue_numbers import parse_digits
from bot.domain.text.redaction import measure_settled_prefix, redact_text
from bot.domain.text.strings import remove_invisible
from bot.render.blocks.sanitize import PLAIN_SIGN, sanitize_next, sanitize_seam, sanitize_text

_OPEN, _CLOSE = "<answer>", "</answer>"
_CITE_BEGINS = re.compile(r"<cite(?!\w)")
# a gap, or a word as far as it is plain
_WORD = re.compile(rf"\s+|(?:(?!\s){PLAIN_SIGN})+")
_CITE = re.compile(
    r'<cite\s+pr="(?P<pr>[^"<>\n]{1,200})"\s+path="(?P<path>[^"<>\n]{1,1000})"\s*>'
    r"(?P<quote>(?:(?!</cite>).){1,1500})</cite>",
    re.S,
)
# of what is looked at from one place on; a citation is the longest thing that there is
_WINDOW = 3_000
# what no code and no label goes over: a citation in them would show its quote
_END = r"\n|</?(?:cite|answer)"
_ENDS = re.compile(_END)
_CODE = re.compile(rf"`(?:(?!{_END})[^`]){{1,300}}`")
_LABEL = re.compile(rf"\[(?P<label>(?:(?!{_END})[^\[\]]){{0,300}})\]")
_LONGEST_LABEL = 302
_TARGET = re.compile(rf"\((?:(?!{_END})[^()]|\((?:(?!{_END})[^()]){{0,500}}\)){{0,1000}}\)")
_LONGEST_TARGET = 2_000
_QUOTE_END = re.compile(rf"</cite>|\n\n|(?={_CLOSE})")
_NUMBER = re.compile(r"#(?P<number>\d{1,9})(?!\d)")
_HALF_A_NUMBER = re.compile(r"#\d{0,9}")
# what stands before a number that is not one of this repository: pytorch/pytorch#1, &#35;
_ATTACHED = re.compile(r"[\w/.&-]")
_WORDLY = re.compile(r"\w")
_FENCE = "```"
# of a message's 12,000 characters; the rest is for what code adds below
LONGEST_ANSWER = 9_000

# what came of a piece of text: how much of it was used, and what is shown for it; None asks for more text
Step = tuple[int, str] | None


@dataclass(frozen=True, slots=True)
class Links:
    """What may be linked: the label and address of a citation that holds, the address of a number that exists."""

    citation: Callable[[Citation], tuple[str, str] | None]
    number: Callable[[int], str | None]


class AnswerMarkdown:
    """One answer. Its text stands between ``<answer>`` and ``</answer>``; what is said before is not shown.

    ``shown`` is all that may be shown so far, ``said`` what the model wrote for it: without citations that failed.
    """

    def __init__(self, links: Links, limit: int = LONGEST_ANSWER) -> None:
        self._links = links
        self._limit = limit
        self._unread = ""
        self._waiting = ""
        self._last = "\n"
        self._is_open = False
        self._is_fenced = False
        self._is_full = False
        self._is_skipping = False
        self.shown = ""
        self.said = ""
        self.is_cut = False

    def feed(self, text: str) -> str:
        """More of the model's words; what may be shown now."""
        self._unread += remove_invisible(text.replace("\t", "    "))
        self._take(measure_settled_prefix(self._unread))
        return self._passed(is_final=False)

    def turn(self) -> str:
        """The model goes on to use a tool: what it said to itself is forgotten; the rest that may be shown."""
        self._take(len(self._unread))
        rest = self._passed(is_final=False)
        rest += self._passed(is_final=True) if self._is_open else ""
        if self._is_open and self.shown:
            rest += self._show("\n\n", "\n\n")
        self._waiting, self._is_skipping = "", False
        return rest

    def end(self, *, is_whole: bool = True) -> str:
        """No more will come; the rest that may be shown. Without marks, all that a model said last is the answer.

        Where it broke off before it was done (not ``is_whole``), nobody knows that, and nothing is.
        """
        self._take(len(self._unread))
        self._is_open = self._is_open or (is_whole and not self.shown)
        rest = self._passed(is_final=True)
        if self.shown.count(_FENCE) % 2:
            self.shown += f"\n{_FENCE}"
            rest += f"\n{_FENCE}"
        return rest

    def _take(self, count: int) -> None:
        """Read so many characters of what came in, less credentials: half of one would pass for a word."""
        self._waiting += redact_text(self._unread[:count])
        self._unread = self._unread[count:]

    def _passed(self, *, is_final: bool) -> str:
        shown = ""
        while self._is_open or self._opened():
            shown += self._read(is_final=is_final)
            if self._is_open:
                break
        return shown

    def _read(self, *, is_final: bool) -> str:
        """As far as the answer goes, or can be understood; what was read is cut off at the end, all at once."""
        shown, at = "", 0
        while self._is_open and at < len(self._waiting):
            step = self._step(self._waiting[at : at + _WINDOW], is_final=is_final)
            if step is None:
                break
            used, piece = step
            raw, at = self._waiting[at : at + used], at + used
            self._last = raw[-1]
            shown += self._show(piece, raw)
        self._waiting = self._waiting[at:]
        return shown

    def _opened(self) -> bool:
        _, mark, after = self._waiting.partition(_OPEN)
        if mark:
            # a second answer is another paragraph
            self._is_open, self._waiting = True, (f"\n\n{after}" if self.shown else after)
        return bool(mark)

    def _show(self, piece: str, said: str) -> str:
        """Pieces are shown whole or not at all, half a link would be none; nothing follows what did not fit."""
        piece = sanitize_seam(self.shown, piece if self.shown else piece.lstrip())
        self._is_full = self._is_full or len(self.shown) + len(piece) > self._limit
        if self._is_full:
            self.is_cut = self.is_cut or bool(piece.strip())
            return ""
        self.shown += piece
        self.said += said if piece else ""
        return piece

    def _step(self, rest: str, *, is_final: bool) -> Step:
        if self._is_skipping:
            return self._skipped(rest, is_final=is_final)
        word = _WORD.match(rest)
        if word:
            return _whole(word[0], rest, is_final=is_final)
        readers = {"<": self._angle, "`": self._code}
        if not self._is_fenced:
            readers |= {"[": self._bracket, "#": self._number}
        read = readers.get(rest[0])
        return (
            read(rest, is_final=is_final)
            if read
            else sanitize_next(rest, is_final=is_final, in_code=self._is_fenced)
        )

    def _angle(self, rest: str, *, is_final: bool) -> Step:
        if _CITE_BEGINS.match(rest):
            return self._cite(rest, is_final=is_final)
        for mark, read in ((_CLOSE, self._closed), (_OPEN, _dropped), ("</cite>", _dropped)):
            if rest.startswith(mark):
                return read(rest, is_final=is_final)
        is_half = any(mark.startswith(rest) for mark in ("<cite", _CLOSE, _OPEN, "</cite>"))
        return None if is_half and not is_final else sanitize_next("<", is_final=True, in_code=self._is_fenced)

    def _cite(self, rest: str, *, is_final: bool) -> Step:
        found = _CITE.match(rest)
        if found:
            cited = self._links.citation(Citation(found["pr"], found["path"], found["quote"]))
            return found.end(), f" [{_label(cited[0])}]({cited[1]})" if cited else ""
        end = rest.find("</cite>")
        if end >= 0:
            return end + len("</cite>"), ""
        self._is_skipping = is_final or len(rest) >= _WINDOW
        return (1, "") if self._is_skipping else None

    def _skipped(self, rest: str, *, is_final: bool) -> Step:
        """Of a quote that is too long to be one, nothing is shown: up to its end, or that of its paragraph."""
        end = _QUOTE_END.search(rest)
        if end:
            self._is_skipping = False
            return end.end(), ""
        # half an end may stand at the end
        used = len(rest) if is_final else len(rest) - len(_CLOSE)
        return (used, "") if used > 0 else None

    def _closed(self, rest: str, *, is_final: bool) -> Step:
        self._is_open = False
        return len(_CLOSE), ""

    def _code(self, rest: str, *, is_final: bool) -> Step:
        if rest in ("`", "``") and not is_final:
            return None
        if rest.startswith(_FENCE):
            self._is_fenced = not self._is_fenced
            return len(_FENCE), _FENCE
        found = None if self._is_fenced else _CODE.match(rest)
        if found:
            return found.end(), sanitize_text(found[0], in_code=True)
        is_half = not self._is_fenced and _may_go_on(rest, _LONGEST_LABEL)
        return None if is_half and not is_final else (1, "`")

    def _bracket(self, rest: str, *, is_final: bool) -> Step:
        found = _LABEL.match(rest)
        if not found:
            is_half = _may_go_on(rest, _LONGEST_LABEL) and "[" not in rest[1:]
            return None if is_half and not is_final else (1, "[")
        after = rest[found.end() : found.end() + _LONGEST_TARGET]
        target = _TARGET.match(after)
        if target:
            return found.end() + target.end(), self._labelled(found["label"])
        is_half = not after or (after[0] == "(" and _may_go_on(after, _LONGEST_TARGET))
        return None if is_half and not is_final else (1, "[")

    def _labelled(self, label: str) -> str:
        """What is left of a link of the model's own: its label, which may be a number that code can link."""
        found = _NUMBER.fullmatch(label.strip())
        return self._linked(found) if found else sanitize_text(label)

    def _number(self, rest: str, *, is_final: bool) -> Step:
        if _HALF_A_NUMBER.fullmatch(rest) and not is_final:
            return None
        found = _NUMBER.match(rest)
        if not found or _ATTACHED.match(self._last) or _WORDLY.match(rest, found.end()):
            return 1, "#"
        return found.end(), self._linked(found)

    def _linked(self, found: re.Match[str]) -> str:
        address = self._links.number(parse_digits(found["number"]))
        return f"[{found[0]}]({address})" if address else found[0]


def _whole(word: str, rest: str, *, is_final: bool) -> Step:
    """One word or gap at a time, so that a limit cuts between them."""
    is_whole = is_final or len(word) < len(rest) or len(rest) >= _WINDOW
    return (len(word), word) if is_whole else None


def _may_go_on(rest: str, longest: int) -> bool:
    """Whether the end of code, of a label or of an address may still come."""
    return len(rest) < longest and not _ENDS.search(rest)


def _dropped(rest: str, *, is_final: bool) -> Step:
    return rest.index(">") + 1, ""


def _label(text: str) -> str:
    """A label of code's own making, in which a file name may hold signs of Markdown."""
    return re.sub(r"([\\`*\[\]]|__)", r"\\\1", sanitize_text(text))
