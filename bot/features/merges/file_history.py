"""The history of a repository before an instant: fixes and reverts by file, usual sizes, numbers.

Every query considers only merges strictly before its instant: a rule that looks back sees what was known when a
pull request was merged, in production as well as in a measurement of past years.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from statistics import median

from bot.features.merges.outcomes import Attempt, MergeOutcome, Reland
from bot.platform.pulls.models import ChangedFile, PullRequest
from bot.platform.pulls.paths import PathClass, PathClasses
from impact.history.outcomes import OutcomeKind

# with a shorter history, the absence of an event says little
MIN_HISTORY = timedelta(days=90)
FIX_WINDOW = timedelta(days=14)
REVERT_WINDOW = timedelta(days=180)
_SIZE_WINDOW = timedelta(days=90)
# lines that a change of product code usually adds: vLLM's median of 2025, if too few are known
DEFAULT_CHANGE_SIZE = 16
_MIN_USUAL_SIZE, _MAX_USUAL_SIZE, _MIN_SIZE_SAMPLES = 8, 64, 50

# numbers; a repository with a hundred merges a day needs months for so many issues and pull requests
_MAX_NUMBER_GAP = 10_000

_FIX = re.compile(
    r"\b(bug|bug-?fix(es)?|hot-?fix|quick-?fix|fix|fixes|fixed|fixing|regression|crash|broken|incorrect|wrong)\b",
    re.I,
)
_TRIVIAL_FIX = re.compile(
    r"\btypos?\b|\bspell|\bnits?\b|^\s*\[(doc|docs|documentation)\]|\blint|pre-?commit|mypy|link\b|comment", re.I
)


class FileHistory:
    """The merges of a repository, in any order, with their reverts and relands.

    Only files that are product or build by ``classes`` are considered. A renamed file keeps its history.
    """

    def __init__(
        self,
        pulls: Iterable[PullRequest],
        outcomes: Iterable[MergeOutcome],
        classes: PathClasses,
        relands: Iterable[Reland] = (),
    ) -> None:
        ordered = sorted(pulls, key=lambda pull: (pull.merge_time, pull.number))
        self._since = ordered[0].merge_time if ordered else None
        self._fixes: dict[str, list[tuple[datetime, int]]] = defaultdict(list)
        self._reverts: dict[str, list[datetime]] = defaultdict(list)
        self._sizes: list[tuple[datetime, int]] = []
        # merges with a higher number than all before them: the first above a number is the first of all merges
        # above it
        self._numbers: list[int] = []
        self._merged: list[datetime] = []
        self._gap_number = -_MAX_NUMBER_GAP
        self._renames: dict[str, list[tuple[datetime, str]]] = defaultdict(list)
        files = {pull.number: select_watched_files(pull, classes) for pull in ordered}
        for pull in ordered:
            for file in files[pull.number]:
                if file.status == "renamed" and file.previous_path:
                    self._renames[file.path].append((pull.merge_time, file.previous_path))
                if is_fix(pull.title):
                    self._fixes[file.path].append((pull.merge_time, pull.number))
            self._record_number(pull)
            if any(classes.classify_path(file.path) is PathClass.PRODUCT for file in files[pull.number]):
                self._sizes.append((pull.merge_time, count_added_lines(files[pull.number], classes)))
        for outcome in outcomes:
            if outcome.kind is not OutcomeKind.REPAIRED:
                for file in files.get(outcome.pull.number, ()):
                    self._reverts[file.path].append(outcome.by.merge_time)
        self._attempts = {reland.number: reland.attempts for reland in relands}
        self._medians: dict[datetime, float | None] = {}

    def is_long_enough(self, at: datetime) -> bool:
        return self._since is not None and at - self._since >= MIN_HISTORY

    def get_usual_size(self, at: datetime) -> float:
        """Return the number of lines that a change of product code usually adds, limited to the rules' bounds."""
        lines = self.measure_usual_size(at)
        return DEFAULT_CHANGE_SIZE if lines is None else min(max(lines, _MIN_USUAL_SIZE), _MAX_USUAL_SIZE)

    def measure_usual_size(self, at: datetime) -> float | None:
        """Return the median of added lines in the 90 days up to midnight (UTC), None for fewer than 50 changes."""
        midnight = at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        if midnight not in self._medians:
            first, last = (bisect_left(self._sizes, (when, 0)) for when in (midnight - _SIZE_WINDOW, midnight))
            is_enough = last - first >= _MIN_SIZE_SAMPLES
            self._medians[midnight] = median(size for _, size in self._sizes[first:last]) if is_enough else None
        return self._medians[midnight]

    def count_fixes(self, paths: Iterable[str], at: datetime) -> int:
        """Return how many fixes, by their titles, changed any of the files in the 14 days before an instant."""
        since = at - FIX_WINDOW
        numbers: set[int] = set()
        for path in paths:
            for name, until in self._iterate_names(path, at):
                times = self._fixes.get(name, [])
                # by the time only: direct commits have negative numbers
                first, last = (bisect_left(times, when, key=itemgetter(0)) for when in (since, until))
                numbers.update(number for _, number in times[first:last])
        return len(numbers)

    def count_reverted(self, paths: Iterable[str], at: datetime) -> int:
        """Return how many files were in a change that was reverted in the 180 days before an instant."""
        since = at - REVERT_WINDOW
        return sum(
            any(
                since < when < at
                for name, _ in self._iterate_names(path, at)
                for when in self._reverts.get(name, ())
            )
            for path in paths
        )

    def list_attempts(self, number: int) -> tuple[Attempt, ...]:
        """Return the earlier attempts of the change that a pull request relands, oldest first."""
        return self._attempts.get(number, ())

    def get_open_time(self, number: int, at: datetime) -> timedelta:
        """Return the minimum time for which a pull request was open: since the first merge of a higher number."""
        place = bisect_left(self._numbers, number)
        is_merged = place < len(self._numbers) and self._merged[place] < at
        return at - self._merged[place] if is_merged else timedelta(0)

    def _iterate_names(self, path: str, at: datetime) -> Iterator[tuple[str, datetime]]:
        """Yield the names of a file, each with the end of its use; a rename counts from its merge."""
        while True:
            yield path, at
            renames = self._renames.get(path, [])
            place = bisect_left(renames, (at, ""))
            if place == 0:
                return
            at, path = renames[place - 1]

    def _record_number(self, pull: PullRequest) -> None:
        """Record the number of a merge, except the first number after a large gap."""
        # such a number may belong to another tracker, and a wrong one seldom repeats. A single wrong number would
        # make all later merges look as if they had been open since then.
        last = self._numbers[-1] if self._numbers else pull.number - 1
        is_gap = pull.number > last + _MAX_NUMBER_GAP and abs(pull.number - self._gap_number) > _MAX_NUMBER_GAP
        if is_gap:
            self._gap_number = pull.number
        # direct commits have no number
        if not is_gap and pull.number > max(last, 0):
            self._numbers.append(pull.number)
            self._merged.append(pull.merge_time)


def select_watched_files(pull: PullRequest, classes: PathClasses) -> tuple[ChangedFile, ...]:
    """Return the files of a pull request that are product or build; none if its files are not loaded."""
    kinds = (PathClass.PRODUCT, PathClass.BUILD, PathClass.LOCK)
    return tuple(file for file in pull.files or () if classes.classify_path(file.path) in kinds)


def count_added_lines(files: Iterable[ChangedFile], classes: PathClasses) -> int:
    """Return the number of lines added to files, except to lock files, which are generated."""
    return sum(file.additions for file in files if classes.classify_path(file.path) is not PathClass.LOCK)


def is_fix(title: str) -> bool:
    return bool(_FIX.search(title)) and not _TRIVIAL_FIX.search(title)
