"""Reviews of merged pull requests for bugs, by a larger model with the source at hand."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from bot.domain.summaries.models import Evidence


class FindingStatus(StrEnum):
    """How far a suspicion was checked. One that was refuted is no finding."""

    CONFIRMED = "confirmed"
    POSSIBLE = "possible"


class Certainty(StrEnum):
    """How sure the model says that it is."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class FindingAdvice(StrEnum):
    """What those who depend on the repository should do about a finding."""

    ADAPT = "adapt"
    WATCH = "watch"
    IGNORE = "ignore"


@dataclass(frozen=True, slots=True)
class BugFinding:
    """A suspected bug.

    ``consequence`` is what goes wrong, ``trigger`` the input or set-up that makes it fail, and ``affected`` who
    notices it. ``evidence`` is a quote that code found in the merged files; one that is confirmed always has it.
    """

    consequence: str
    trigger: str
    affected: str
    status: FindingStatus
    certainty: Certainty
    advice: FindingAdvice
    evidence: Evidence | None = None

    @property
    def is_confirmed(self) -> bool:
        """Whether it is confirmed, and readers should do something about it."""
        return self.status is FindingStatus.CONFIRMED and self.advice is not FindingAdvice.IGNORE


class ReviewVerdict(StrEnum):
    """The outcome of a review: its strongest finding."""

    CONFIRMED = "confirmed"
    POSSIBLE = "possible"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class BugReview:
    """What a review found, the most important first. ``refuted`` is the number of suspicions that it dropped."""

    findings: tuple[BugFinding, ...] = ()
    refuted: int = 0

    @property
    def verdict(self) -> ReviewVerdict:
        """What the findings say about the pull request as a whole."""
        finding = self.strongest_finding
        if finding is None:
            return ReviewVerdict.NOTHING
        return ReviewVerdict.CONFIRMED if finding.is_confirmed else ReviewVerdict.POSSIBLE

    @property
    def strongest_finding(self) -> BugFinding | None:
        """The finding that decides the verdict: the first confirmed one, else the first that is not to ignore."""
        first = min(self.findings, key=_get_sort_key, default=None)
        return first if first and first.advice is not FindingAdvice.IGNORE else None

    @property
    def ranked_findings(self) -> tuple[BugFinding, ...]:
        """The findings: confirmed ones first, those to ignore last, otherwise in their order."""
        return tuple(sorted(self.findings, key=_get_sort_key))


def _get_sort_key(finding: BugFinding) -> tuple[bool, bool]:
    return finding.advice is FindingAdvice.IGNORE, not finding.is_confirmed


@dataclass(frozen=True, slots=True)
class ReviewCoverage:
    """How many pull requests of a day were reviewed of those that should be.

    ``stop`` is the reason, as a clause, why the others were not; empty if all were. ``cost`` is in US dollars for
    this run, None if a price is unknown.
    """

    eligible: int = 0
    reviewed: int = 0
    stop: str = ""
    cost: float | None = 0.0


NO_REVIEWS = ReviewCoverage()
