"""Takes credentials out of texts: what somebody committed by mistake is not passed on to a model or a channel."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.domain.text.credential_patterns import FORMS, FORMS_IN_ANY_CASE

REDACTED = "[redacted]"
_MARKS = ("+", "-", " ")
# what may still become a credential that has a blank in it: its name, or the first lines of a key
_BEGUN = re.compile(
    r"(?:[\w-]{0,40}(?:pass\w{0,6}|pwd?|secret|key|token|auth|authorization)"
    r"[\"'`]?\]?[ \t]{0,5}(?:=>|:=|==?|:)?[ \t]{0,5}[\"'`]?"
    r"(?:(?:bearer|basic|token|digest|apikey)[ \t]{0,5})?|\b(?:bearer|basic)[ \t]{0,5}"
    r"|---- (?:BEGIN )?|\bmachine(?:[ \t]{1,5}\S{1,200}){0,4}[ \t]{1,5})\Z",
    re.I,
)
# no credential goes over these
_ENDS = " \n<>[]()\"'`"
_KEY_BEGINS = ("-----BEGIN ", "---- BEGIN SSH2 ", "PuTTY-User-Key-File-")
_KEY_ENDS = re.compile(r"-----END [A-Z ]*-----|---- END [A-Z0-9 ]* ----|Private-MAC: [0-9a-f]{40,}\s")
# characters: of what is held back, and of a name with its sign behind it
_LONGEST, _LONGEST_NAME = 10_000, 200


def without_secrets(text: str) -> str:
    """The text with every known form of a credential replaced; what names one, such as ``password=``, stays."""
    for form in _forms_for(text):
        text = form.sub(_redact, text)
    return text


def patch_without_secrets(patch: str) -> str:
    """The same for a diff, which keeps its lines and their marks: places in it are counted by them."""
    for form in _forms_for(patch):
        patch = form.sub(_redact_lines, patch)
    return patch


def settled(text: str) -> int:
    """How much of a text that goes on is certain: no credential begins in it that may end behind it."""
    key = max(map(text.rfind, _KEY_BEGINS))
    if len(text) > _LONGEST:
        return len(text)
    ended = _KEY_ENDS.search(text, key) if key >= 0 else None
    if key >= 0 and not ended:
        return key
    end = max(_start_of_word(text, len(text)), ended.end() if ended else 0)
    begun = _BEGUN.search(text, max(0, end - _LONGEST_NAME), end)
    return max(_start_of_word(text, begun.start()), ended.end() if ended else 0) if begun else end


def _start_of_word(text: str, at: int) -> int:
    return 1 + max(text.rfind(end, 0, at) for end in _ENDS)


def _forms_for(text: str) -> Iterator[re.Pattern[str]]:
    small = text.lower()
    for searched, forms in ((text, FORMS), (small, FORMS_IN_ANY_CASE)):
        for hints, form in forms:
            if any(hint in searched for hint in hints):
                yield form


def _redact(found: re.Match[str]) -> str:
    return "".join(kept or "" for kept in found.groups()) + REDACTED


def _redact_lines(found: re.Match[str]) -> str:
    others = found[0].split("\n")[1:]
    return "\n".join([_redact(found), *((line[:1] if line[:1] in _MARKS else "") + REDACTED for line in others)])
