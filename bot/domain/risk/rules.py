"""The risk rules: what each examines, how many points it gives, and the sentence with its reason.

The points were set by hand on vLLM's merges of March to September 2025, and measured on those of October to
December (docs/decisions/0008-risk.md). No rule considers the author: a reason that can't be shown must not order
people's work.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import PurePosixPath

from bot.domain.history.file_history import (
    DEFAULT_CHANGE_SIZE,
    FileHistory,
    count_added_lines,
    select_watched_files,
)
from bot.domain.pull_requests.models import ChangedFile, PullRequest
from bot.domain.pull_requests.path_classes import PathClass, PathClasses
from bot.domain.text.strings import collapse_lines, format_count

_MIN_SWEEP_FILES = 60
# multiple of the usual size from which on the usual size is mentioned
_NOTABLE_SIZE_FACTOR = 4

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
class RuleHit:
    """The result of a rule: the points that it adds or subtracts. Without ``sentence`` it is not shown.

    ``short`` says the same in a few words, for lists.
    """

    rule: str
    points: float
    sentence: str = ""
    short: str = ""


@dataclass(frozen=True, slots=True)
class RuleFacts:
    """The input of the rules: a pull request and its product and build files.

    ``added_lines`` is the number of lines added to these files, without lock files. ``previous_paths`` are the
    paths of these files before the change, without new files.
    """

    pull: PullRequest
    product: tuple[ChangedFile, ...]
    build: tuple[ChangedFile, ...]
    added_lines: int
    previous_paths: tuple[str, ...]


def collect_facts(pull: PullRequest, classes: PathClasses) -> RuleFacts:
    """Collect the facts of a pull request; if its files are not loaded, there are none."""
    files = select_watched_files(pull, classes)
    product = tuple(file for file in files if classes.classify_path(file.path) is PathClass.PRODUCT)
    build = tuple(file for file in files if classes.classify_path(file.path) is not PathClass.PRODUCT)
    before = tuple(file.previous_path or file.path for file in files if file.status != "added")
    return RuleFacts(pull, product, build, count_added_lines(files, classes), before)


def evaluate_rules(facts: RuleFacts, past: FileHistory | None, classes: PathClasses) -> tuple[RuleHit, ...]:
    """Evaluate the rules; those that look back are not applied if the history is too short."""
    at = facts.pull.merged_at
    if past is None or at is None or not past.is_long_enough(at):
        hits = [_rate_size(facts, DEFAULT_CHANGE_SIZE, None), *_rate_spread(facts), *_rate_title(facts)]
    else:
        size = _rate_size(facts, past.get_usual_size(at), past.measure_usual_size(at))
        hits = [size, *_rate_spread(facts), *_rate_title(facts), *_rate_history(facts, past, at)]
    return (*(rule for rule in hits if rule.points), *_rate_critical_paths(facts, classes))


def is_sweep(pull: PullRequest) -> bool:
    """Return whether it changes many files and adds about as much as it deletes, like formatters and renames."""
    larger, smaller = max(pull.additions, pull.deletions), min(pull.additions, pull.deletions)
    return len(pull.files or ()) >= _MIN_SWEEP_FILES and smaller >= 0.8 * larger


def _count_doublings(value: float, most: float) -> float:
    """Return the binary logarithm of ``1 + min(value, most)``: 1 for 1, 2 for 3, 3 for 7."""
    return math.log2(1 + min(value, most))


def _rate_size(facts: RuleFacts, usual: float, measured: float | None) -> RuleHit:
    """Rate the added lines; the usual size is mentioned only if it was ``measured`` in the repository."""
    times = facts.added_lines / usual
    compared = f", where {usual:.0f} are usual" if times >= _NOTABLE_SIZE_FACTOR and usual == measured else ""
    sentence = f"adds {format_count(facts.added_lines, 'line')} of product or build code{compared}"
    return RuleHit(
        "size",
        3 * _count_doublings(times, 64),
        sentence if times >= 1 else "",
        f"adds {format_count(facts.added_lines, 'line')}",
    )


def _rate_spread(facts: RuleFacts) -> Iterator[RuleHit]:
    folders = len({PurePosixPath(file.path).parent for file in facts.product})
    if folders > 1:
        yield RuleHit("folders", 1.5 * math.log2(min(folders, 8)), f"touches {folders} product folders")
    if facts.build:
        yield RuleHit("build", 4, "changes dependencies or build")


def _rate_critical_paths(facts: RuleFacts, classes: PathClasses) -> Iterator[RuleHit]:
    """Yield the critical path to mention, without points: it did not distinguish reverted changes from others."""
    path = next((file.path for file in facts.product if classes.is_critical(file.path)), None)
    if path:
        name = collapse_lines(PurePosixPath(path).name)
        yield RuleHit("critical", 0, f"changes critical paths (such as {name})", "changes critical code")


def _rate_title(facts: RuleFacts) -> Iterator[RuleHit]:
    title = facts.pull.title
    if _HOT_TITLE.search(title):
        yield RuleHit("hot title", 3, "title mentions performance or concurrency", "performance or concurrency")
    if _CALM_TITLE.search(title):
        yield RuleHit("calm title", -2)
    if _REMOVAL_TITLE.search(title):
        yield RuleHit("removal", -4)


def _rate_history(facts: RuleFacts, past: FileHistory, at: datetime) -> Iterator[RuleHit]:
    back, fixes = past.count_reverted(facts.previous_paths, at), past.count_fixes(facts.previous_paths, at)
    days = past.get_open_time(facts.pull.number, at) / timedelta(days=1)
    yield RuleHit(
        "reverted files",
        2 * _count_doublings(back, 7),
        f"{_format_files(back)} in a reverted change in the last 180 days",
        f"{format_count(back, 'file')} in a recent revert",
    )
    needed = format_count(fixes, "fix", "fixes")
    yield RuleHit(
        "fixes", _count_doublings(fixes, 15), f"its files needed {needed} in 14 days", f"{needed} in 14 days"
    )
    waited = f"open for at least {format_count(int(days), 'day')}"
    yield RuleHit("open", 1.5 * _count_doublings(days, 7), f"was {waited}" if days >= 1 else "", waited)


def _format_files(count: int) -> str:
    return "one of its files was" if count == 1 else f"{count} of its files were"
