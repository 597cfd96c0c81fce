"""When something deprecated goes, and what takes its place, from what is said of it."""

from __future__ import annotations

import re

from impact.contract.models import Deadline

_VERSION = r"v?\d{1,4}\.\d{1,4}(?:\.\d{1,4})?(?:\.x)?"
_DATE = r"20\d\d-[01]\d-[0-3]\d"
# what may stand between the verb and the version is bounded: time stays linear
_WHEN = re.compile(
    r"\b(?:remov\w{0,4}|delet\w{0,4}|dropp?\w{0,4}|unsupported|disappear\w{0,3}|an error)\b[^.;]{0,80}?"
    rf"\b(?P<when>{_DATE}|{_VERSION})(?!\w)",
    re.I,
)
_UNTIL = re.compile(
    rf"\b(?:until|before|by|starting)\s(?:version\s|release\s)?(?P<when>{_DATE}|{_VERSION})(?!\w)", re.I
)
_REPLACEMENT = re.compile(
    r"\b(?:use|switch to|replaced by|replaced with|in favou?r of|renamed to|moved to|migrate to|import from)\s"
    r"(?:the\s|new\s){0,2}[`'\"]{0,2}(?P<name>[\w.\-:/]{1,100})",
    re.I,
)
_PLAIN_WORDS = frozenset("it this that them instead the a an of in to for is be and or will with new".split())


def parse_deadline(message: str) -> Deadline | None:
    """Return what a message says of the end of something, or None if it says neither when nor what instead."""
    when = _WHEN.search(message) or _UNTIL.search(message)
    replacement = _find_replacement(message)
    if not when and not replacement:
        return None
    return Deadline(when["when"].rstrip(".") if when else "", replacement)


def _find_replacement(message: str) -> str:
    for match in _REPLACEMENT.finditer(message):
        name = match["name"].strip(".:/").rstrip("-")
        if name and name.lower() not in _PLAIN_WORDS:
            return name
    return ""
