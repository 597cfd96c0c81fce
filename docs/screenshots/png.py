"""Makes a screenshot small: the browser writes all of 16 million colours, and a page has few."""

from __future__ import annotations

import struct
import zlib
from collections import Counter
from collections.abc import Iterator

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_HEADER = ">IIBBBBB"
_CHANNELS = 3  # bytes of a pixel: red, green, blue
_RGB, _PALETTE = 2, 3  # kinds of colour
_MOST_COLOURS = 256

Colour = bytes


def smaller(png: bytes) -> bytes:
    """The picture in the 256 colours that it has most of; each other colour becomes the nearest of them.

    Raises ValueError for what a browser does not write: other than eight bits of red, green and blue.
    """
    chunks = list(_chunks(png))
    width, height, *kind = struct.unpack(_HEADER, chunks[0][1])
    if kind[:2] != [8, _RGB]:
        raise ValueError("This picture has no eight bits of red, green and blue.")
    rows = _rows(zlib.decompress(b"".join(data for name, data in chunks if name == b"IDAT")), width, height)
    count = Counter(colour for row in rows for colour in row)
    palette = [colour for colour, _ in count.most_common(_MOST_COLOURS)]
    number = {colour: _nearest(colour, palette) for colour in count}
    lines = b"".join(b"\0" + bytes(number[colour] for colour in row) for row in rows)
    header = struct.pack(_HEADER, width, height, 8, _PALETTE, 0, 0, 0)
    written = ((b"IHDR", header), (b"PLTE", b"".join(palette)), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    return _SIGNATURE + b"".join(_chunk(name, data) for name, data in written)


def _chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(_SIGNATURE)
    while at < len(png):
        length, name = struct.unpack_from(">I4s", png, at)
        yield name, png[at + 8 : at + 8 + length]
        at += length + 12


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def _rows(filtered: bytes, width: int, height: int) -> list[list[Colour]]:
    """The pixels, line by line; a line is written as its difference from what is guessed of it."""
    length = width * _CHANNELS
    rows, above = [], bytearray(length)
    for start in range(0, height * (length + 1), length + 1):
        line = bytearray(filtered[start + 1 : start + 1 + length])
        _add_guesses(filtered[start], line, above)
        rows.append([bytes(line[at : at + _CHANNELS]) for at in range(0, length, _CHANNELS)])
        above = line
    return rows


def _add_guesses(kind: int, line: bytearray, above: bytearray) -> None:
    guess = _GUESSES[kind]
    for at, difference in enumerate(line):
        left, corner = (line[at - _CHANNELS], above[at - _CHANNELS]) if at >= _CHANNELS else (0, 0)
        line[at] = (difference + guess(left, above[at], corner)) & 255


def _paeth(left: int, up: int, corner: int) -> int:
    """The neighbour that is nearest to where the three of them point; the order matters where two are as near."""
    aim = left + up - corner
    return min((left, up, corner), key=lambda neighbour: abs(aim - neighbour))


# the filters of the PNG specification, section 9, by number
_GUESSES = (
    lambda left, up, corner: 0,
    lambda left, up, corner: left,
    lambda left, up, corner: up,
    lambda left, up, corner: (left + up) // 2,
    _paeth,
)


def _nearest(colour: Colour, palette: list[Colour]) -> int:
    """The number of the colour in the palette that differs least."""
    return min(range(len(palette)), key=lambda each: _distance(colour, palette[each]))


def _distance(one: Colour, other: Colour) -> int:
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))
