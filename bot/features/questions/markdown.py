"""The Markdown of an answer for Slack, made of the model's text as it streams in: no piece is shown by half.

Slack interprets ``<!channel>``, ``<@U…>`` and links in Markdown as it streams in. So the model's own text is
sanitized (:mod:`bot.platform.markdown`), links lose their address, and a text that begins like a control
sequence is held back until it is clear what it is. The only links are those that code makes, of verified citations
and of numbers of pull requests that exist. The result does not depend on where the stream is cut into pieces.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from bot.features.questions.rules import Citation
from bot.platform.markdown import PLAIN_SIGN, sanitize_next, sanitize_seam, sanitize_text
from bot.redaction import measure_settled_prefix, redact_text
from bot.text import parse_digits
from impact.text.strings import remove_invisible

_OPEN_TAG, _CLOSE_TAG = "<answer>", "</answer>"
_CITE_START, _CITE_END = re.compile(r"<cite(?!\w)"), "</cite>"
# a gap, or a word as far as it is plain
_WORD_PATTERN = re.compile(rf"\s+|(?:(?!\s){PLAIN_SIGN})+")
_CITE_PATTERN = re.compile(
    r'<cite\s+pr="(?P<pr>[^"<>\n]{1,200})"\s+path="(?P<path>[^"<>\n]{1,1000})"'
    r'(?:\s+line="(?P<line>[0-9]{1,9})")?(?:\s+side="(?P<side>added|removed|unchanged)")?\s*>'
    r"(?P<quote>(?:(?!</cite>).){1,1500})</cite>",
    re.S,
)
# characters that are examined from a position on; the longest possible match is a citation
_WINDOW_SIZE = 3_000
# the marks that end code and labels: a citation within them would show its quote
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
# a character before a number that is not one of this repository: pytorch/pytorch#1, &#35;
_PREFIX_CHARACTER = re.compile(r"[\w/.&-]")
_WORD_CHARACTER = re.compile(r"\w")
_FENCE = "```"
# of a message's 12,000 characters; the rest is for what code adds below
MAX_ANSWER_LENGTH = 9_000

# the result of reading a piece of text: the number of characters used and what is shown for them; None if more
# text must come first
ReadStep = tuple[int, str] | None


@dataclass(frozen=True, slots=True)
class Links:
    """What links lead to: the label and address of a valid citation, the address of a number that exists."""

    link_citation: Callable[[Citation], tuple[str, str] | None]
    link_number: Callable[[int], str | None]


class AnswerMarkdown:
    """The Markdown of one answer: the text between ``<answer>`` and ``</answer>``; text outside is not shown.

    ``shown_text`` is all that may be shown so far, ``raw_text`` the model's text for it, without invalid
    citations. ``is_cut`` is true if the answer is longer than the limit.
    """

    def __init__(self, links: Links, limit: int = MAX_ANSWER_LENGTH) -> None:
        self._links = links
        self._limit = limit
        self._unread = self._waiting = ""
        self._last = "\n"
        self._is_open = self._is_fenced = self._is_full = self._is_skipping = False
        # whether no more text will come
        self._is_final = False
        self.shown_text = self.raw_text = ""
        self.is_cut = False

    def feed(self, text: str) -> str:
        self._unread += remove_invisible(text.replace("\t", "    "))
        return self._release_text(measure_settled_prefix(self._unread))

    def end_turn(self) -> str:
        """End a turn, after which the model uses a tool. Its text outside the answer is discarded."""
        rest = self._release_text(len(self._unread))
        if self._is_open:
            rest += self._release_text(is_final=True)
        if self._is_open and self.shown_text:
            rest += self._append_piece("\n\n", "\n\n")
        self._waiting, self._is_skipping = "", False
        return rest

    def end_answer(self, *, is_whole: bool = True) -> str:
        """End the answer and return the rest that may be shown.

        Without marks, the whole text of the last turn is the answer; if the model broke off before it was done
        (not ``is_whole``), that is uncertain, and nothing is shown.
        """
        self._is_open = self._is_open or (is_whole and not self.shown_text)
        rest = self._release_text(len(self._unread), is_final=True)
        if self.shown_text.count(_FENCE) % 2:
            self.shown_text += f"\n{_FENCE}"
            rest += f"\n{_FENCE}"
        return rest

    def _release_text(self, count: int = 0, *, is_final: bool = False) -> str:
        """Take ``count`` more characters, without credentials: half of one would pass for a word."""
        self._waiting += redact_text(self._unread[:count])
        self._unread, self._is_final, shown = self._unread[count:], is_final, ""
        while True:
            if not self._is_open:
                _, mark, after = self._waiting.partition(_OPEN_TAG)
                if not mark:
                    return shown
                # a second answer is another paragraph
                self._is_open, self._waiting = True, (f"\n\n{after}" if self.shown_text else after)
            shown += self._read_answer()
            if self._is_open:
                return shown

    def _read_answer(self) -> str:
        """Return what may be shown, up to the end of the answer or to a text that is still incomplete."""
        shown, at = "", 0
        while self._is_open and at < len(self._waiting):
            step = self._read_step(self._waiting[at : at + _WINDOW_SIZE])
            if step is None:
                break
            used, piece = step
            raw, at = self._waiting[at : at + used], at + used
            self._last = raw[-1]
            shown += self._append_piece(piece, raw)
        self._waiting = self._waiting[at:]
        return shown

    def _append_piece(self, piece: str, raw: str) -> str:
        """Add a piece and return what is shown of it: all, or nothing if it does not fit. Half a link is none."""
        piece = sanitize_seam(self.shown_text, piece if self.shown_text else piece.lstrip())
        self._is_full = self._is_full or len(self.shown_text) + len(piece) > self._limit
        if self._is_full:
            self.is_cut = self.is_cut or bool(piece.strip())
            return ""
        self.shown_text += piece
        self.raw_text += raw if piece else ""
        return piece

    def _read_step(self, rest: str) -> ReadStep:
        if self._is_skipping:
            return self._skip_quote(rest)
        if word := _WORD_PATTERN.match(rest):
            # whole words and gaps, so that a limit cuts between them
            is_whole = self._is_final or word.end() < len(rest) or len(rest) >= _WINDOW_SIZE
            return (word.end(), word[0]) if is_whole else None
        match rest[0]:
            case "<":
                return self._read_angle_bracket(rest)
            case "`":
                return self._read_code(rest)
            case "[" if not self._is_fenced:
                return self._read_bracket(rest)
            case "#" if not self._is_fenced:
                return self._read_number(rest)
        return sanitize_next(rest, is_final=self._is_final, in_code=self._is_fenced)

    def _read_angle_bracket(self, rest: str) -> ReadStep:
        if _CITE_START.match(rest):
            return self._read_citation(rest)
        for mark in (_CLOSE_TAG, _OPEN_TAG, _CITE_END):
            if rest.startswith(mark):
                self._is_open = mark != _CLOSE_TAG
                return len(mark), ""
        is_half = any(mark.startswith(rest) for mark in ("<cite", _CLOSE_TAG, _OPEN_TAG, _CITE_END))
        return self._hold_back(sanitize_next("<", is_final=True, in_code=self._is_fenced), is_half=is_half)

    def _read_citation(self, rest: str) -> ReadStep:
        if match := _CITE_PATTERN.match(rest):
            line = parse_digits(match["line"]) if match["line"] else 0
            citation = Citation(match["pr"], match["path"], match["quote"], line, match["side"] == "removed")
            link = self._links.link_citation(citation)
            if link is None:
                return match.end(), ""
            # a file name in a label that code made may contain Markdown
            label = re.sub(r"([\\`*\[\]]|__)", r"\\\1", sanitize_text(link[0]))
            return match.end(), f" [{label}]({link[1]})"
        end = rest.find(_CITE_END)
        if end >= 0:
            return end + len(_CITE_END), ""
        self._is_skipping = self._is_final or len(rest) >= _WINDOW_SIZE
        return (1, "") if self._is_skipping else None

    def _skip_quote(self, rest: str) -> ReadStep:
        """Skip a quote that is too long to be one, up to its end or that of its paragraph."""
        if end := _QUOTE_END.search(rest):
            self._is_skipping = False
            return end.end(), ""
        # half an end may stand at the end
        used = len(rest) if self._is_final else len(rest) - len(_CLOSE_TAG)
        return (used, "") if used > 0 else None

    def _read_code(self, rest: str) -> ReadStep:
        if rest in ("`", "``") and not self._is_final:
            return None
        if rest.startswith(_FENCE):
            self._is_fenced = not self._is_fenced
            return len(_FENCE), _FENCE
        if self._is_fenced:
            return 1, "`"
        if match := _CODE_PATTERN.match(rest):
            return match.end(), sanitize_text(match[0], in_code=True)
        return self._hold_back((1, "`"), is_half=_may_continue(rest, _MAX_LABEL_LENGTH))

    def _read_bracket(self, rest: str) -> ReadStep:
        match = _LABEL_PATTERN.match(rest)
        if not match:
            is_half = _may_continue(rest, _MAX_LABEL_LENGTH) and "[" not in rest[1:]
            return self._hold_back((1, "["), is_half=is_half)
        after = rest[match.end() : match.end() + _MAX_TARGET_LENGTH]
        if target := _TARGET_PATTERN.match(after):
            # the label may be a number that code can link
            number = _NUMBER_PATTERN.fullmatch(match["label"].strip())
            label = self._link_number(number) if number else sanitize_text(match["label"])
            return match.end() + target.end(), label
        is_half = not after or (after[0] == "(" and _may_continue(after, _MAX_TARGET_LENGTH))
        return self._hold_back((1, "["), is_half=is_half)

    def _read_number(self, rest: str) -> ReadStep:
        if _PARTIAL_NUMBER.fullmatch(rest) and not self._is_final:
            return None
        match = _NUMBER_PATTERN.match(rest)
        if not match or _PREFIX_CHARACTER.match(self._last) or _WORD_CHARACTER.match(rest, match.end()):
            return 1, "#"
        return match.end(), self._link_number(match)

    def _link_number(self, match: re.Match[str]) -> str:
        address = self._links.link_number(parse_digits(match["number"]))
        return f"[{match[0]}]({address})" if address else match[0]

    def _hold_back(self, step: ReadStep, *, is_half: bool) -> ReadStep:
        """Return a step unless what it reads may be the beginning of something that is still to come."""
        return None if is_half and not self._is_final else step


def _may_continue(rest: str, longest: int) -> bool:
    return len(rest) < longest and not _END_PATTERN.search(rest)
