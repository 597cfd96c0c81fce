"""A pull request of a digest, and the check of their number: what is below the digest knows these of it."""

from __future__ import annotations

from dataclasses import dataclass

from bot.domain.pull_requests.models import PullRequest
from bot.domain.review.models import BugFinding, BugReview
from bot.domain.risk.assessment import Risk
from bot.domain.summaries.models import SummarisedPullRequest, Summary
from bot.domain.text.strings import format_count

MAX_OVERVIEW_LENGTH = 600


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


@dataclass(frozen=True, slots=True)
class CountCheck:
    """The number of merges by an independent source, None if it is unavailable, and the name of that source.

    ``unread`` records of GitHub's list are malformed and name no pull request or no merge time. ``note`` is a
    clause on why there is no count, if that is known.
    """

    counted: int | None
    source: str
    unread: int = 0
    note: str = ""

    def describe_caveats(self, listed: int) -> str:
        """Return as a clause how the counts differ, or that there is none; empty if they agree."""
        parts = []
        if self.counted is None:
            parts.append(self.note or f"count not checked: {self.source} gave no count")
        elif self.counted != listed:
            counted = format_count(self.counted, "merge")
            parts.append(f"possibly incomplete: {self.source} show {counted}, not {listed:,}")
        if self.unread:
            parts.append(f"{format_count(self.unread, 'merge')} in GitHub's list could not be read")
        return "; ".join(parts)
