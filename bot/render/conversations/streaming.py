"""The Markdown of an answer for Slack, made of the model's text as it streams in: no piece is shown by half.

Slack interprets ``<!channel>``, ``<@U…>`` and links in Markdown as it streams in. So the model's own text is
sanitized (:mod:`bot.render.blocks.sanitize`), links lose their address, and a text that begins like a control
sequence is held back until it is clear what it is. The only links are those that code makes, of verified citations
and of numbers of pull requests that exist. The result does not depend on where the stream is cut into pieces.
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
    """Callbacks for links: the label and address of a valid citation, the address of a number that exists."""

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
        """Add text of the model and return what may be shown now."""
        self._unread += remove_invisible(text.replace("\t", "    "))
        self._consume_text(measure_settled_prefix(self._unread))
        return self._release_text(is_final=False)

    def end_turn(self) -> str:
        """End a turn, after which the model uses a tool, and return the rest that may be shown.

        Text of the turn outside the answer is discarded.
        """
        self._consume_text(len(self._unread))
        rest = self._release_text(is_final=False)
        rest += self._release_text(is_final=True) if self._is_open else ""
        if self._is_open and self.shown_text:
            rest += self._append_piece("\n\n", "\n\n")
        self._waiting, self._is_skipping = "", False
        return rest

    def end_answer(self, *, is_whole: bool = True) -> str:
        """End the answer and return the rest that may be shown.

        Without marks, the whole text of the last turn is the answer; if the model broke off before it was done
        (not ``is_whole``), that is uncertain, and nothing is shown.
        """
        self._consume_text(len(self._unread))
        self._is_open = self._is_open or (is_whole and not self.shown_text)
        rest = self._release_text(is_final=True)
        if self.shown_text.count(_FENCE) % 2:
            self.shown_text += f"\n{_FENCE}"
            rest += f"\n{_FENCE}"
        return rest

    def _consume_text(self, count: int) -> None:
        """Release ``count`` characters of the input, without credentials: half of one would pass for a word."""
        self._waiting += redact_text(self._unread[:count])
        self._unread = self._unread[count:]

    def _release_text(self, *, is_final: bool) -> str:
        """Return what may be shown of the waiting text, of all answers that begin in it."""
        shown = ""
        while self._is_open or self._open_answer():
            shown += self._read_answer(is_final=is_final)
            if self._is_open:
                break
        return shown

    def _read_answer(self, *, is_final: bool) -> str:
        """Return what may be shown, up to the end of the answer or to a text that is still incomplete.

        The text that was read is removed at the end, all at once.
        """
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
        """Skip to the next answer, and return whether there is one."""
        _, mark, after = self._waiting.partition(_OPEN_TAG)
        if mark:
            # a second answer is another paragraph
            self._is_open, self._waiting = True, (f"\n\n{after}" if self.shown_text else after)
        return bool(mark)

    def _append_piece(self, piece: str, raw: str) -> str:
        """Add a piece and return what is shown of it: all or, if it does not fit, nothing.

        Half a link would be none. Nothing follows a piece that did not fit. ``raw`` is the model's text for it.
        """
        piece = sanitize_seam(self.shown_text, piece if self.shown_text else piece.lstrip())
        self._is_full = self._is_full or len(self.shown_text) + len(piece) > self._limit
        if self._is_full:
            self.is_cut = self.is_cut or bool(piece.strip())
            return ""
        self.shown_text += piece
        self.raw_text += raw if piece else ""
        return piece

    def _read_step(self, rest: str, *, is_final: bool) -> ReadStep:
        """Read the first piece of ``rest``; with ``is_final`` no more text will come."""
        if self._is_skipping:
            return self._skip_quote(rest, is_final=is_final)
        word = _WORD_PATTERN.match(rest)
        if word:
            return _read_word(word[0], rest, is_final=is_final)
        match rest[0]:
            case "<":
                step = self._read_angle_bracket(rest, is_final=is_final)
            case "`":
                step = self._read_code(rest, is_final=is_final)
            case "[" if not self._is_fenced:
                step = self._read_bracket(rest, is_final=is_final)
            case "#" if not self._is_fenced:
                step = self._read_number(rest, is_final=is_final)
            case _:
                step = sanitize_next(rest, is_final=is_final, in_code=self._is_fenced)
        return step

    def _read_angle_bracket(self, rest: str, *, is_final: bool) -> ReadStep:
        """Read a citation, a mark of the answer, or a lone bracket."""
        if _CITE_START.match(rest):
            return self._read_citation(rest, is_final=is_final)
        for mark, read in ((_CLOSE_TAG, self._close_answer), (_OPEN_TAG, _drop_tag), ("</cite>", _drop_tag)):
            if rest.startswith(mark):
                return read(rest, is_final=is_final)
        is_half = any(mark.startswith(rest) for mark in ("<cite", _CLOSE_TAG, _OPEN_TAG, "</cite>"))
        return None if is_half and not is_final else sanitize_next("<", is_final=True, in_code=self._is_fenced)

    def _read_citation(self, rest: str, *, is_final: bool) -> ReadStep:
        """Read a citation: a link if it is valid, otherwise nothing."""
        match = _CITE_PATTERN.match(rest)
        if match:
            link = self._links.link_citation(_build_citation(match))
            return match.end(), f" [{_escape_label(link[0])}]({link[1]})" if link else ""
        end = rest.find("</cite>")
        if end >= 0:
            return end + len("</cite>"), ""
        self._is_skipping = is_final or len(rest) >= _WINDOW_SIZE
        return (1, "") if self._is_skipping else None

    def _skip_quote(self, rest: str, *, is_final: bool) -> ReadStep:
        """Skip a quote that is too long to be one, up to its end or that of its paragraph."""
        end = _QUOTE_END.search(rest)
        if end:
            self._is_skipping = False
            return end.end(), ""
        # half an end may stand at the end
        used = len(rest) if is_final else len(rest) - len(_CLOSE_TAG)
        return (used, "") if used > 0 else None

    def _close_answer(self, rest: str, *, is_final: bool) -> ReadStep:
        """Read the end of the answer."""
        self._is_open = False
        return len(_CLOSE_TAG), ""

    def _read_code(self, rest: str, *, is_final: bool) -> ReadStep:
        """Read a fence, code on one line, or a lone backtick."""
        if rest in ("`", "``") and not is_final:
            return None
        if rest.startswith(_FENCE):
            self._is_fenced = not self._is_fenced
            return len(_FENCE), _FENCE
        match = None if self._is_fenced else _CODE_PATTERN.match(rest)
        if match:
            return match.end(), sanitize_text(match[0], in_code=True)
        is_half = not self._is_fenced and _may_continue(rest, _MAX_LABEL_LENGTH)
        return None if is_half and not is_final else (1, "`")

    def _read_bracket(self, rest: str, *, is_final: bool) -> ReadStep:
        """Read a link of the model's own, of which the label remains, or a lone bracket."""
        match = _LABEL_PATTERN.match(rest)
        if not match:
            is_half = _may_continue(rest, _MAX_LABEL_LENGTH) and "[" not in rest[1:]
            return None if is_half and not is_final else (1, "[")
        after = rest[match.end() : match.end() + _MAX_TARGET_LENGTH]
        target = _TARGET_PATTERN.match(after)
        if target:
            return match.end() + target.end(), self._format_label(match["label"])
        is_half = not after or (after[0] == "(" and _may_continue(after, _MAX_TARGET_LENGTH))
        return None if is_half and not is_final else (1, "[")

    def _format_label(self, label: str) -> str:
        """Return the label of a link of the model's own; it may be a number that code can link."""
        match = _NUMBER_PATTERN.fullmatch(label.strip())
        return self._link_number(match) if match else sanitize_text(label)

    def _read_number(self, rest: str, *, is_final: bool) -> ReadStep:
        """Read the number of a pull request, or a lone ``#``."""
        if _PARTIAL_NUMBER.fullmatch(rest) and not is_final:
            return None
        match = _NUMBER_PATTERN.match(rest)
        if not match or _PREFIX_CHARACTER.match(self._last) or _WORD_CHARACTER.match(rest, match.end()):
            return 1, "#"
        return match.end(), self._link_number(match)

    def _link_number(self, match: re.Match[str]) -> str:
        """Return a number, as a link if the pull request exists."""
        address = self._links.link_number(parse_digits(match["number"]))
        return f"[{match[0]}]({address})" if address else match[0]


def _build_citation(match: re.Match[str]) -> Citation:
    line = parse_digits(match["line"]) if match["line"] else 0
    return Citation(match["pr"], match["path"], match["quote"], line, is_removed=match["side"] == "removed")


def _read_word(word: str, rest: str, *, is_final: bool) -> ReadStep:
    """Read one word or gap, so that a limit cuts between them."""
    is_whole = is_final or len(word) < len(rest) or len(rest) >= _WINDOW_SIZE
    return (len(word), word) if is_whole else None


def _may_continue(rest: str, longest: int) -> bool:
    """Return whether the end of code, of a label or of an address may still come."""
    return len(rest) < longest and not _END_PATTERN.search(rest)


def _drop_tag(rest: str, *, is_final: bool) -> ReadStep:
    """Read a tag, for which nothing is shown."""
    return rest.index(">") + 1, ""


def _escape_label(text: str) -> str:
    """Escape a label that code made; a file name in it may contain Markdown."""
    return re.sub(r"([\\`*\[\]]|__)", r"\\\1", sanitize_text(text))
