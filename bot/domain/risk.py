"""Which merged pull requests deserve a second look: rules that read titles and changed files.

The rules and their points were set by hand on vLLM's merges before 2025-09-25 and measured, with the bands, on
the 2,573 of 2025-10-01 to 2025-12-31: of those with 13 points or more 27 % needed a repair within two weeks and
3 % were reverted, against 7 % and 1.6 % of all. A score orders a list; it is no probability of one change.
Rules that need the history of a repository, and the one on the author's experience, are not among them.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import Enum
from pathlib import PurePosixPath

from bot.domain.paths import DEFAULT_PATHS, PathClass, PathClasses
from bot.domain.pulls import ChangedFile, PullRequest
from bot.domain.reverts import is_revert
from bot.domain.texts import one_line, plural

# names the rules and their points: change it with them
RULES = "rules.v1"
# below it the list repairs no more than chance would
THRESHOLD = 10
HIGHEST_BAND = 13
# share of all merges that needed a repair within two weeks, in percent; the shares of the bands are in Band
BASE_RATE = 7
_SWEEP_FILES = 60
_SWEEP_CAP = 6

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


class Band(Enum):
    """Ranges of points: what they are called, and what percentage of such merges needed a repair in two weeks."""

    NO_PRODUCT = ("lowest", 1)
    LOW = ("low", 4)
    MIDDLE = ("middle", 7)
    RAISED = ("raised", 14)
    HIGH = ("high", 20)
    HIGHEST = ("highest", 27)

    def __init__(self, label: str, repaired: int) -> None:
        self.label = label
        self.repaired = repaired


# from how many points on; below are those that touch nothing of the product or its build, and reverts, not rated
_BANDS = ((HIGHEST_BAND, Band.HIGHEST), (10, Band.HIGH), (7, Band.RAISED), (3, Band.MIDDLE), (-2, Band.LOW))


@dataclass(frozen=True, slots=True)
class Risk:
    """Points and the reasons that may be shown, the weightiest first."""

    points: float
    reasons: tuple[str, ...]

    @property
    def is_listed(self) -> bool:
        return self.points >= THRESHOLD

    @property
    def is_highest(self) -> bool:
        return self.points >= HIGHEST_BAND

    @property
    def band(self) -> Band:
        return next((band for least, band in _BANDS if self.points >= least), Band.NO_PRODUCT)


@dataclass(frozen=True, slots=True)
class _Reason:
    points: int
    sentence: str = ""


def assess(pull: PullRequest, classes: PathClasses = DEFAULT_PATHS) -> Risk:
    """Score a pull request whose files are loaded. One that reverts another is never listed as risky."""
    files = pull.files or ()
    product = [file for file in files if classes.classify(file.path) is PathClass.PRODUCT]
    build = [file for file in files if classes.classify(file.path) in (PathClass.BUILD, PathClass.LOCK)]
    rules = [*_size_rules(product), *_place_rules(product, build, classes), *_title_rules(pull.title)]
    points = float(_capped(sum(rule.points for rule in rules), pull, files))
    if is_revert(pull) or not (product or build):
        points = min(points, 0.0) - 6
    shown = sorted((rule for rule in rules if rule.sentence and rule.points), key=lambda rule: -rule.points)
    # among equal points the larger change comes first
    return Risk(points + 0.0001 * math.log1p(pull.changed_lines), tuple(rule.sentence for rule in shown))


def _capped(points: int, pull: PullRequest, files: tuple[ChangedFile, ...]) -> int:
    """Formatters and mass renames touch many files and add about what they delete; they rarely break."""
    larger, smaller = max(pull.additions, pull.deletions), min(pull.additions, pull.deletions)
    is_sweep = len(files) >= _SWEEP_FILES and smaller >= 0.8 * larger
    return min(points, _SWEEP_CAP) if is_sweep else points


def _step(value: int, *steps: tuple[int, int]) -> int:
    """Points of the highest step that ``value`` reaches; steps are (from, points), ascending."""
    return max((points for least, points in steps if value >= least), default=0)


def _size_rules(product: list[ChangedFile]) -> tuple[_Reason, ...]:
    deleted = sum(file.deletions for file in product)
    rewritten = deleted + sum(file.additions for file in product if file.status != "added")
    added = sum(file.additions for file in product)
    folders = len({PurePosixPath(file.path).parent for file in product})
    return (
        _Reason(
            _step(rewritten, (8, 1), (30, 3), (100, 4), (300, 6)),
            f"rewrites {plural(rewritten, 'line')} of existing product code",
        ),
        _Reason(_step(added, (20, 1), (100, 3), (400, 4)), f"adds {plural(added, 'line')} of product code"),
        _Reason(_step(folders, (2, 1), (4, 2)), f"touches {folders} product folders"),
    )


def _place_rules(
    product: list[ChangedFile], build: list[ChangedFile], classes: PathClasses
) -> tuple[_Reason, ...]:
    critical = [one_line(PurePosixPath(file.path).name) for file in product if classes.is_critical(file.path)]
    named = f" (such as {critical[0]})" if critical else ""
    return (
        _Reason(2 if critical else 0, f"changes critical paths{named}"),
        _Reason(3 if build else 0, "changes dependencies or build"),
    )


def _title_rules(title: str) -> tuple[_Reason, ...]:
    return (
        _Reason(3 if _HOT_TITLE.search(title) else 0, "performance or concurrency change by its title"),
        _Reason(-2 if _CALM_TITLE.search(title) else 0),
    )
