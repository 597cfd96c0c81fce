"""Risk assessment of merged pull requests: points of rules, their bands, and the reasons that are shown.

The points were set by hand on vLLM's merges of March to September 2025, and measured on those of October to
December (docs/decisions/0008-risk.md), as the bands were. Points order a list; they are not the probability that a
single change fails. No rule considers the author: a reason that can't be shown must not order people's work.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from operator import itemgetter
from pathlib import PurePosixPath
from statistics import median

from bot.features.merges.outcomes import Attempt, MergeOutcome, Reland
from bot.platform.pulls.models import ChangedFile, PullRequest
from bot.platform.pulls.paths import DEFAULT_PATH_CLASSES, PathClass, PathClasses
from bot.text import format_count
from impact.history.outcomes import OutcomeKind
from impact.history.reverts import is_revert
from impact.text.strings import collapse_lines

# --- what a file has been through

# Every query considers only merges strictly before its instant: a rule that looks back sees what was known when a
# pull request was merged, in production as well as in a measurement of past years.

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


# --- the rating

# the version of the rules and their points: change it with them
RULES_VERSION = "rules.v2"
# below this threshold a list contains no more repaired merges than chance would give
RISK_THRESHOLD = 12
HIGHEST_BAND_THRESHOLD = 16
# percentage of all merges that needed a repair within two weeks; the percentages of the bands are in RiskBand
BASE_RATE = 7
# formatters and mass renames touch many files and add about as much as they delete; they rarely break anything
_SWEEP_CAP = 8.0
# changes outside of the product and its build rank after all others
_NON_PRODUCT_PENALTY = 6.01
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


class RiskBand(Enum):
    """A range of points: its label, and the percentage of such merges that needed a repair within two weeks."""

    NO_PRODUCT = ("lowest", 1)
    LOW = ("low", 3)
    MIDDLE = ("middle", 6)
    HIGH = ("high", 12)
    HIGHEST = ("highest", 20)

    def __init__(self, label: str, repaired: int) -> None:
        self.label = label
        self.repaired = repaired


# minimal points; changes of the product or its build have -6 or more, all others have less
_BANDS = (
    (HIGHEST_BAND_THRESHOLD, RiskBand.HIGHEST),
    (RISK_THRESHOLD, RiskBand.HIGH),
    (4, RiskBand.MIDDLE),
    (-6, RiskBand.LOW),
)


# what the points of a rule mean, and its name where it has no sentence; measured in docs/decisions/0008-risk.md
RULE_MEANINGS = {
    "size": ("usual size or less", "larger changes need more fixes"),
    "folders": ("", "a change of several folders needs more fixes"),
    "build": ("", "a build that works here may fail elsewhere"),
    "critical": ("", "no points: such paths were reverted no more often"),
    "hot title": ("", "such code is harder to test"),
    "calm title": ("a fix, test or clean-up by its title", "those need fewer fixes"),
    "removal": ("a removal by its title", "those need fewer fixes; what they break is told apart"),
    "reverted files": ("", "what was reverted once is reverted more often"),
    "fixes": ("", "files that needed fixes need more"),
    "open": ("", "what takes long to merge needs more fixes"),
}


@dataclass(frozen=True, slots=True)
class RuleHit:
    """The points that a rule adds or subtracts. Without ``sentence`` it is not shown; lists show ``short``."""

    rule: str
    points: float
    sentence: str = ""
    short: str = ""


@dataclass(frozen=True, slots=True)
class Risk:
    """Points and the reasons that may be shown, in descending order of their weight.

    ``fired`` are the rules that added or subtracted points. With ``without_history`` the rules that look back
    were not applied. ``may_be_listed`` is False for a revert, which is shown as such. ``tries`` are the earlier
    attempts of a reland.
    """

    points: float
    reasons: tuple[str, ...]
    fired: tuple[RuleHit, ...] = ()
    without_history: bool = False
    may_be_listed: bool = True
    tries: tuple[Attempt, ...] = ()

    @property
    def short_reasons(self) -> tuple[str, ...]:
        """The reasons in a few words each, in the same order; a reason without a short form is itself."""
        short = {hit.sentence: hit.short for hit in self.fired if hit.short}
        return tuple(short.get(reason, reason) for reason in self.reasons)

    @property
    def is_listed(self) -> bool:
        """Whether the rules alone put it on a list of risky pull requests; a review may move it."""
        return self.may_be_listed and self.points >= RISK_THRESHOLD

    @property
    def band(self) -> RiskBand:
        return next((band for least, band in _BANDS if self.points >= least), RiskBand.NO_PRODUCT)


def assess_pull_request(
    pull: PullRequest,
    classes: PathClasses = DEFAULT_PATH_CLASSES,
    past: FileHistory | None = None,
    *,
    reverts_another: bool | None = None,
) -> Risk:
    """Assess a pull request whose files are loaded.

    Only merges before its own are considered of ``past``; an open pull request is assessed without it. A revert
    has the points of the change that it undoes, but is never listed: it is shown as a revert.

    ``reverts_another`` is whether its texts say that it is a revert. With None they are searched for that.
    """
    facts, at = collect_facts(pull, classes), pull.merged_at
    without_history = past is None or at is None or not past.is_long_enough(at)
    if past is None or at is None or without_history:
        hits = [_rate_size(facts, DEFAULT_CHANGE_SIZE, None), *_rate_spread(facts), *_rate_title(facts)]
    else:
        size = _rate_size(facts, past.get_usual_size(at), past.measure_usual_size(at))
        hits = [size, *_rate_spread(facts), *_rate_title(facts), *_rate_history(facts, past, at)]
    fired = (*(rule for rule in hits if rule.points), *_rate_critical_paths(facts, classes))
    shown = sorted((rule for rule in fired if rule.sentence), key=lambda rule: -rule.points)
    return Risk(
        compute_points(facts, fired),
        tuple(rule.sentence for rule in shown),
        fired,
        without_history=without_history,
        may_be_listed=not (is_revert(pull) if reverts_another is None else reverts_another),
        tries=past.list_attempts(pull.number) if past else (),
    )


def compute_points(facts: RuleFacts, fired: Iterable[RuleHit]) -> float:
    """Return the total points of rules: limited for sweeps, negative without product and build files."""
    points, pull = float(sum(rule.points for rule in fired)), facts.pull
    larger, smaller = max(pull.additions, pull.deletions), min(pull.additions, pull.deletions)
    if len(pull.files or ()) >= _MIN_SWEEP_FILES and smaller >= 0.8 * larger:
        points = min(points, _SWEEP_CAP)
    if not (facts.product or facts.build):
        points = min(points, 0.0) - _NON_PRODUCT_PENALTY
    # of changes with equal points the larger one comes first
    return points + 0.0001 * math.log1p(pull.changed_lines)


# --- the rules


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
    files = select_watched_files(pull, classes)
    product = tuple(file for file in files if classes.classify_path(file.path) is PathClass.PRODUCT)
    build = tuple(file for file in files if classes.classify_path(file.path) is not PathClass.PRODUCT)
    before = tuple(file.previous_path or file.path for file in files if file.status != "added")
    return RuleFacts(pull, product, build, count_added_lines(files, classes), before)


def _count_doublings(value: float, most: float) -> float:
    """Return the binary logarithm of ``1 + min(value, most)``: 1 for 1, 2 for 3, 3 for 7."""
    return math.log2(1 + min(value, most))


def _rate_size(facts: RuleFacts, usual: float, measured: float | None) -> RuleHit:
    """Rate the added lines; the usual size is mentioned only if it was ``measured`` in the repository."""
    times = facts.added_lines / usual
    compared = f", where {usual:.0f} are usual" if times >= _NOTABLE_SIZE_FACTOR and usual == measured else ""
    adds = f"adds {format_count(facts.added_lines, 'line')}"
    sentence = f"{adds} of product or build code{compared}" if times >= 1 else ""
    return RuleHit("size", 3 * _count_doublings(times, 64), sentence, adds)


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
    files = "one of its files was" if back == 1 else f"{back} of its files were"
    yield RuleHit(
        "reverted files",
        2 * _count_doublings(back, 7),
        f"{files} in a reverted change in the last 180 days",
        f"{format_count(back, 'file')} in a recent revert",
    )
    needed = format_count(fixes, "fix", "fixes")
    yield RuleHit(
        "fixes", _count_doublings(fixes, 15), f"its files needed {needed} in 14 days", f"{needed} in 14 days"
    )
    waited = f"open for at least {format_count(int(days), 'day')}"
    yield RuleHit("open", 1.5 * _count_doublings(days, 7), f"was {waited}" if days >= 1 else "", waited)
