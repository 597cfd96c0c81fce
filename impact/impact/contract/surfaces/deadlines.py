"""What a text says of a deprecation: that there is one, when its subject goes, and what replaces it."""

from __future__ import annotations

import re

from impact.contract.deadlines import parse_deadline
from impact.contract.models import Deadline

_DEPRECATED = re.compile(r"\bdeprecat|\b(?:will|to) be removed (?:in|after|from|by|on) ", re.I)
# no version is named yet
_LATER = re.compile(
    r"\bremov\w{0,4}\b[^.;]{0,60}?\b(?P<when>(?:next|future|upcoming|later)\s(?:minor\s|major\s)?(?:release|version)s?)\b",
    re.I,
)
_NAME = r"[`'\"]{0,2}(?P<%s>(?:--)?[A-Za-z_][\w.:/-]{1,80})(?:\(\))?[`'\"]{0,2}"
_PASSED = re.compile(
    rf"\b(?:pass|set|give)\s{_NAME % 'name'}\s(?:to|via|in|through)\s(?:the\s)?{_NAME % 'owner'}", re.I
)
_PLEASE = re.compile(rf"\bplease\s(?:use|set|pass|see)\s(?:it\s(?:to|via|in)\s)?(?:the\s)?{_NAME % 'name'}", re.I)
_NO_NAME = frozenset(("the", "it", "this", "that", "instead", "of", "to", "and", "or", "new", "your", "an"))
# characters of a text that are read: a message has a few hundred
_MAX_LENGTH = 2000


def is_deprecation(text: str) -> bool:
    return bool(_DEPRECATED.search(text[:_MAX_LENGTH]))


def read_deadline(text: str) -> Deadline | None:
    """Return when the subject of a deprecation goes and what replaces it, or None if the text says neither."""
    text = " ".join(text[:_MAX_LENGTH].replace("%%", "%").split())
    deadline = parse_deadline(text) or Deadline()
    later = _LATER.search(text)
    when = deadline.when or (later["when"].lower() if later else "")
    passed = _PASSED.search(text)
    if passed and passed["name"].lower() not in _NO_NAME:
        return Deadline(when, f"{passed['owner'].strip('.:/-')}.{passed['name'].strip('.:/-')}")
    replacement = deadline.replacement or _find_replacement(text)
    return Deadline(when, replacement) if when or replacement else None


def _find_replacement(text: str) -> str:
    match = _PLEASE.search(text)
    name = match["name"].strip(".:/-") if match else ""
    return "" if name.lower() in _NO_NAME else name
