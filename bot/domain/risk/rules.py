"""The risk rules: what each examines, how many points it gives, and the sentence with its reason.

The points were set by hand on vLLM's merges of March to September 2025, and measured on those of October to
December (docs/decisions/0019). No rule considers the author: a reason that can't be shown must not order
people's work.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import PurePosixPath

from bot.domain.history.file_history import USUAL, Past, added_lines, watched
from bot.domain.pull_requests.models import ChangedFile, PullRequest
from bot.domain.pull_requests.path_classes import PathClass, PathClasses
from bot.domain.text.strings import one_line, plural

_SWEEP_FILES = 60
# multiple of the usual size from which on the usual size is mentioned
_MUCH = 4

_HOT_TITLE = re.compile(
    r"\bperf|optimi[sz]|speed ?up|\bfaster|throughput|latency|kernel|compil|cuda ?graph|inductor"
    r"|\bfus(e|ed|ing|ion)\b|\basync|overlap|multi-?stream|thread|\bipc\b|\bshm\b|concurren",
    re.I,
)
_CALM_TITLE = re.compile(
    r"^[^\w\[]*(\[[^\]]*\][^\w\[]*)*(fix|bug|hotfix|docs?|tests?|ci|chore|style|minor|misc|nit|clean ?up)\b"
    r"|\bbug ?-?fix|\[bug\]|\bfix(es|ed)?\b|\[ci|ci/build|\bci\b|\btest|\[doc|\bdocs?\b|readme|typo|\[misc"
    r"|\[chore|\[minor|\bnit|unused|dead code|clean",
    re.I,
)
_REMOVAL_TITLE = re.compile(r"\bremov|\bdeprecat|\bdrop|\bdelet", re.I)


@dataclass(frozen=True, slots=True)
class Fired:
    """The result of a rule: the points that it adds or subtracts. Without ``sentence`` it is not shown."""

    rule: str
    points: float
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """The input of the rules: a pull request and its product and build files.

    ``added`` is the number of lines added to these files, without lock files. ``before`` are the previous paths
    of these files, without new files.
    """

    pull: PullRequest
    product: tuple[ChangedFile, ...]
    build: tuple[ChangedFile, ...]
    added: int
    before: tuple[str, ...]


def facts_of(pull: PullRequest, classes: PathClasses) -> Facts:
    """Collect the facts of a pull request; if its files are not loaded, there are none."""
    files = watched(pull, classes)
    product = tuple(file for file in files if classes.classify(file.path) is PathClass.PRODUCT)
    build = tuple(file for file in files if classes.classify(file.path) is not PathClass.PRODUCT)
    before = tuple(file.previous_path or file.path for file in files if file.status != "added")
    return Facts(pull, product, build, added_lines(files, classes), before)


def fired_by(facts: Facts, past: Past | None, classes: PathClasses) -> tuple[Fired, ...]:
    """Evaluate the rules; those that look back are not applied if the history is too short."""
    at = facts.pull.merged_at
    if past is None or at is None or not past.reaches(at):
        hits = [_size(facts, USUAL, None), *_spread(facts), *_title(facts)]
    else:
        size = _size(facts, past.usual(at), past.measured(at))
        hits = [size, *_spread(facts), *_title(facts), *_history(facts, past, at)]
    return (*(rule for rule in hits if rule.points), *_critical(facts, classes))


def is_sweep(pull: PullRequest) -> bool:
    """Return whether it changes many files and adds about as much as it deletes, like formatters and renames."""
    larger, smaller = max(pull.additions, pull.deletions), min(pull.additions, pull.deletions)
    return len(pull.files or ()) >= _SWEEP_FILES and smaller >= 0.8 * larger


def _doublings(value: float, most: float) -> float:
    """Return the binary logarithm of ``1 + min(value, most)``: 1 for 1, 2 for 3, 3 for 7."""
    return math.log2(1 + min(value, most))


def _size(facts: Facts, usual: float, measured: float | None) -> Fired:
    """Rate the added lines; the usual size is mentioned only if it was ``measured`` in the repository."""
    times = facts.added / usual
    compared = f", where {usual:.0f} are usual" if times >= _MUCH and usual == measured else ""
    sentence = f"adds {plural(facts.added, 'line')} of product or build code{compared}"
    return Fired("size", 3 * _doublings(times, 64), sentence if times >= 1 else "")


def _spread(facts: Facts) -> Iterator[Fired]:
    folders = len({PurePosixPath(file.path).parent for file in facts.product})
    if folders > 1:
        yield Fired("folders", 1.5 * math.log2(min(folders, 8)), f"touches {folders} product folders")
    if facts.build:
        yield Fired("build", 4, "changes dependencies or build")


def _critical(facts: Facts, classes: PathClasses) -> Iterator[Fired]:
    """Yield the critical path to mention, without points: it did not distinguish reverted changes from others."""
    path = next((file.path for file in facts.product if classes.is_critical(file.path)), None)
    if path:
        yield Fired("critical", 0, f"changes critical paths (such as {one_line(PurePosixPath(path).name)})")


def _title(facts: Facts) -> Iterator[Fired]:
    title = facts.pull.title
    if _HOT_TITLE.search(title):
        yield Fired("hot title", 3, "performance or concurrency change by its title")
    if _CALM_TITLE.search(title):
        yield Fired("calm title", -2)
    if _REMOVAL_TITLE.search(title):
        yield Fired("removal", -4)


def _history(facts: Facts, past: Past, at: datetime) -> Iterator[Fired]:
    back, fixes = past.taken_back(facts.before, at), past.fixes(facts.before, at)
    days = past.open_for(facts.pull.number, at) / timedelta(days=1)
    yield Fired(
        "reverted files", 2 * _doublings(back, 7), f"{_files(back)} in a reverted change in the last 180 days"
    )
    yield Fired("fixes", _doublings(fixes, 15), f"its files needed {plural(fixes, 'fix', 'fixes')} in 14 days")
    waited = f"was open for at least {plural(int(days), 'day')}" if days >= 1 else ""
    yield Fired("open", 1.5 * _doublings(days, 7), waited)


def _files(count: int) -> str:
    return "one of its files was" if count == 1 else f"{count} of its files were"
