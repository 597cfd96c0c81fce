"""Which pull requests repair what another broke, as they say themselves: "fixes a regression from #N"."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from bot.domain.pulls import PullRequest
from bot.domain.texts import without_comments

# words of blame right before the number; "fixes #N" names an issue and blames nobody
_BLAME = re.compile(
    r"""
    (?<!\bnot\ )(?<!\bnot\ a\ )(?<!\bno\ )
    \b(?:regress(?:ion|ed)|broken|breakage|broke|bug|introduced|caused|fail(?:ure|ing)s?|issue|problem)\b
    (?:(?!\n\s*\n|\b(?:not|fix|solv|report|describ|discuss))[\w\s,:'`*_-]){0,40}?
    \b(?:by|from|in|since|after|of|due\ to)\s+(?:(?:PR|pull\ request|the)\s+)*[(\[`]?
    (?:https://github\.com/(?P<address>[\w.-]+/[\w.-]+)/pull/|(?P<repository>[\w.-]+/[\w.-]+)?\#)
    (?P<number>\d{1,9})(?!\d)
    """,
    re.I | re.X,
)
_FIXES = re.compile(r"\b(?:fix(?:es|ed|ing)?|hot-?fix|bug-?fix|repair\w*|regress\w*|restor\w*|unbreak\w*)\b", re.I)


@dataclass(frozen=True, slots=True)
class Repair:
    """``by`` repairs what ``number`` broke."""

    number: int
    by: int


def repairs_among(pulls: Iterable[PullRequest]) -> tuple[Repair, ...]:
    """The repairs of which both halves are among ``pulls``; the cause must have been merged before."""
    known = tuple(pulls)
    merged = {pull.number: pull.merge_time for pull in known}
    return tuple(
        Repair(number, pull.number)
        for pull in known
        for number in sorted(_blamed(pull))
        if number in merged and merged[number] < pull.merge_time
    )


def _blamed(pull: PullRequest) -> set[int]:
    if not _FIXES.search(pull.title):
        return set()
    own = str(pull.repository).casefold()
    said = _BLAME.finditer(f"{pull.title}\n{without_comments(pull.body)}")
    return {int(found["number"]) for found in said if (_repository(found) or own).casefold() == own}


def _repository(found: re.Match[str]) -> str:
    return found["repository"] or found["address"] or ""
