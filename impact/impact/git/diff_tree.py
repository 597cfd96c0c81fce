"""Parser for the records that ``git diff-tree -z --raw --numstat`` writes.

Every part ends with a zero byte, and paths are read by count, so that nothing in a message or a path can be read
as something else.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime

from impact.source.trees import BlobChange, BlobVersion, TreeCommit

LOG_FORMAT = "%H%x00%ct%x00%an%x00%B"

# characters; an adaptation may name many causes
_MAX_MESSAGE = 20_000
# bytes kept of one part, a message or a path: far more than is kept of either in the end
_MAX_PART = 1 << 16
# a damaged commit may be later than a datetime allows, or have no time at all
_MAX_SECONDS = 253_370_764_800
# Python refuses to parse thousands of digits
_MAX_DIGITS = 100
# parts of ``mode mode hash hash status``; the modes of regular files, executable or not, begin with it
_FACTS_OF_CHANGE, _REGULAR_MODE = 5, "100"
_SURROGATES = re.compile("[\ud800-\udfff]")
# all but tabs and line breaks
_CONTROLS = re.compile("[\0-\x08\v\f\x0e-\x1f\x7f-\x9f]")


def remove_controls(text: str) -> str:
    """Return a text without what steers terminals or can't be encoded."""
    return _CONTROLS.sub("", _SURROGATES.sub("\ufffd", text))


def parse_commits(pieces: Iterable[bytes], clean: Callable[[str], str] = remove_controls) -> Iterator[TreeCommit]:
    """Yield the commits of what git writes, in pieces; ``clean`` returns what is kept of a message."""
    parts = _split_parts(pieces)
    part = next(parts, None)
    while part is not None:
        sha, (seconds, author, message) = part, (next(parts, "") for _ in range(3))
        # a line break separates the message from what follows it
        sides, lines = [], {}
        while (part := next(parts, None)) is not None and part.lstrip("\n").startswith(":"):
            sides.append(_parse_sides(part, parts))
        while part is not None and part.count("\t") >= 2:
            added, deleted, path = part.split("\t", 2)
            # of a rename, both paths follow
            path = path or (next(parts, ""), next(parts, ""))[1]
            # binary files have no lines
            lines[path] = (_parse_count(added), _parse_count(deleted))
            part = next(parts, None)
        yield TreeCommit(
            sha.strip(),
            parse_instant(seconds),
            clean(message)[:_MAX_MESSAGE].strip(),
            tuple(BlobChange(old, new, *lines.get(path, (0, 0))) for path, old, new in sides if old or new),
            remove_controls(author),
        )


def _split_parts(pieces: Iterable[bytes]) -> Iterator[str]:
    """Yield the parts between zero bytes, each cut at 65,536 bytes, because a message may have any length."""
    rest = b""
    for piece in pieces:
        first, *others = piece.split(b"\0")
        rest += first[: _MAX_PART - len(rest)]
        for other in others:
            yield rest.decode("utf-8", "replace")
            rest = other[:_MAX_PART]
    if rest.strip():
        yield rest.decode("utf-8", "replace")


def _parse_sides(part: str, parts: Iterator[str]) -> tuple[str, BlobVersion | None, BlobVersion | None]:
    """Read ``:modes hashes status`` and a path, for a rename the old and the new one; no side that is no file."""
    facts = part.lstrip("\n:").split(" ")
    # the same few thousand paths repeat
    old = new = sys.intern(next(parts, ""))
    if facts[-1][:1] in "RC":
        new = sys.intern(next(parts, ""))
    if len(facts) != _FACTS_OF_CHANGE:
        return new, None, None
    before, after = (
        BlobVersion(path, blob) if mode.startswith(_REGULAR_MODE) else None
        for path, mode, blob in zip((old, new), facts[:2], facts[2:4], strict=True)
    )
    return new, before, after


def parse_instant(seconds: str) -> datetime:
    """Return the instant (UTC) of a commit's time in seconds; of a damaged one, an instant that can be used."""
    return datetime.fromtimestamp(min(_parse_count(seconds), _MAX_SECONDS), UTC)


def _parse_count(text: str) -> int:
    """Return a count, 0 for what is not a number of at most 100 digits."""
    is_count = text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS
    return int(text) if is_count else 0
