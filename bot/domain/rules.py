"""The rules: what each looks at, how many points it gives, and the sentence that says why.

Set by hand on vLLM's merges before 2025-10-01. Nothing looks at who wrote a change: a reason that cannot be
shown shall not order people's work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from bot.domain.past import Past
from bot.domain.paths import PathClass, PathClasses
from bot.domain.pulls import ChangedFile, PullRequest
from bot.domain.texts import one_line, plural

_SWEEP_FILES = 60

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


@dataclass(frozen=True, slots=True)
class Fired:
    """A rule that gave points, or took some; without ``sentence`` it is not shown."""

    rule: str
    points: float
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """What the rules look at: a pull request, and its files that are product or build."""

    pull: PullRequest
    product: tuple[ChangedFile, ...]
    build: tuple[ChangedFile, ...]
    critical: tuple[ChangedFile, ...]


def facts_of(pull: PullRequest, classes: PathClasses) -> Facts:
    """Sort the files of a pull request; one whose files are not loaded has none."""
    files = pull.files or ()
    product = tuple(file for file in files if classes.classify(file.path) is PathClass.PRODUCT)
    build = tuple(file for file in files if classes.classify(file.path) in (PathClass.BUILD, PathClass.LOCK))
    return Facts(pull, product, build, tuple(file for file in product if classes.is_critical(file.path)))


def fired_by(facts: Facts, past: Past | None) -> tuple[Fired, ...]:
    """The rules that have something to say; those that look back are silent without a past."""
    found = [*_size(facts), *_place(facts), *_title(facts)]
    if past is not None and facts.pull.is_merged:
        found += _history(facts, past)
    return tuple(rule for rule in found if rule.points)


def is_sweep(pull: PullRequest) -> bool:
    """Whether it changes many files and adds about what it deletes, as formatters and renames do."""
    larger, smaller = max(pull.additions, pull.deletions), min(pull.additions, pull.deletions)
    return len(pull.files or ()) >= _SWEEP_FILES and smaller >= 0.8 * larger


def _step(value: int, *steps: tuple[int, int]) -> int:
    """Points of the highest step that ``value`` reaches; steps are (from, points), ascending."""
    return max((points for least, points in steps if value >= least), default=0)


def _size(facts: Facts) -> Iterator[Fired]:
    deleted = sum(file.deletions for file in facts.product)
    rewritten = deleted + sum(file.additions for file in facts.product if file.status != "added")
    added = sum(file.additions for file in facts.product)
    folders = len({PurePosixPath(file.path).parent for file in facts.product})
    yield Fired(
        "rewrites",
        _step(rewritten, (8, 1), (30, 3), (100, 4), (300, 6)),
        f"rewrites {plural(rewritten, 'line')} of existing product code",
    )
    yield Fired("adds", _step(added, (20, 1), (100, 3), (400, 4)), f"adds {plural(added, 'line')} of product code")
    yield Fired("folders", _step(folders, (2, 1), (4, 2)), f"touches {folders} product folders")


def _place(facts: Facts) -> Iterator[Fired]:
    if facts.critical:
        named = one_line(PurePosixPath(facts.critical[0].path).name)
        yield Fired("critical", 2, f"changes critical paths (such as {named})")
    if facts.build:
        yield Fired("build", 3, "changes dependencies or build")


def _title(facts: Facts) -> Iterator[Fired]:
    if _HOT_TITLE.search(facts.pull.title):
        yield Fired("hot title", 3, "performance or concurrency change by its title")
    if _CALM_TITLE.search(facts.pull.title):
        yield Fired("calm title", -2)


def _history(facts: Facts, past: Past) -> Iterator[Fired]:
    at = facts.pull.merge_time
    if past.was_tried(facts.pull.title, at):
        yield Fired("tried before", 4, "lands again a change that was reverted")
    if not past.reaches(at):
        return
    paths = [file.path for file in (*facts.product, *facts.build)]
    most = max((past.fixes(path, at) for path in paths), default=0)
    yield Fired("fixes", _step(most, (3, 1), (10, 2)), f"a touched file had {most} fixes in 90 days")
    back = [path for path in paths if past.was_taken_back(path, at)]
    if back:
        yield Fired("reverted files", 2, f"{_files(len(back))} in a reverted change in the last 180 days")


def _files(count: int) -> str:
    return "one of its files was" if count == 1 else f"{count} of its files were"
