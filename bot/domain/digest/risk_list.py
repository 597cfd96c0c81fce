"""The risky pull requests of some days of a repository: first the reverted ones, then the candidates."""

from __future__ import annotations

from dataclasses import dataclass

from bot.domain.digest.models import Entry
from bot.domain.history.pull_outcomes import MergeOutcome
from bot.domain.pull_requests.models import PullRequest
from bot.domain.review.models import BugReview
from bot.domain.risk.assessment import Risk
from bot.domain.time.date_range import Span
from impact.touches.models import TouchReport


@dataclass(frozen=True, slots=True)
class AssessedPullRequest:
    """A pull request, without the patches of its files, with its assessed risk and its review if there is one."""

    pull: PullRequest
    risk: Risk
    review: BugReview | None = None


@dataclass(frozen=True, slots=True)
class RiskList:
    """The answer to "what may hurt?" for some days.

    ``taken_back`` are the outcomes that stand, ``older`` are reverts of earlier merges.
    ``merged`` pull requests were merged in the days, and ``matching`` of them match the filters. The files of
    ``unread`` could not be read, so that no rule applies to them. ``caveats`` tell what may be missing.
    ``is_reduced`` is the same as in :class:`bot.domain.digest.models.Digest`.

    ``touches`` says what the merges mean for a profile, None without one; then only those ``touching`` it match.

    A request for the ``top`` ones gets that number: those ``below`` the threshold follow, riskiest first.
    ``ranked`` is the number of candidates.
    """

    name: str
    span: Span
    filters: str
    merged: int
    matching: int
    taken_back: tuple[MergeOutcome, ...]
    older: tuple[PullRequest, ...]
    riskiest: tuple[Entry, ...]
    below: tuple[Entry, ...] = ()
    top: int | None = None
    ranked: int = 0
    unread: tuple[int, ...] = ()
    caveats: tuple[str, ...] = ()
    is_reduced: bool = False
    touches: TouchReport | None = None
    touching: tuple[PullRequest, ...] = ()
