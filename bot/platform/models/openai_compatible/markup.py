"""Markup of models in a text: reasoning, which nobody sees, and calls of tools that the server did not parse.

A server with a parser for the model's reasoning keeps it apart. Without one, ``<think>…</think>`` or the like
stands before the text. Some templates put the opening tag into the prompt, so that the text has the closing one
alone, and nothing shows at first that it is reasoning. The text of a model is therefore held back to the end of
its turn, until a whole turn has shown that its reasoning is marked: there is none, or it is beside the text or
between tags.

Pull requests are about such markup, too. What stands in code or in quotes is a text like any other, and so is what
is followed by words.
"""

from __future__ import annotations

import re

_LOOKAHEAD = 80  # characters from the beginning of what may be markup that are waited for
_MAX_MARKUP = 300  # no longer markup is looked for
_NAMES = "think|thinking|thoughts?|reasoning|seed:think"
# what opens reasoning, and what closes it; {} is the name of the tag
_REASONING = (
    (rf"<({_NAMES})>", r"</{}>"),
    (r"\[THINK\]()", r"\[/THINK\]"),
    (r"◁think▷()", r"◁/think▷"),
    (r"<\|START_THINKING\|>()", r"<\|END_THINKING\|>"),
    (r"<\|begin_of_thought\|>()", r"<\|end_of_thought\|>"),
    (r"<\|channel>thought()", r"<channel\|>"),
    (r"<unused94>thought()", r"<unused95>"),
    # harmony, with its special tokens and without
    (
        r"(?:<\|start\|>assistant)?<\|channel\|>(?:analysis|commentary)<\|message\|>()",
        r"<\|channel\|>final(?: ?<\|constrain\|>\w+)?<\|message\|>|<\|channel\|>\w+ to=|<\|start\|>assistant to=",
    ),
    (r"analysis(?=[A-Z])()", r"assistantfinal|assistant(?:analysis|commentary) ?to="),
)
_OPENINGS = [(re.compile(opening), closing) for opening, closing in _REASONING]
# one that a model writes about, in code or in quotes, ends nothing
_FENCE_OR_CLOSING = re.compile(
    rf"```|(?<![`'\"])(?:</(?:{_NAMES})>|\[/THINK\]|◁/think▷|<\|END_THINKING\|>|<\|end_of_thought\|>|<channel\|>"
    r"|<unused95>|<\|channel\|>final<\|message\|>|(?<=[.!?\s])assistantfinal(?=[A-Z]))(?![`'\"])"
)
_FINAL = re.compile(
    r"(?:<\|start\|>assistant)?<\|channel\|>final(?: ?<\|constrain\|>\w+)?<\|message\|>"
    r"|<\|START_RESPONSE\|>|<\|begin_of_solution\|>"
)
# the tokens that end a turn, at the end of a text
_ENDINGS = re.compile(
    r"(?:\s*(?:<\|(?:im_end|eot_id|eom_id|end|return|endoftext|END_RESPONSE|end_of_solution|end_of_turn)\|>"
    r"|<\uff5cend▁of▁sentence\uff5c>|<end_of_turn>|</s>))+\s*"
)
_CALL = (
    r"(?:<[|\uff5c]?(?:[|\uff5c]?DSML[|\uff5c])?(?:\w{1,20}:)?(?:start_)?(?:tool|function)s?[_▁]?(?:calls?|use)[\w▁]{0,40}"
    r"(?:\s[^<>\n]{0,80})?[|\uff5c]?>|<function=[\w.-]{1,80}>|<(?:invoke|function|tool) name=[^<>\n]{1,80}>"
    r"|\[TOOL_(?:CALLS|REQUEST)\]|<\|(?:python_tag|action_start|START_ACTION)\|>"
    r"|(?:<\|start\|>assistant|<\|channel\|>)\w{0,20} to=)"
)
_STRUCTURE = r"\s*(?:\{\s*[\"'}]|\[\s*(?:[\[{\]]|\w+\()|<[\w|\uff5c/])|\w"
_CALL_IN_LINE = re.compile(rf"{_CALL}(?={_STRUCTURE})", re.IGNORECASE)
_CALL_ON_LINE = re.compile(rf"{_CALL}(?={_STRUCTURE}|[ \t]*(?:\n|\Z))", re.IGNORECASE)
# calls without tags are a whole turn
_BARE_CALL = re.compile(
    r"\{\s*(?:\"type\"\s*:\s*\"function\"\s*,\s*)?\"name\"\s*:\s*\"[\w.-]{1,80}\"\s*,\s*\"(?:parameters|arguments)\"\s*:"
    r"|functools\[|\[\s*\w{1,80}\((?:\w{1,80}\s*=|\)\s*[\],])"
)
_TOKEN = re.compile(r"\n|`+|[<\[]")
_BLANKS = re.compile(r"\s*")
_FIRST = "<[◁{af"  # what opens reasoning, or a call without tags, begins with one of these
_QUOTES = tuple("'\"\u201c\u2018")


class UnparsedCall(Exception):
    """A call of a tool in the text of a model."""


class MarkupFilter:
    """Filter of the text of one turn, which comes in pieces that are cut anywhere. Raises UnparsedCall.

    ``is_marked`` is what the turn has shown so far, or what was known before. Of JSON only the beginning is looked
    at: what stands in it is a text like any other.
    """

    def __init__(self, *, is_marked: bool, is_json: bool = False) -> None:
        self.is_marked = is_marked
        self._is_json = is_json
        self._has_begun = self._skips_blanks = False
        self._closing: re.Pattern[str] | None = None  # of the reasoning that the text is in
        self._undecided = ""  # what may be a part of markup, little more than is waited for
        self._held: list[str] = []  # pieces, because a text may have very many
        # of the code around the next character: an open fence, and the ticks of an open span
        self._is_line_blank, self._is_fenced, self._ticks, self._last = True, False, 0, ""

    def feed(self, text: str) -> str:
        """Add text and return what may be passed on now."""
        return self._read(text, is_end=False)

    def end(self, *, is_whole: bool) -> str:
        """Return the rest of the text. A turn that was cut may hold nothing but reasoning."""
        rest = self._read("", is_end=True)
        if self._closing or self.is_marked:
            return rest
        rest = "".join(self._held)
        is_fenced = False
        for match in () if self._is_json and rest.startswith("{") else _FENCE_OR_CLOSING.finditer(rest):
            if match[0] == "```":
                is_fenced = not is_fenced
            elif not is_fenced:
                return self._scan(rest[match.end() :].lstrip(), is_end=True)
        self.is_marked = is_whole and bool(rest.strip())
        return self._scan(rest, is_end=True) if is_whole else ""

    def _read(self, text: str, *, is_end: bool) -> str:
        if not self._has_begun:
            text, self._undecided = (self._undecided + text).lstrip(), ""
            if final := _FINAL.match(text):
                text = text[final.end() :].lstrip()
            opening = self._open(text, 0)
            if not opening and not is_end and (not text or (text[0] in _FIRST and len(text) < _LOOKAHEAD)):
                self._undecided = text
                return ""
            self._has_begun, text = True, text[opening:]
            if not opening and _BARE_CALL.match(text):
                raise UnparsedCall
        if self._closing is None and not self.is_marked:
            self._held.append(text)
            return ""
        text = "".join([*self._held, text])
        self._held.clear()
        return self._scan(text, is_end=is_end)

    def _open(self, text: str, start: int) -> int:
        """Return where the reasoning begins that is opened here; 0 if none is."""
        for opening, closing in _OPENINGS:
            if match := opening.match(text, start):
                self._closing = re.compile(closing.replace("{}", re.escape(match[1])))
                return match.end()
        return 0

    def _scan(self, text: str, *, is_end: bool) -> str:
        """Return what is shown of a text, and keep what is undecided. Looks at each character a few times."""
        text, self._undecided = self._undecided + text, ""
        shown, place = list[str](), 0
        while place < len(text):
            if self._closing:
                match = self._closing.search(text, place)
                if match is None:
                    self._undecided = text[max(place, len(text) - _MAX_MARKUP) :]
                    break
                if match[0].endswith("to="):
                    raise UnparsedCall
                self._closing, self.is_marked, self._skips_blanks, place = None, True, True, match.end()
                continue
            if self._skips_blanks:
                place = _BLANKS.match(text, place).end()  # type: ignore[union-attr]
                self._skips_blanks = place == len(text)
            token = None if self._is_json else _TOKEN.search(text, place)
            plain = text[place : token.start() if token else len(text)]
            shown.append(plain)
            self._is_line_blank &= not plain.strip()
            self._last = plain[-1:] or self._last
            if token is None:
                break
            place = self._read_token(text, token, is_end=is_end)
            if place < 0:
                self._undecided = text[token.start() :]
                break
            if not self._closing and place == token.end():
                shown.append(token[0])
                self._last = token[0][-1]
        return "".join(shown)

    def _read_token(self, text: str, token: re.Match[str], *, is_end: bool) -> int:
        """Return where the text goes on, which is the end of the token unless it is markup; -1 if it may be."""
        start, waits = token.start(), not is_end and len(text) - token.start() < _LOOKAHEAD
        if token[0] == "\n":
            self._is_line_blank, self._ticks = True, 0
            return token.end()
        if token[0][0] == "`":
            if waits and token.end() == len(text):
                return -1
            count = len(token[0])
            if self._is_line_blank and count >= 3:
                self._is_fenced = not self._is_fenced
            elif not self._is_fenced:
                self._ticks = 0 if self._ticks == count else self._ticks or count
        elif not self._is_fenced and not self._ticks and self._last not in _QUOTES:
            if waits:
                return -1
            if self._is_line_blank and (final := _FINAL.match(text, start)):
                return final.end()
            if (ending := _ENDINGS.match(text, start)) and ending.end() == len(text):
                return len(text) + 1
            call = _CALL_ON_LINE if self._is_line_blank else _CALL_IN_LINE
            if call.match(text, start, start + _MAX_MARKUP):
                raise UnparsedCall
            # reasoning has a line of its own, where it is not the beginning
            if self._is_line_blank and (place := self._open(text, start)):
                if text[place : place + 1] in ("", "\n"):
                    return place
                self._closing = None
        self._is_line_blank = False
        return token.end()


def drop_reasoning(text: str) -> str:
    """Return an answer in JSON without reasoning before it."""
    answer = MarkupFilter(is_marked=False, is_json=True)
    return answer.feed(text) + answer.end(is_whole=True)


def extract_json(text: str) -> str:
    """Return the JSON object in an answer, without words around it; without one, the whole text."""
    start = text.lstrip()
    if _BARE_CALL.match(start) or _CALL_ON_LINE.match(start, 0, _MAX_MARKUP):
        raise UnparsedCall
    begin, end = start.find("{"), start.rfind("}")
    return start[begin : end + 1] if 0 <= begin < end else start
