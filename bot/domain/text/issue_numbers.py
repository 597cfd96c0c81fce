"""``#N`` in prose: which of them are pull requests of the day."""

from __future__ import annotations

import re

# not behind the name of another repository, as in "pytorch/pytorch#1"
NUMBER = r"(?<![\w/.-])#(?P<number>\d+)\b"

_MOST_DIGITS = 9
_ONE = NUMBER.replace("?P<number>", "")
_BETWEEN = r"(?:\s*[,;]\s*(?:and\s+)?|\s+and\s+)"
# a bracket takes the blanks before it along, looked at from the first of them alone
_LIST = re.compile(
    rf"(?P<open>(?<!\s)\s*\((?:PRs?|pull requests?)?\s*)?(?P<list>{_ONE}(?:{_BETWEEN}{_ONE})*)(?P<close>\s*\))?",
    re.I,
)


def without_unknown_numbers(text: str, known: frozenset[int]) -> str:
    """The text less ``#N`` that are not of the day; a list or a bracket that is left empty goes with them."""
    kept = _LIST.sub(lambda found: _only_known(found, known), text)
    if kept == text:
        return text
    return re.sub(r" +([,.;)])", r"\1", re.sub(r" {2,}", " ", kept)).strip()


def number_of(digits: str) -> int:
    """The number that digits write; 0, which no pull request has, where they are too many."""
    return int(digits) if len(digits) <= _MOST_DIGITS else 0


def _only_known(found: re.Match[str], known: frozenset[int]) -> str:
    numbers = re.findall(r"#(\d+)", found["list"])
    kept = [number for number in numbers if number_of(number) in known]
    if len(kept) == len(numbers):
        return found[0]
    opened, closed = found["open"] or "", found["close"] or ""
    if opened and closed and not kept:
        return ""
    return opened + ", ".join(f"#{number}" for number in kept) + closed
