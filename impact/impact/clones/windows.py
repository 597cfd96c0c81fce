"""The windows of a replay: which upstream merges are judged by which downstream tree."""

from __future__ import annotations

import csv
import datetime as dt
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from itertools import pairwise

from impact.clones.upstream_line import select_dates, select_range
from impact.errors import UsageError
from impact.evaluation.window import EvaluationWindow
from impact.git.clone_trees import CloneTrees
from impact.source.models import SourceFile
from impact.source.revisions import find_hashes
from impact.source.trees import LineCommit, TreeCommit

_WEEK = timedelta(days=7)
# a downstream adapts to a merge days later: the median is 1 to 9 days, of training frameworks 21
_ADAPTING_TIME = timedelta(days=21)
# where a pin stands: workflows, images, settings and documents, never code
_PIN_PLACES = re.compile(
    r"(?:^|/)(?:\.github/|Dockerfile|docs?/|ci/|\.ci/|requirements|[^/]*\.(?:ya?ml|toml|txt|env|conf|md|commit)$)"
)
_MAX_PIN_FILES = 40
_COLUMNS = ("adapting_commit", "old_pin", "new_pin")


@dataclass(frozen=True, slots=True)
class ReplayWindow:
    """Merges of a time, the upstream commit before them, and the downstream commits before and after.

    ``downstream`` is the tree that they are judged by; up to ``later`` it adapted to them.
    """

    title: str
    merges: tuple[str, ...]
    upstream: str
    downstream: str
    later: str


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of first parents of both clones, oldest first."""

    upstream: Sequence[LineCommit]
    downstream: Sequence[LineCommit]


def list_weekly_windows(lines: Lines, dates: EvaluationWindow, others: Iterable[str] = ()) -> list[ReplayWindow]:
    """Return a window for each week, without the merges of ``others``.

    Raises UsageError: the downstream has no commit before the first week.
    """
    windows, gone = [], set(others)
    for begin, end in _divide_weeks(dates):
        week = EvaluationWindow(begin, end)
        merges = tuple(commit.sha for commit in select_dates(lines.upstream, week) if commit.sha not in gone)
        before = find_before(lines.upstream, week.start)
        downstream = find_before(lines.downstream, week.start)
        if not merges or before is None:
            continue
        if downstream is None:
            raise UsageError(f"The downstream clone has no commit before {begin}: choose a later --since.")
        later = find_before(lines.downstream, week.start + _ADAPTING_TIME)
        windows.append(ReplayWindow(str(begin), merges, before.sha, downstream.sha, (later or downstream).sha))
    return windows


def _divide_weeks(dates: EvaluationWindow) -> Iterator[tuple[dt.date, dt.date]]:
    begin = dates.since
    while begin <= dates.until:
        yield begin, min(begin + _WEEK - timedelta(days=1), dates.until)
        begin += _WEEK


def find_before(line: Sequence[LineCommit], instant: datetime) -> LineCommit | None:
    """Return the last commit of a line before an instant (UTC)."""
    return next((commit for commit in reversed(line) if commit.committed_at < instant), None)


@dataclass(frozen=True, slots=True)
class PinChange:
    """A downstream commit that moved its pin from one upstream commit to another; full or short hashes."""

    adapting: str
    old: str
    new: str


def parse_windows(text: str) -> list[PinChange]:
    """Read a CSV with the columns ``adapting_commit``, ``old_pin`` and ``new_pin``. Raises UsageError."""
    try:
        rows = list(csv.DictReader(io.StringIO(text)))
    except csv.Error as error:
        raise UsageError(f"The file of windows is no CSV ({error}): give another one.") from error
    if not rows or not set(_COLUMNS) <= set(rows[0]):
        raise UsageError(f"The file of windows needs the columns {', '.join(_COLUMNS)}: add them.")
    return [PinChange(*((row[name] or "").strip() for name in _COLUMNS)) for row in rows]


def list_pinned_windows(
    upstream: CloneTrees, downstream: CloneTrees, lines: Lines, dates: EvaluationWindow, pins: Iterable[PinChange]
) -> list[ReplayWindow]:
    """Return the windows between pins, with the merges of the dates. A merge is in the first window that has it.

    A pin or commit that is not on the line of its clone has no window.
    """
    within = {commit.sha for commit in select_dates(lines.upstream, dates)}
    parents = {commit.sha: commit.parent for commit in lines.downstream}
    windows: list[ReplayWindow] = []
    for pin in pins:
        adapting = downstream.find_commit(pin.adapting)
        old = upstream.find_commit(pin.old)
        merges = select_range(lines.upstream, old, upstream.find_commit(pin.new))
        shas = tuple(commit.sha for commit in merges if commit.sha in within)
        if shas and parents.get(adapting):
            windows.append(ReplayWindow(adapting[:10], shas, old, parents[adapting], adapting))
            within.difference_update(shas)
    return windows


def mine_pins(downstream: CloneTrees, lines: Lines, dates: EvaluationWindow) -> list[PinChange]:
    """Return the downstream commits that changed an upstream hash in a workflow, image, setting or document."""
    known = {commit.sha: place for place, commit in enumerate(lines.upstream)}
    since = datetime.combine(dates.since, time(), UTC)
    line = [commit for commit in lines.downstream if commit.committed_at >= since]
    pins: list[tuple[str, str]] = []
    current = ""
    for commit in downstream.iterate_commits(line):
        old, new = (_find_pin(downstream, commit, known, side) for side in (0, 1))
        if new and old != new and known[new] > known.get(current or old, -1):
            pins.append((commit.sha, new))
            if not current and old:
                pins.insert(0, ("", old))
            current = new
    return [PinChange(adapting, old, new) for (_, old), (adapting, new) in pairwise(pins)]


def _find_pin(downstream: CloneTrees, commit: TreeCommit, known: dict[str, int], side: int) -> str:
    """Return the newest upstream commit that the changed files of one side name."""
    pins: list[str] = []
    for change in [each for each in commit.changes if _PIN_PLACES.search(each.path)][:_MAX_PIN_FILES]:
        version = (change.old, change.new)[side]
        other = (change.new, change.old)[side]
        if version:
            names = _list_hashes(downstream.read_file(version))
            others = _list_hashes(downstream.read_file(other)) if other else set()
            pins += [name for name in names - others if name in known]
    return max(pins, key=known.__getitem__, default="")


def _list_hashes(file: SourceFile) -> set[str]:
    return set(find_hashes(file.text))
