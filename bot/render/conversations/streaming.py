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

_OPEN_TAG, _CLOSE_TAG = "<answer>", "</answer>"
_CITE_START = re.compile(r"<cite(?!\w)")
# a gap, or a word as far as it is plain
_WORD_PATTERN = re.compile(rf"\s+|(?:(?!\s){PLAIN_SIGN})+")
_CITE_PATTERN = re.compile(
    r'<cite\s+pr="(?P<pr>[^"<>\n]{1,200})"\s+path="(?P<path>[^"<>\n]{1,1000})"\s*>'
    r"(?P<quote>(?:(?!</cite>).){1,1500})</cite>",
    re.S,
)
# of what is looked at from one place on; a citation is the longest thing that there is
_WINDOW_SIZE = 3_000
# what no code and no label goes over: a citation in them would show its quote
_END_MARKS = r"\n|</?(?:cite|answer)"
_END_PATTERN = re.compile(_END_MARKS)
_CODE_PATTERN = re.compile(rf"`(?:(?!{_END_MARKS})[^`]){{1,300}}`")
_LABEL_PATTERN = re.compile(rf"\[(?P<label>(?:(?!{_END_MARKS})[^\[\]]){{0,300}})\]")
_MAX_LABEL_LENGTH = 302
_TARGET_PATTERN = re.compile(rf"\((?:(?!{_END_MARKS})[^()]|\((?:(?!{_END_MARKS})[^()]){{0,500}}\)){{0,1000}}\)")
_MAX_TARGET_LENGTH = 2_000
_QUOTE_END = re.compile(rf"</cite>|\n\n|(?={_CLOSE_TAG})")
_NUMBER_PATTERN = re.compile(r"#(?P<number>\d{1,9})(?!\d)")
_PARTIAL_NUMBER = re.compile(r"#\d{0,9}")
# what stands before a number that is not one of this repository: pytorch/pytorch#1, &#35;
_PREFIX_CHARACTER = re.compile(r"[\w/.&-]")
_WORD_CHARACTER = re.compile(r"\w")
_FENCE = "```"
# of a message's 12,000 characters; the rest is for what code adds below
MAX_ANSWER_LENGTH = 9_000

# what came of a piece of text: how much of it was used, and what is shown for it; None asks for more text
ReadStep = tuple[int, str] | None


@dataclass(frozen=True, slots=True)
class Links:
    """What may be linked: the label and address of a citation that holds, the address of a number that exists."""

    link_citation: Callable[[Citation], tuple[str, str] | None]
    link_number: Callable[[int], str | None]


class AnswerMarkdown:
    """One answer. Its text stands between ``<answer>`` and ``</answer>``; what is said before is not shown.

    ``shown`` is all that may be shown so far, ``said`` what the model wrote for it: without citations that failed.
    """

    def __init__(self, links: Links, limit: int = MAX_ANSWER_LENGTH) -> None:
        self._links = links
        self._limit = limit
        self._unread = ""
        self._waiting = ""
        self._last = "\n"
        self._is_open = False
        self._is_fenced = False
        self._is_full = False
        self._is_skipping = False
        self.shown_text = ""
        self.raw_text = ""
        self.is_cut = False

    def feed(self, text: str) -> str:
        """More of the model's words; what may be shown now."""
        self._unread += remove_invisible(text.replace("\t", "    "))
        self._consume_text(measure_settled_prefix(self._unread))
        return self._release_text(is_final=False)

    def end_turn(self) -> str:
        """The model goes on to use a tool: what it said to itself is forgotten; the rest that may be shown."""
        self._consume_text(len(self._unread))
        rest = self._release_text(is_final=False)
        rest += self._release_text(is_final=True) if self._is_open else ""
        if self._is_open and self.shown_text:
            rest += self._append_piece("\n\n", "\n\n")
        self._waiting, self._is_skipping = "", False
        return rest

    def end_answer(self, *, is_whole: bool = True) -> str:
        """No more will come; the rest that may be shown. Without marks, all that a model said last is the answer.

        Where it broke off before it was done (not ``is_whole``), nobody knows that, and nothing is.
        """
        self._consume_text(len(self._unread))
        self._is_open = self._is_open or (is_whole and not self.shown_text)
        rest = self._release_text(is_final=True)
        if self.shown_text.count(_FENCE) % 2:
            self.shown_text += f"\n{_FENCE}"
            rest += f"\n{_FENCE}"
        return rest

    def _consume_text(self, count: int) -> None:
        """Read so many characters of what came in, less credentials: half of one would pass for a word."""
        self._waiting += redact_text(self._unread[:count])
        self._unread = self._unread[count:]

    def _release_text(self, *, is_final: bool) -> str:
        shown = ""
        while self._is_open or self._open_answer():
            shown += self._read_answer(is_final=is_final)
            if self._is_open:
                break
        return shown

    def _read_answer(self, *, is_final: bool) -> str:
        """As far as the answer goes, or can be understood; what was read is cut off at the end, all at once."""
        shown, at = "", 0
        while self._is_open and at < len(self._waiting):
            step = self._read_step(self._waiting[at : at + _WINDOW_SIZE], is_final=is_final)
            if step is None:
                break
            used, piece = step
            raw, at = self._waiting[at : at + used], at + used
            self._last = raw[-1]
            shown += self._append_piece(piece, raw)
        self._waiting = self._waiting[at:]
        return shown

    def _open_answer(self) -> bool:
        _, mark, after = self._waiting.partition(_OPEN_TAG)
        if mark:
            # a second answer is another paragraph
            self._is_open, self._waiting = True, (f"\n\n{after}" if self.shown_text else after)
        return bool(mark)

    def _append_piece(self, piece: str, said: str) -> str:
        """Pieces are shown whole or not at all, half a link would be none; nothing follows what did not fit."""
        piece = sanitize_seam(self.shown_text, piece if self.shown_text else piece.lstrip())
        self._is_full = self._is_full or len(self.shown_text) + len(piece) > self._limit
        if self._is_full:
            self.is_cut = self.is_cut or bool(piece.strip())
            return ""
        self.shown_text += piece
        self.raw_text += said if piece else ""
        return piece

    def _read_step(self, rest: str, *, is_final: bool) -> ReadStep:
        if self._is_skipping:
            return self._skip_quote(rest, is_final=is_final)
        word = _WORD_PATTERN.match(rest)
        if word:
            return _read_word(word[0], rest, is_final=is_final)
        readers = {"<": self._read_angle_bracket, "`": self._read_code}
        if not self._is_fenced:
            readers |= {"[": self._read_bracket, "#": self._read_number}
        read = readers.get(rest[0])
        return (
            read(rest, is_final=is_final)
            if read
            else sanitize_next(rest, is_final=is_final, in_code=self._is_fenced)
        )

    def _read_angle_bracket(self, rest: str, *, is_final: bool) -> ReadStep:
        if _CITE_START.match(rest):
            return self._read_citation(rest, is_final=is_final)
        for mark, read in ((_CLOSE_TAG, self._close_answer), (_OPEN_TAG, _drop_tag), ("</cite>", _drop_tag)):
            if rest.startswith(mark):
                return read(rest, is_final=is_final)
        is_half = any(mark.startswith(rest) for mark in ("<cite", _CLOSE_TAG, _OPEN_TAG, "</cite>"))
        return None if is_half and not is_final else sanitize_next("<", is_final=True, in_code=self._is_fenced)

    def _read_citation(self, rest: str, *, is_final: bool) -> ReadStep:
        found = _CITE_PATTERN.match(rest)
        if found:
            cited = self._links.link_citation(Citation(found["pr"], found["path"], found["quote"]))
            return found.end(), f" [{_escape_label(cited[0])}]({cited[1]})" if cited else ""
        end = rest.find("</cite>")
        if end >= 0:
            return end + len("</cite>"), ""
        self._is_skipping = is_final or len(rest) >= _WINDOW_SIZE
        return (1, "") if self._is_skipping else None

    def _skip_quote(self, rest: str, *, is_final: bool) -> ReadStep:
        """Of a quote that is too long to be one, nothing is shown: up to its end, or that of its paragraph."""
        end = _QUOTE_END.search(rest)
        if end:
            self._is_skipping = False
            return end.end(), ""
        # half an end may stand at the end
        used = len(rest) if is_final else len(rest) - len(_CLOSE_TAG)
        return (used, "") if used > 0 else None

    def _close_answer(self, rest: str, *, is_final: bool) -> ReadStep:
        self._is_open = False
        return len(_CLOSE_TAG), ""

    def _read_code(self, rest: str, *, is_final: bool) -> ReadStep:
        if rest in ("`", "``") and not is_final:
            return None
        if rest.startswith(_FENCE):
            self._is_fenced = not self._is_fenced
            return len(_FENCE), _FENCE
        found = None if self._is_fenced else _CODE_PATTERN.match(rest)
        if found:
            return found.end(), sanitize_text(found[0], in_code=True)
        is_half = not self._is_fenced and _may_continue(rest, _MAX_LABEL_LENGTH)
        return None if is_half and not is_final else (1, "`")

    def _read_bracket(self, rest: str, *, is_final: bool) -> ReadStep:
        found = _LABEL_PATTERN.match(rest)
        if not found:
            is_half = _may_continue(rest, _MAX_LABEL_LENGTH) and "[" not in rest[1:]
            return None if is_half and not is_final else (1, "[")
        after = rest[found.end() : found.end() + _MAX_TARGET_LENGTH]
        target = _TARGET_PATTERN.match(after)
        if target:
            return found.end() + target.end(), self._format_label(found["label"])
        is_half = not after or (after[0] == "(" and _may_continue(after, _MAX_TARGET_LENGTH))
        return None if is_half and not is_final else (1, "[")

    def _format_label(self, label: str) -> str:
        """What is left of a link of the model's own: its label, which may be a number that code can link."""
        found = _NUMBER_PATTERN.fullmatch(label.strip())
        return self._link_number(found) if found else sanitize_text(label)

    def _read_number(self, rest: str, *, is_final: bool) -> ReadStep:
        if _PARTIAL_NUMBER.fullmatch(rest) and not is_final:
            return None
        found = _NUMBER_PATTERN.match(rest)
        if not found or _PREFIX_CHARACTER.match(self._last) or _WORD_CHARACTER.match(rest, found.end()):
            return 1, "#"
        return found.end(), self._link_number(found)

    def _link_number(self, found: re.Match[str]) -> str:
        address = self._links.link_number(parse_digits(found["number"]))
        return f"[{found[0]}]({address})" if address else found[0]


def _read_word(word: str, rest: str, *, is_final: bool) -> ReadStep:
    """One word or gap at a time, so that a limit cuts between them."""
    is_whole = is_final or len(word) < len(rest) or len(rest) >= _WINDOW_SIZE
    return (len(word), word) if is_whole else None


def _may_continue(rest: str, longest: int) -> bool:
    """Whether the end of code, of a label or of an address may still come."""
    return len(rest) < longest and not _END_PATTERN.search(rest)


def _drop_tag(rest: str, *, is_final: bool) -> ReadStep:
    return rest.index(">") + 1, ""


def _escape_label(text: str) -> str:
    """A label of code's own making, in which a file name may hold signs of Markdown."""
    return re.sub(r"([\\`*\[\]]|__)", r"\\\1", sanitize_text(text))
