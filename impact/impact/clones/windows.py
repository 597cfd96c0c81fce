"""The windows of a replay: which upstream merges are judged by which downstream tree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from functools import cache
from itertools import islice

from impact.clones.upstream_line import select_dates, select_range
from impact.errors import UsageError
from impact.evaluation.adaptations import read_rows
from impact.evaluation.window import EvaluationWindow
from impact.git.clone_trees import CloneTrees
from impact.profile.pins import list_pins, read_revisions
from impact.profile.plain_uses import FileText, is_scanned_text
from impact.source.models import BlobVersion, LineCommit, TreeCommit, find_hashes, is_tag

_WEEK = timedelta(days=7)
# a downstream adapts to a merge days later: the median is 1 to 9 days, of training frameworks 21
_ADAPTING_TIME = timedelta(days=21)
# of a commit; where a pin stands: workflows, images, settings, lists and documents
_MAX_PIN_FILES = 40
_DOCUMENTS = (".md", "conf.py", "setup.py")
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


def list_weekly_windows(
    upstream: CloneTrees, downstream: CloneTrees, dates: EvaluationWindow, others: Iterable[str] = ()
) -> list[ReplayWindow]:
    """Return a window for each week, without the merges of ``others``.

    Raises UsageError: the downstream has no commit before the first week.
    """
    windows, gone = [], set(others)
    for day in range(0, (dates.until - dates.since).days + 1, _WEEK.days):
        begin = dates.since + timedelta(day)
        week = EvaluationWindow(begin, min(begin + _WEEK - timedelta(days=1), dates.until))
        merges = tuple(each.sha for each in select_dates(upstream.list_line(), week) if each.sha not in gone)
        before = find_before(upstream.list_line(), week.start)
        ours = find_before(downstream.list_line(), week.start)
        if not merges or before is None:
            continue
        if ours is None:
            raise UsageError(f"The downstream clone has no commit before {begin}: choose a later --since.")
        later = find_before(downstream.list_line(), week.start + _ADAPTING_TIME)
        windows.append(ReplayWindow(str(begin), merges, before.sha, ours.sha, (later or ours).sha))
    return windows


def find_before(line: Sequence[LineCommit], instant: datetime) -> LineCommit | None:
    """Return the last commit of a line before an instant (UTC)."""
    return next((commit for commit in reversed(line) if commit.committed_at < instant), None)


@dataclass(frozen=True, slots=True)
class PinChange:
    """A downstream commit that moved its pin; both ends are full or short hashes, and ``old`` may be empty."""

    adapting: str
    old: str
    new: str


def parse_windows(text: str) -> list[PinChange]:
    """Read a CSV with the columns ``adapting_commit``, ``old_pin`` and ``new_pin``. Raises UsageError."""
    rows = read_rows(text, "windows")
    if not rows or not set(_COLUMNS) <= set(rows[0]):
        raise UsageError(f"The file of windows needs the columns {', '.join(_COLUMNS)}: add them.")
    return [PinChange(*((row[name] or "").strip() for name in _COLUMNS)) for row in rows]


def list_pinned_windows(
    upstream: CloneTrees, downstream: CloneTrees, dates: EvaluationWindow, pins: Iterable[PinChange]
) -> list[ReplayWindow]:
    """Return the windows between pins, with the merges of the dates. A merge is in the first window that has it.

    A pin or commit that is not on the line of its clone has no window.
    """
    within = {commit.sha for commit in select_dates(upstream.list_line(), dates)}
    parents = {commit.sha: commit.parent for commit in downstream.list_line()}
    windows: list[ReplayWindow] = []
    for pin in pins:
        adapting = downstream.find_commit(pin.adapting)
        old = upstream.find_commit(pin.old)
        merges = select_range(upstream.list_line(), old, upstream.find_commit(pin.new))
        shas = tuple(commit.sha for commit in merges if commit.sha in within)
        if shas and parents.get(adapting):
            windows.append(ReplayWindow(adapting[:10], shas, old, parents[adapting], adapting))
            within.difference_update(shas)
    return windows


def mine_pins(
    upstream: CloneTrees, downstream: CloneTrees, dates: EvaluationWindow, packages: Sequence[str]
) -> list[PinChange]:
    """Return the downstream commits that moved its pin in a workflow, image, setting, list or document."""
    known = {commit.sha: place for place, commit in enumerate(upstream.list_line())}
    since = datetime.combine(dates.since, time(), UTC)
    line = [commit for commit in downstream.list_line() if commit.committed_at >= since]
    find_tag = cache(upstream.find_tag)

    def list_pinned(version: BlobVersion | None) -> set[str]:
        if version is None:
            return set()
        file = downstream.read_file(version)
        text = FileText(file.path, file.text, tuple(packages))
        pinned = ((text.lines[number - 1], name) for name, number in list_pins(text) if name in packages)
        tags = (each for pin in pinned for each in read_revisions(*pin) if is_tag(each))
        return {each for each in (*find_hashes(file.text), *map(find_tag, tags)) if each in known}

    def find_pins(commit: TreeCommit) -> list[str]:
        """Return the newest upstream commits that the changed files named before the commit, and name after it."""
        places = (each for each in commit.changes if is_scanned_text(each.path) or each.path.endswith(_DOCUMENTS))
        sides = [(list_pinned(each.old), list_pinned(each.new)) for each in islice(places, _MAX_PIN_FILES)]
        pinned = ((sha for pair in sides for sha in pair[at] - pair[1 - at]) for at in (0, 1))
        return [max(each, key=known.__getitem__, default="") for each in pinned]

    pins: list[PinChange] = []
    for commit in downstream.iterate_commits(line):
        old, new = find_pins(commit)
        current = pins[-1].new if pins else old
        if new and old != new and known[new] > known.get(current, -1):
            pins.append(PinChange(commit.sha, current, new))
    return pins
