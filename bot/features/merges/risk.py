"""Risk assessment of merged pull requests: points of rules, their bands, and the reasons that are shown.

The points were set by hand on vLLM's merges of March to September 2025, and measured on those of October to
December (docs/decisions/0008-risk.md), as the bands were. Points order a list; they are not the probability that a
single change fails. No rule considers the author: a reason that can't be shown must not order people's work.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from pathlib import PurePosixPath

from bot.features.merges.file_history import (
    DEFAULT_CHANGE_SIZE,
    FileHistory,
    count_added_lines,
    select_watched_files,
)
from bot.features.merges.outcomes import Attempt
from bot.platform.pulls.models import ChangedFile, PullRequest
from bot.platform.pulls.paths import DEFAULT_PATH_CLASSES, PathClass, PathClasses
from bot.text import format_count
from impact.history.reverts import is_revert
from impact.text.strings import collapse_lines

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
