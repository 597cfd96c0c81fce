"""The choice of the pull requests that are reviewed for bugs."""

from __future__ import annotations

from bot.domain.pull_requests.models import PullRequest
from bot.domain.pull_requests.path_classes import PathClass, PathClasses
from bot.domain.risk.assessment import Risk, RiskBand

# the bands of the rules in which a second reading is worth its price
REVIEWED_BANDS = frozenset({RiskBand.MIDDLE, RiskBand.HIGH, RiskBand.HIGHEST})


def should_review(pull: PullRequest, risk: Risk, classes: PathClasses) -> bool:
    """Return whether a merged pull request is reviewed: product code, and at least the middle band.

    A revert is not reviewed, as no list shows it. Of one whose files are unknown there is nothing to read.
    """
    return (
        pull.is_merged
        and risk.may_be_listed
        and risk.band in REVIEWED_BANDS
        and any(classes.classify_path(file.path) is PathClass.PRODUCT for file in pull.files or ())
    )
