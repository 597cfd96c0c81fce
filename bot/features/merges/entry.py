"""A pull request of a digest, and the check of their number: what is below the digest knows these of it."""

from __future__ import annotations

from dataclasses import dataclass

from bot.features.merges.review import BugFinding, BugReview
from bot.features.merges.risk import Risk
from bot.features.merges.summary import SummarisedPullRequest, Summary
from bot.platform.pulls.models import PullRequest


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
    def strongest_finding(self) -> BugFinding | None:
        return self.review.strongest_finding if self.review else None

    @property
    def is_revert(self) -> bool:
        """Whether the pull request says that it reverts another, by its assessment."""
        return not self.risk.may_be_listed
