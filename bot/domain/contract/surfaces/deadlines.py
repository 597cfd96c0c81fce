"""What a text says of a deprecation: that there is one, when its subject goes, and what replaces it."""

from __future__ import annotations

import re

from bot.domain.contract.models import Deadline

_DEPRECATED = re.compile(r"\bdeprecat|\b(?:will|to) be removed (?:in|after|from|by|on) ", re.I)
_WHEN = re.compile(
    r"\b(?:remov(?:ed|al|e|ing)|dropped|deleted|disabled|until|stop being supported)\b[^.;\n]{0,60}?"
    r"\b(?:in|from|after|by|on|with|for|version|until)\s+(?:the\s+)?"
    r"(?P<when>(?:(?:vllm|version|release)\s+)?v?\d{1,4}\.\d{1,4}(?:\.\d{1,4})?"
    r"|\d{4}-\d{2}-\d{2}"
    r"|(?:(?:a |an )?(?:next|future|upcoming|later))\s+(?:minor\s+|major\s+)?(?:releases?|versions?))",
    re.I,
)
_NAME = r"[`'\"]{0,2}(?P<name>(?:--)?[A-Za-z_][\w.:/-]{1,80}(?:\(\))?)[`'\"]{0,2}"
_REPLACEMENT = (
    re.compile(
        rf"\b(?:in favou?r of|replaced (?:by|with)|superseded by|renamed to|switch to|migrate to)\s+{_NAME}", re.I
    ),
    re.compile(
        rf"\b(?:use|set|pass|call|see|specify)\s+(?:the\s+)?(?:new\s+)?{_NAME}[^.;\n]{{0,40}}?\binstead\b", re.I
    ),
    re.compile(rf"\binstead,?\s+(?:please\s+)?use\s+(?:the\s+)?{_NAME}", re.I),
    re.compile(rf"\bplease\s+(?:use|set|pass|see)\s+(?:the\s+)?{_NAME}", re.I),
    re.compile(rf"[.,:;]\s*use\s+(?:the\s+)?{_NAME}", re.I),
)
_NO_NAME = frozenset(("a", "an", "the", "it", "this", "that", "instead", "of", "to", "and", "or", "new", "your"))
# characters of a text that are read: a message has a few hundred
_MAX_LENGTH = 2000


def is_deprecation(text: str) -> bool:
    """Return whether a text says that something is deprecated or goes."""
    return bool(_DEPRECATED.search(text[:_MAX_LENGTH]))


def read_deadline(text: str) -> Deadline:
    """Return when the subject of a deprecation goes and what replaces it, as far as the text says."""
    text = " ".join(text[:_MAX_LENGTH].replace("%%", "%").split())
    match = _WHEN.search(text)
    return Deadline(_clean_when(match["when"]) if match else "", _find_replacement(text))


def _clean_when(when: str) -> str:
    when = " ".join(when.split())
    if not any(char.isdigit() for char in when):
        return when.lower().removeprefix("a ").removeprefix("an ")
    number = when.split()[-1]
    return number if number.startswith("v") or "-" in number else f"v{number}"


def _find_replacement(text: str) -> str:
    for pattern in _REPLACEMENT:
        for match in pattern.finditer(text):
            name = match["name"].rstrip(".:/-")
            if name.lower() not in _NO_NAME:
                return name
    return ""
