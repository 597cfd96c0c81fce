"""What people write for a commit: its hash, or a tag."""

from __future__ import annotations

import re

_HASH = re.compile(r"[0-9a-f]{7,40}", re.A | re.I)
_WHOLE_HASH = re.compile(r"(?<![0-9a-f])[0-9a-f]{40}(?![0-9a-f])", re.A)
# Git allows more; what begins with a dash is an option, and two dots are a range
_TAG = re.compile(r"(?!.*\.\.)[0-9a-z][0-9a-z._+/-]{0,99}", re.A | re.I)


def is_hash(text: str) -> bool:
    """Return whether a text is a hash of 7 to 40 hexadecimal digits."""
    return _HASH.fullmatch(text) is not None


def is_tag(text: str) -> bool:
    """Return whether a text may be the name of a tag. It holds a digit, as versions do, and is no hash."""
    return _TAG.fullmatch(text) is not None and any(map(str.isdigit, text)) and not is_hash(text)


def find_hashes(text: str) -> list[str]:
    """Return the whole hashes in a text: 40 hexadecimal digits in lower case."""
    return _WHOLE_HASH.findall(text)
