"""Redaction of credentials: secrets committed by mistake are not passed on to a model or a channel."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.domain.text.credential_patterns import CASE_INSENSITIVE_PATTERNS, CASE_SENSITIVE_PATTERNS

REDACTED = "[redacted]"
# characters: no pattern matches fewer, and most pieces of a message are as short as a number or a comma
_LEAST_LENGTH = 8
_CASE_SENSITIVE_HINTS, _CASE_INSENSITIVE_HINTS = (
    tuple(dict.fromkeys(hint for hints, _ in patterns for hint in hints))
    for patterns in (CASE_SENSITIVE_PATTERNS, CASE_INSENSITIVE_PATTERNS)
)
_MARKS = ("+", "-", " ")
# the possible beginning of a credential with a blank in it: its name, or the first lines of a key
_POSSIBLE_BEGINNING = re.compile(
    r"(?:[\w-]{0,40}(?:pass\w{0,6}|pwd?|secret|key|token|auth|authorization)"
    r"[\"'`]?\]?[ \t]{0,5}(?:=>|:=|==?|:)?[ \t]{0,5}[\"'`]?"
    r"(?:(?:bearer|basic|token|digest|apikey)[ \t]{0,5})?|\b(?:bearer|basic)[ \t]{0,5}"
    r"|---- (?:BEGIN )?|\bmachine(?:[ \t]{1,5}\S{1,200}){0,4}[ \t]{1,5})\Z",
    re.I,
)
# the possible beginning of an address with a password in it: its user may have signs that end other credentials
_POSSIBLE_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]{1,20}://[^\s/@?#'\"<>]{0,301}\Z", re.I)
# no other credential contains these
_DELIMITERS = " \n<>[]()\"'`"
_KEY_BEGINS = ("-----BEGIN ", "---- BEGIN SSH2 ", "PuTTY-User-Key-File-")
_KEY_ENDS = re.compile(r"-----END [A-Z ]*-----|---- END [A-Z0-9 ]* ----|Private-MAC: [0-9a-f]{40,}\s")
# characters: of the text that is held back, of a name with its sign, and of an address with its password
_MAX_HELD_BACK, _MAX_NAME_LENGTH, _MAX_ADDRESS_LENGTH = 10_000, 200, 330


def redact_text(text: str) -> str:
    """Replace every known form of a credential in a text; the name before it, such as ``password=``, stays."""
    for form in _select_patterns(text):
        text = form.sub(_redact_match, text)
    return text


def redact_patch(patch: str) -> str:
    """Replace credentials in a diff or a file; lines and their marks stay, since places are counted by them."""
    for form in _select_patterns(patch):
        patch = form.sub(_redact_matched_lines, patch)
    return patch


def measure_settled_prefix(text: str) -> int:
    """Return the length of the beginning of an unfinished text that cannot end inside a credential."""
    key = max(map(text.rfind, _KEY_BEGINS))
    if len(text) > _MAX_HELD_BACK:
        return len(text)
    ended = _KEY_ENDS.search(text, key) if key >= 0 else None
    if key >= 0 and not ended:
        return key
    earliest = ended.end() if ended else 0
    end = max(_find_word_start(text, len(text)), earliest)
    for pattern, length in ((_POSSIBLE_ADDRESS, _MAX_ADDRESS_LENGTH), (_POSSIBLE_BEGINNING, _MAX_NAME_LENGTH)):
        beginning = pattern.search(text, max(0, end - length), end)
        if beginning:
            end = max(_find_word_start(text, beginning.start()), earliest)
    return end


def _find_word_start(text: str, at: int) -> int:
    return 1 + max(text.rfind(end, 0, at) for end in _DELIMITERS)


def _select_patterns(text: str) -> Iterator[re.Pattern[str]]:
    """Find the patterns that may match; most texts have no hint of any, so each hint is looked for once."""
    if len(text) < _LEAST_LENGTH:
        return
    for searched, patterns, hints in (
        (text, CASE_SENSITIVE_PATTERNS, _CASE_SENSITIVE_HINTS),
        (text.lower(), CASE_INSENSITIVE_PATTERNS, _CASE_INSENSITIVE_HINTS),
    ):
        present = {hint for hint in hints if hint in searched}
        if present:
            yield from (pattern for own, pattern in patterns if not present.isdisjoint(own))


def _redact_match(match: re.Match[str]) -> str:
    return "".join(group or "" for group in match.groups()) + REDACTED


def _redact_matched_lines(match: re.Match[str]) -> str:
    others = match[0].split("\n")[1:]
    return "\n".join(
        [_redact_match(match), *((line[:1] if line[:1] in _MARKS else "") + REDACTED for line in others)]
    )
