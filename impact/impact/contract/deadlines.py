"""What a text says of a deprecation: that there is one, when its subject goes, and what replaces it."""

from __future__ import annotations

import re

from impact.contract.models import Deadline

_DEPRECATED = re.compile(r"\bdeprecat|\b(?:will|to) be removed (?:in|after|from|by|on) ", re.I)
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
# no version is named yet
_LATER = re.compile(
    r"\bremov\w{0,4}\b[^.;]{0,60}?\b(?P<when>(?:next|future|upcoming|later)\s(?:minor\s|major\s)?(?:release|version)s?)\b",
    re.I,
)
_REPLACEMENT = re.compile(
    r"\b(?:use|switch to|replaced by|replaced with|in favou?r of|renamed to|moved to|migrate to|import from)\s"
    r"(?:the\s|new\s){0,2}[`'\"]{0,2}(?P<name>[\w.\-:/]{1,100})",
    re.I,
)
_NAME = r"[`'\"]{0,2}(?P<%s>(?:--)?[A-Za-z_][\w.:/-]{1,80})(?:\(\))?[`'\"]{0,2}"
_PASSED = re.compile(
    rf"\b(?:pass|set|give)\s{_NAME % 'name'}\s(?:to|via|in|through)\s(?:the\s)?{_NAME % 'owner'}", re.I
)
_PLEASE = re.compile(rf"\bplease\s(?:use|set|pass|see)\s(?:it\s(?:to|via|in)\s)?(?:the\s)?{_NAME % 'name'}", re.I)
_PLAIN_WORDS = frozenset("it this that them instead the a an of in to for is be and or will with new your".split())
# characters of a text that are read: a message has a few hundred
_MAX_LENGTH = 2000


def is_deprecation(text: str) -> bool:
    return bool(_DEPRECATED.search(text[:_MAX_LENGTH]))


def read_deadline(text: str) -> Deadline | None:
    """Return when the subject of a deprecation goes and what replaces it, or None if the text says neither."""
    text = " ".join(text[:_MAX_LENGTH].replace("%%", "%").split())
    point = _WHEN.search(text) or _UNTIL.search(text)
    later = _LATER.search(text)
    when = point["when"].rstrip(".") if point else later["when"].lower() if later else ""
    passed = _PASSED.search(text)
    if passed and passed["name"].lower() not in _PLAIN_WORDS:
        return Deadline(when, f"{passed['owner'].strip('.:/-')}.{passed['name'].strip('.:/-')}")
    names = [match["name"].strip(".:/").rstrip("-") for match in _REPLACEMENT.finditer(text)]
    names += [match["name"].strip(".:/-") for match in _PLEASE.finditer(text)][:1]
    replacement = next((name for name in names if name and name.lower() not in _PLAIN_WORDS), "")
    return Deadline(when, replacement) if when or replacement else None
