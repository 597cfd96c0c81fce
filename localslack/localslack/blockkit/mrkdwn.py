"""Slack's own markup as HTML, in linear time: each part of the text is read only a few times.

Slack does not document where formatting begins and ends; this follows its clients. A mark opens where no letter or
digit stands before it and no blank after it. It closes the other way round, and both marks are on one line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from markupsafe import Markup, escape

from localslack.blockkit.emoji import get_emoji
from localslack.blockkit.links import render_link
from localslack.blockkit.names import Names
from localslack.blockkit.tokens import TOKEN, decode_entities, render_group, render_token

_FENCE = re.compile(r"```\n?(.+?)\n?```\n?", re.S)
_QUOTE = re.compile(r"(?:>|&gt;) ?")
_REST = re.compile(r"^(?:>|&gt;){3} ?\n?", re.M)
_BARE = re.compile(r"(?P<url>(?<!\w)https?://(?:(?!&[lg]t;)[^\s<>|`])+)|:(?P<emoji>[A-Za-z0-9_+'-]{1,60}):")
_PIECE = re.compile(
    rf"(?P<token>{TOKEN.pattern})|`(?P<code>[^`\n]+)`|{_BARE.pattern}"
    r"|(?<![\w@./-])@(?P<all>(?i:here|channel|everyone))\b"
    r"|(?P<mark>[*_~])"
)
_AFTER_URL = ".,;:!?'\")]}*_~"
_TAGS = {"*": "strong", "_": "em", "~": "s"}
_BREAK = Markup("<br>")
_PRE = Markup('<pre class="bk-pre">{}</pre>')
_CODE = Markup('<code class="bk-code">{}</code>')
_BLOCKQUOTE = Markup('<blockquote class="bk-quote">{}</blockquote>')
_EMPHASIS = Markup("<{0}>{1}</{0}>")


@dataclass(frozen=True, slots=True)
class _Piece:
    """A piece of a line; ``mark`` is a character that may begin or end formatting, None for other pieces."""

    html: Markup
    mark: str | None = None
    opens: bool = False
    closes: bool = False


@dataclass(frozen=True, slots=True)
class _Reader:
    """The reader's names, and whether the text is ``verbatim``: links and names then need angle brackets."""

    names: Names
    verbatim: bool


def render_mrkdwn(text: str, names: Names, *, verbatim: bool = False) -> Markup:
    """Render a text in Slack's markup as HTML."""
    reader = _Reader(names, verbatim)
    whole = text.replace("\r\n", "\n").replace("\r", "\n")
    return Markup("").join(_render_blocks(whole, reader))


def render_bare(text: str) -> Markup:
    """Render literal text, with addresses as links and emoji names as emoji."""
    parts: list[Markup] = []
    at = 0
    for bare in _BARE.finditer(text):
        url = _trim_url(bare["url"] or "")
        shown = render_link(url, url) if url else escape(get_emoji(bare["emoji"]) if bare["emoji"] else bare[0])
        parts += [escape(text[at : bare.start()]), shown]
        at = bare.start() + len(url) if url else bare.end()
    return Markup("").join([*parts, escape(text[at:])])


def _render_blocks(text: str, reader: _Reader, *, may_quote: bool = True) -> Iterator[Markup]:
    """Yield paragraphs, quotes and code. A quote of the rest of the text (``>>>``) ends with the text."""
    at = 0
    for fence in _FENCE.finditer(text):
        rest = _REST.search(text, at, fence.start()) if may_quote else None
        if rest:
            break
        yield from _render_prose(text[at : fence.start()].removesuffix("\n"), reader)
        yield _PRE.format(_render_literal(fence[1], reader.names))
        at = fence.end()
    rest = _REST.search(text, at) if may_quote else None
    yield from _render_prose(text[at : rest.start()].removesuffix("\n") if rest else text[at:], reader)
    if rest:
        yield _BLOCKQUOTE.format(Markup("").join(_render_blocks(text[rest.end() :], reader, may_quote=False)))


def _render_prose(text: str, reader: _Reader) -> Iterator[Markup]:
    for is_quote, lines in groupby(text.split("\n") if text else (), lambda line: bool(_QUOTE.match(line))):
        if is_quote:
            yield _BLOCKQUOTE.format(
                _BREAK.join(_render_line(_QUOTE.sub("", line, count=1), reader) for line in lines)
            )
        else:
            yield _BREAK.join(_render_line(line, reader) for line in lines)


def _render_literal(text: str, names: Names) -> Markup:
    """Render code: names and links in it work, formatting does not."""
    parts, at = [], 0
    for token in TOKEN.finditer(text):
        shown = render_token(token[1], names)
        parts += [escape(decode_entities(text[at : token.start()])), escape(token[0]) if shown is None else shown]
        at = token.end()
    return Markup("").join([*parts, escape(decode_entities(text[at:]))])


def _render_line(line: str, reader: _Reader) -> Markup:
    pieces = list(_split_line(line, reader))
    closers: dict[str, list[int]] = {mark: [] for mark in _TAGS}
    for place, piece in enumerate(pieces):
        if piece.mark and piece.closes:
            closers[piece.mark].append(place)
    return _format_pieces(pieces, closers, 0, len(pieces), "")


def _format_pieces(
    pieces: list[_Piece], closers: dict[str, list[int]], low: int, high: int, around: str
) -> Markup:
    """Format the pieces from ``low`` to ``high``; the marks in ``around`` have no effect inside themselves."""
    parts, at = [], low
    while at < high:
        piece = pieces[at]
        end = _find_end(piece, closers, at, high) if piece.mark and piece.mark not in around else 0
        if piece.mark and end:
            inner = _format_pieces(pieces, closers, at + 1, end, around + piece.mark)
            parts.append(_EMPHASIS.format(_TAGS[piece.mark], inner))
            at = end
        else:
            parts.append(piece.html)
        at += 1
    return Markup("").join(parts)


def _find_end(piece: _Piece, closers: dict[str, list[int]], at: int, high: int) -> int:
    """Return the index of the mark that closes this one, or 0 if there is none."""
    places = closers[piece.mark] if piece.mark and piece.opens else []
    place = bisect_right(places, at + 1)
    return places[place] if place < len(places) and places[place] < high else 0


def _split_line(line: str, reader: _Reader) -> Iterator[_Piece]:
    at = 0
    while match := _PIECE.search(line, at):
        if match.start() > at:
            yield _Piece(escape(decode_entities(line[at : match.start()])))
        piece, at = _read_piece(line, match, reader)
        yield piece
    if at < len(line):
        yield _Piece(escape(decode_entities(line[at:])))


def _read_piece(line: str, match: re.Match[str], reader: _Reader) -> tuple[_Piece, int]:
    """Read a piece; return it and where the next one begins."""
    start, end = match.span()
    if match["mark"]:
        return _read_mark(line, start), end
    shown, used = _render_special(line, match, reader)
    if shown is None:
        return _Piece(escape(line[start])), start + 1
    return _Piece(shown), start + used


def _read_mark(line: str, at: int) -> _Piece:
    before, mark, after = line[at - 1 : at], line[at], line[at + 1 : at + 2]
    opens = not before.isalnum() and not _is_blank(after) and after != mark
    closes = not after.isalnum() and not _is_blank(before) and before != mark
    return _Piece(escape(mark), mark, opens, closes)


def _is_blank(sign: str) -> bool:
    return not sign or sign.isspace()


def _render_special(line: str, match: re.Match[str], reader: _Reader) -> tuple[Markup | None, int]:
    """Return the HTML of a special piece, and its length in the line."""
    whole = len(match[0])
    if match["token"]:
        return render_token(match["token"][1:-1], reader.names), whole
    if match["code"]:
        return _render_code(line, match, reader), whole
    if match["emoji"]:
        sign = get_emoji(match["emoji"])
        return (None if sign.startswith(":") else escape(sign)), whole
    if reader.verbatim:
        return None, 0
    if match["all"]:
        return render_group(match["all"].lower()), whole
    url = _trim_url(match["url"])
    return (render_link(decode_entities(url), decode_entities(url)), len(url)) if url else (None, 0)


def _render_code(line: str, match: re.Match[str], reader: _Reader) -> Markup | None:
    start, end = match.span()
    around = line[max(start - 1, 0) : start] + line[end : end + 1]
    return None if any(map(str.isalnum, around)) else _CODE.format(_render_literal(match["code"], reader.names))


def _trim_url(url: str) -> str:
    """Return the address without the punctuation that ends the sentence, or nothing if no address is left."""
    kept = url.rstrip(_AFTER_URL)
    return kept if "://" in kept else ""
