"""References such as ``#N`` in text: which of them are pull requests of the day."""

from __future__ import annotations

import re

# not after the name of another repository, as in "pytorch/pytorch#1"
NUMBER_PATTERN = r"(?<![\w/.-])#(?P<number>\d+)\b"

_MAX_DIGITS = 9
_ANY_NUMBER = NUMBER_PATTERN.replace("?P<number>", "")
_SEPARATOR = r"(?:\s*[,;]\s*(?:and\s+)?|\s+and\s+)"
# a bracket includes the blanks before it; a match begins only at the first of them, which keeps the search linear
_NUMBER_LIST = re.compile(
    rf"(?P<open>(?<!\s)\s*\((?:PRs?|pull requests?)?\s*)?"
    rf"(?P<list>{_ANY_NUMBER}(?:{_SEPARATOR}{_ANY_NUMBER})*)(?P<close>\s*\))?",
    re.I,
)


def remove_unknown_numbers(text: str, numbers: frozenset[int]) -> str:
    """Remove each ``#N`` that is not in ``numbers``, and each list or pair of brackets that becomes empty."""
    kept = _NUMBER_LIST.sub(lambda match: _keep_known_numbers(match, numbers), text)
    if kept == text:
        return text
    return re.sub(r" +([,.;)])", r"\1", re.sub(r" {2,}", " ", kept)).strip()


def parse_digits(digits: str) -> int:
    """Parse a number; return 0, which no pull request has, if it has too many digits."""
    return int(digits) if len(digits) <= _MAX_DIGITS else 0


def _keep_known_numbers(match: re.Match[str], numbers: frozenset[int]) -> str:
    written = re.findall(r"#(\d+)", match["list"])
    kept = [number for number in written if parse_digits(number) in numbers]
    if len(kept) == len(written):
        return match[0]
    opened, closed = match["open"] or "", match["close"] or ""
    if opened and closed and not kept:
        return ""
    return opened + ", ".join(f"#{number}" for number in kept) + closed
