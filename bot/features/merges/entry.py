"""A pull request of a digest, and the check of their number: what is below the digest knows these of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

from bot.features.merges.outcomes import MergeOutcome
from bot.features.merges.review import BugFinding, BugReview, FindingStatus
from bot.features.merges.risk import Risk
from bot.features.merges.summary import SummarisedPullRequest, Summary
from bot.platform.pulls.models import PullRequest
from impact.history.outcomes import OutcomeKind


class LeadRule(StrEnum):
    """Why a line stands in a lead: each has exactly one rule, in the order of the lead's sections.

    The last one keeps a merge out: nothing reaches it, by its summary.
    """

    TOUCHES_US = "touches_us"
    REVERTED = "reverted"
    REPAIRED = "repaired"
    GONE_FOR_CALLERS = "gone_for_callers"
    CONFIRMED_FINDING = "confirmed_finding"
    LIKELY_FINDING = "likely_finding"
    RISKY = "risky"
    MUST_ACT = "must_act"
    SHOULD_ACT = "should_act"
    MAY_ACT = "may_act"
    NOT_REACHABLE = "not_reachable"

    @property
    def meaning(self) -> str:
        """The reason as a clause for readers."""
        return _LEAD_REASONS[self]


_LEAD_REASONS = {
    LeadRule.TOUCHES_US: "it touches the code of that channel's profile",
    LeadRule.REVERTED: "a later merge reverted it, in full or in part",
    LeadRule.REPAIRED: "a later merge repaired it",
    LeadRule.GONE_FOR_CALLERS: "code proved that it breaks callers",
    LeadRule.CONFIRMED_FINDING: "the AI bug review confirmed a bug in the code",
    LeadRule.LIKELY_FINDING: "the AI bug review calls a bug very likely",
    LeadRule.RISKY: "rules and review put it among the riskiest",
    LeadRule.MUST_ACT: "something stops working for those who do not act",
    LeadRule.SHOULD_ACT: "readers should act on it",
    LeadRule.MAY_ACT: "readers may act on it",
    LeadRule.NOT_REACHABLE: "nothing reaches it yet, so that its action and its possible bugs wait",
}


class LeadLine(NamedTuple):
    """A line of a lead: the pull request that it is about, and the rule that admitted it."""

    number: int
    rule: LeadRule


@dataclass(frozen=True, slots=True)
class Entry:
    """A pull request with its summary and its risk; ``review`` is None if it was not read for bugs.

    ``cost`` is in US dollars for this run, None if a price is unknown.
    """

    pull: PullRequest
    summary: Summary
    risk: Risk
    area: str
    from_cache: bool = False
    cost: float | None = 0.0
    review: BugReview | None = None

    @classmethod
    def from_summarised(cls, read: SummarisedPullRequest, risk: Risk, review: BugReview | None = None) -> Entry:
        return cls(read.pull, read.summary, risk, read.area, read.from_cache, read.cost, review)

    @property
    def number(self) -> int:
        return self.pull.number

    @property
    def findings(self) -> tuple[BugFinding, ...]:
        """What the review found, in rank; nothing without a review."""
        return self.review.ranked_findings if self.review else ()

    def close_findings(self, outcomes: Iterable[MergeOutcome]) -> Entry:
        """Return the entry with each finding closed that one of the outcomes repairs: see the function."""
        return replace(self, review=close_findings(self.number, self.review, outcomes))

    @property
    def strongest_finding(self) -> BugFinding | None:
        return self.review.strongest_finding if self.review else None

    @property
    def is_reachable(self) -> bool:
        """Whether somebody can meet the change: by its summary, or since the review confirmed a bug of it."""
        finding = self.strongest_finding
        is_confirmed = finding is not None and finding.status is FindingStatus.CONFIRMED
        return is_confirmed or self.summary.is_reachable

    @property
    def is_revert(self) -> bool:
        """Whether the pull request says that it reverts another, by its assessment."""
        return not self.risk.may_be_listed


def close_findings(number: int, review: BugReview | None, outcomes: Iterable[MergeOutcome]) -> BugReview | None:
    """Return the review of a merge with each finding closed that one of the outcomes repairs, if they stand.

    A revert of all closes all. A repair closes what rests on a file that it changes, or whose files are not
    known.
    """
    ends = [each for each in outcomes if each.stands and each.pull.number == number]
    ends = [each for each in ends if each.kind is not OutcomeKind.PARTLY]
    if review is None or not ends:
        return review
    return replace(review, findings=tuple(_close_finding(finding, ends) for finding in review.findings))


def _close_finding(finding: BugFinding, ends: Iterable[MergeOutcome]) -> BugFinding:
    for end in ends:
        is_reverted, files = end.kind is OutcomeKind.REVERTED, end.by.files
        paths = None if files is None else {file.path for file in files}
        if is_reverted or paths is None or finding.evidence is None or finding.evidence.path in paths:
            return replace(finding, repaired_by=end.by.number, is_reverted=is_reverted)
    return finding
