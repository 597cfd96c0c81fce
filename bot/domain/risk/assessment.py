"""Risk assessment of merged pull requests: points, their bands, and the reasons that are shown.

The bands were measured with these rules on vLLM's merges of 2025-10-01 to 2025-12-31. Points order a list; they
are not the probability that a single change fails.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from bot.domain.history.file_history import FileHistory
from bot.domain.history.relands import Attempt
from bot.domain.pull_requests.models import PullRequest
from bot.domain.pull_requests.path_classes import DEFAULT_PATH_CLASSES, PathClasses
from bot.domain.risk.rules import RuleFacts, RuleHit, collect_facts, evaluate_rules, is_sweep
from impact.history.revert_claims import is_revert

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
        """The band of the points."""
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
    facts = collect_facts(pull, classes)
    fired = evaluate_rules(facts, past, classes)
    shown = sorted((rule for rule in fired if rule.sentence), key=lambda rule: -rule.points)
    return Risk(
        compute_points(facts, fired),
        tuple(rule.sentence for rule in shown),
        fired,
        without_history=not (past and pull.merged_at and past.is_long_enough(pull.merged_at)),
        may_be_listed=not (is_revert(pull) if reverts_another is None else reverts_another),
        tries=past.list_attempts(pull.number) if past else (),
    )


def compute_points(facts: RuleFacts, fired: Iterable[RuleHit]) -> float:
    """Return the total points of rules: limited for sweeps, negative without product and build files."""
    points = float(sum(rule.points for rule in fired))
    if is_sweep(facts.pull):
        points = min(points, _SWEEP_CAP)
    if not (facts.product or facts.build):
        points = min(points, 0.0) - _NON_PRODUCT_PENALTY
    # of changes with equal points the larger one comes first
    return points + 0.0001 * math.log1p(facts.pull.changed_lines)
