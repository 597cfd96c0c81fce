"""What makes the README's pictures small. The pictures themselves are made by ``python -m docs.screenshots``."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docs.screenshots.png import smaller

Row = Sequence[bytes]
SIGNATURE = b"\x89PNG\r\n\x1a\n"
COLOURS = st.binary(min_size=3, max_size=3)
ROWS = st.integers(1, 6).flatmap(
    lambda width: st.lists(st.lists(COLOURS, min_size=width, max_size=width), min_size=1, max_size=6)
)


def paeth(left: int, up: int, corner: int) -> int:
    """As in the PNG specification, 9.4."""
    aim = left + up - corner
    to_left, to_up, to_corner = abs(aim - left), abs(aim - up), abs(aim - corner)
    if to_left <= to_up and to_left <= to_corner:
        return left
    return up if to_up <= to_corner else corner


def filtered(kind: int, line: bytes, above: bytes) -> bytes:
    shifted, corners = bytes(3) + line, bytes(3) + above
    guesses = {
        0: bytes(len(line)),
        1: shifted,
        2: above,
        3: bytes((a + b) // 2 for a, b in zip(shifted, above, strict=False)),
        4: bytes(map(paeth, shifted, above, corners)),
    }[kind]
    return bytes([kind, *((a - b) % 256 for a, b in zip(line, guesses, strict=False))])


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def written(rows: Sequence[Row], kinds: Sequence[int], colour: int = 2) -> bytes:
    """A picture whose lines are filtered in these ways."""
    lines = [b"".join(row) for row in rows]
    above = [bytes(len(lines[0])), *lines]
    data = b"".join(map(filtered, kinds, lines, above))
    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, colour, 0, 0, 0)
    return SIGNATURE + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")


def read(png: bytes) -> list[list[bytes]]:
    """The colours of a picture with a palette, whose lines are not filtered."""
    at, chunks = len(SIGNATURE), dict[bytes, bytes]()
    while at < len(png):
        length, name = struct.unpack_from(">I4s", png, at)
        chunks[name] = png[at + 8 : at + 8 + length]
        assert png[at : at + length + 12] == chunk(name, chunks[name])
        at += length + 12
    width, palette, data = int.from_bytes(chunks[b"IHDR"][:4]), chunks[b"PLTE"], zlib.decompress(chunks[b"IDAT"])
    lines = [data[start + 1 : start + 1 + width] for start in range(0, len(data), width + 1)]
    return [[palette[3 * each : 3 * each + 3] for each in line] for line in lines]


@given(rows=ROWS, data=st.data())
def test_a_picture_of_few_colours_stays_as_it_is(rows: list[list[bytes]], data: st.DataObject) -> None:
    kinds = data.draw(st.lists(st.integers(0, 4), min_size=len(rows), max_size=len(rows)))
    assert read(smaller(written(rows, kinds))) == rows


def test_the_colours_that_are_too_many_become_the_nearest_of_the_others() -> None:
    common = [bytes([0, 0, each]) for each in range(256)]
    assert read(smaller(written([common, common, [b"\0\1\x07", *common[1:]]], [0, 0, 0])))[2][0] == b"\0\0\x07"


def test_a_picture_of_another_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="eight bits of red, green and blue"):
        smaller(written([[b"abc"]], [0], colour=6))
