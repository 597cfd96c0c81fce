"""What had happened to the files and titles of a repository before an instant.

Whatever is asked, only merges strictly before the given instant count: a rule that looks back sees what could be
known when a pull request was merged, now as well as in a measurement over past years.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.outcomes import Fate, TakenBack
from bot.domain.pulls import PullRequest
from bot.domain.texts import one_line

# below that, how often a file was mended says little about it
ENOUGH = timedelta(days=90)
FIXES_WITHIN = timedelta(days=90)
REVERTS_WITHIN = timedelta(days=180)
# shorter titles ("Bump version") come again without being the same change
_TITLE_FROM = 16

_FIX = re.compile(
    r"\b(bug|bug-?fix(es)?|hot-?fix|quick-?fix|fix|fixes|fixed|fixing|regression|crash|broken|incorrect|wrong)\b",
    re.I,
)
_NO_FIX = re.compile(
    r"\btypos?\b|\bspell|\bnits?\b|^\s*\[(doc|docs|documentation)\]|\blint|pre-?commit|mypy|link\b|comment", re.I
)


@dataclass(frozen=True, slots=True)
class _Times:
    """Instants in ascending order."""

    known: list[datetime]

    def between(self, since: datetime, before: datetime) -> int:
        return bisect_left(self.known, before) - bisect_left(self.known, since)


class Past:
    """The merges of a repository, in any order, and what became of them; those without files have titles alone."""

    def __init__(self, pulls: Iterable[PullRequest], outcomes: Iterable[TakenBack]) -> None:
        known = sorted(pulls, key=lambda pull: (pull.merge_time, pull.number))
        self._since = known[0].merge_time if known else None
        fixes: dict[str, list[datetime]] = defaultdict(list)
        reverted: dict[str, list[datetime]] = defaultdict(list)
        self._titles: dict[str, datetime] = {}
        for pull in known:
            if is_fix(pull.title):
                for file in pull.files or ():
                    fixes[file.path].append(pull.merge_time)
        by_number = {pull.number: pull for pull in known}
        reverts = (found for found in outcomes if found.fate is not Fate.REPAIRED)
        for revert in sorted(reverts, key=lambda found: found.by.merge_time):
            gone, at = by_number[revert.pull.number], revert.by.merge_time
            self._titles.setdefault(_plain(gone.title), at)
            for file in gone.files or ():
                reverted[file.path].append(at)
        self._fixes = {path: _Times(times) for path, times in fixes.items()}
        self._reverted = {path: _Times(times) for path, times in reverted.items()}

    def reaches(self, at: datetime) -> bool:
        """Whether it goes back long enough for what happened to files to mean something at that instant."""
        return self._since is not None and at - self._since >= ENOUGH

    def fixes(self, path: str, at: datetime) -> int:
        """How many fixes changed a file in the 90 days before an instant, by their titles."""
        times = self._fixes.get(path)
        return times.between(at - FIXES_WITHIN, at) if times else 0

    def was_taken_back(self, path: str, at: datetime) -> bool:
        """Whether a revert of a change to the file was merged in the 180 days before an instant."""
        times = self._reverted.get(path)
        return times is not None and times.between(at - REVERTS_WITHIN, at) > 0

    def was_tried(self, title: str, at: datetime) -> bool:
        """Whether a change of that title was taken back before an instant."""
        plain = _plain(title)
        return any(
            when < at and len(earlier) >= _TITLE_FROM and earlier in plain
            for earlier, when in self._titles.items()
        )


def is_fix(title: str) -> bool:
    """Whether a title speaks of mending what did not work."""
    return bool(_FIX.search(title)) and not _NO_FIX.search(title)


def _plain(title: str) -> str:
    return one_line(title).casefold()
