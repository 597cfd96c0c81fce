"""What had happened in a repository before an instant: fixes and reverts by file, usual sizes, numbers.

Whatever is asked, only merges strictly before the given instant count: a rule that looks back sees what could be
known when a pull request was merged, now as well as in a measurement over past years.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from statistics import median

from bot.domain.history.outcomes import Fate, TakenBack
from bot.domain.history.relands import Reland, Try
from bot.domain.pull_requests.models import ChangedFile, PullRequest
from bot.domain.pull_requests.path_classes import PathClass, PathClasses

# below that, what did not happen says little
ENOUGH = timedelta(days=90)
FIXES_WITHIN = timedelta(days=14)
REVERTS_WITHIN = timedelta(days=180)
_USUAL_WITHIN = timedelta(days=90)
# lines that a change of product code usually adds: vLLM's median of 2025, where a repository does not tell its own
USUAL = 16
_USUAL_LEAST, _USUAL_MOST, _USUAL_OF = 8, 64, 50

# numbers of one repository; in one that merges a hundred a day, so many issues and pull requests come in months
_LEAP = 10_000

_FIX = re.compile(
    r"\b(bug|bug-?fix(es)?|hot-?fix|quick-?fix|fix|fixes|fixed|fixing|regression|crash|broken|incorrect|wrong)\b",
    re.I,
)
_NO_FIX = re.compile(
    r"\btypos?\b|\bspell|\bnits?\b|^\s*\[(doc|docs|documentation)\]|\blint|pre-?commit|mypy|link\b|comment", re.I
)


class Past:
    """The merges of a repository, in any order, and what became of them.

    Only files that are product or build by ``classes`` are watched; a renamed one takes along what happened to it.
    """

    def __init__(
        self,
        pulls: Iterable[PullRequest],
        outcomes: Iterable[TakenBack],
        classes: PathClasses,
        relands: Iterable[Reland] = (),
    ) -> None:
        known = sorted(pulls, key=lambda pull: (pull.merge_time, pull.number))
        self._since = known[0].merge_time if known else None
        self._fixes: dict[str, list[tuple[datetime, int]]] = defaultdict(list)
        self._reverts: dict[str, list[datetime]] = defaultdict(list)
        self._sizes: list[tuple[datetime, int]] = []
        # merges with a number above all before them: the first of them above a number is the first of all
        self._numbers: list[int] = []
        self._merged: list[datetime] = []
        self._leapt = -_LEAP
        self._renames: dict[str, list[tuple[datetime, str]]] = defaultdict(list)
        files = {pull.number: watched(pull, classes) for pull in known}
        for pull in known:
            self._take(pull, files[pull.number], classes)
        for found in outcomes:
            if found.fate is not Fate.REPAIRED:
                for file in files.get(found.pull.number, ()):
                    self._reverts[file.path].append(found.by.merge_time)
        self._tries = {found.number: found.tries for found in relands}
        self._medians: dict[datetime, float | None] = {}

    def reaches(self, at: datetime) -> bool:
        """Whether it goes back long enough for what happened to files to mean something at that instant."""
        return self._since is not None and at - self._since >= ENOUGH

    def usual(self, at: datetime) -> float:
        """How many lines a change of product code usually adds, as the rules count: measured, within bounds."""
        found = self.measured(at)
        return USUAL if found is None else min(max(found, _USUAL_LEAST), _USUAL_MOST)

    def measured(self, at: datetime) -> float | None:
        """The same as it is here: the median of 90 days up to the last midnight, None of fewer than 50 changes."""
        midnight = at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        if midnight not in self._medians:
            self._medians[midnight] = self._median(midnight)
        return self._medians[midnight]

    def fixes(self, paths: Iterable[str], at: datetime) -> int:
        """How many fixes, by their titles, changed any of these files in the 14 days before an instant."""
        since = at - FIXES_WITHIN
        found: set[int] = set()
        for path in paths:
            for name, until in self._names(path, at):
                times = self._fixes.get(name, [])
                # by the time alone: what was merged without a pull request has a number below 0
                first, last = (bisect_left(times, when, key=itemgetter(0)) for when in (since, until))
                found.update(number for _, number in times[first:last])
        return len(found)

    def taken_back(self, paths: Iterable[str], at: datetime) -> int:
        """How many of these files were in a change whose revert was merged in the 180 days before an instant."""
        since = at - REVERTS_WITHIN
        return sum(
            any(since < when < at for name, _ in self._names(path, at) for when in self._reverts.get(name, ()))
            for path in paths
        )

    def tries(self, number: int) -> tuple[Try, ...]:
        """The earlier tries of a change that a pull request lands again, oldest first."""
        return self._tries.get(number, ())

    def open_for(self, number: int, at: datetime) -> timedelta:
        """How long a pull request had been open at least: one that was opened later was merged so long before."""
        place = bisect_left(self._numbers, number)
        is_known = place < len(self._numbers) and self._merged[place] < at
        return at - self._merged[place] if is_known else timedelta(0)

    def _names(self, path: str, at: datetime) -> Iterator[tuple[str, datetime]]:
        """What a file has been called, each with when it ceased to be: a rename counts from when it was merged."""
        while True:
            yield path, at
            renames = self._renames.get(path, [])
            place = bisect_left(renames, (at, ""))
            if place == 0:
                return
            at, path = renames[place - 1]

    def _take(self, pull: PullRequest, files: Sequence[ChangedFile], classes: PathClasses) -> None:
        for file in files:
            if file.status == "renamed" and file.previous_path:
                self._renames[file.path].append((pull.merge_time, file.previous_path))
            if is_fix(pull.title):
                self._fixes[file.path].append((pull.merge_time, pull.number))
        self._number(pull)
        if any(classes.classify(file.path) is PathClass.PRODUCT for file in files):
            self._sizes.append((pull.merge_time, added_lines(files, classes)))

    def _number(self, pull: PullRequest) -> None:
        """Of numbers that leap, and may be of another tracker, the second counts: wrong ones seldom come again.

        A single one would make all that is merged later look as if it had been open since then.
        """
        last = self._numbers[-1] if self._numbers else pull.number - 1
        is_leap = pull.number > last + _LEAP and abs(pull.number - self._leapt) > _LEAP
        if is_leap:
            self._leapt = pull.number
        # what was pushed without a pull request has none
        if not is_leap and pull.number > max(last, 0):
            self._numbers.append(pull.number)
            self._merged.append(pull.merge_time)

    def _median(self, midnight: datetime) -> float | None:
        first, last = (bisect_left(self._sizes, (when, 0)) for when in (midnight - _USUAL_WITHIN, midnight))
        if last - first < _USUAL_OF:
            return None
        return median(size for _, size in self._sizes[first:last])


def watched(pull: PullRequest, classes: PathClasses) -> tuple[ChangedFile, ...]:
    """The files of a pull request that are product or build; none where they are not loaded."""
    kinds = (PathClass.PRODUCT, PathClass.BUILD, PathClass.LOCK)
    return tuple(file for file in pull.files or () if classes.classify(file.path) in kinds)


def added_lines(files: Iterable[ChangedFile], classes: PathClasses) -> int:
    """The lines that are added to files, less those of lock files, which nobody writes."""
    return sum(file.additions for file in files if classes.classify(file.path) is not PathClass.LOCK)


def is_fix(title: str) -> bool:
    """Whether a title speaks of mending what did not work."""
    return bool(_FIX.search(title)) and not _NO_FIX.search(title)
