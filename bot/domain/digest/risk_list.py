"""What deserves a second look in some days of a repository: first what was taken back, then what may be."""

from __future__ import annotations

from dataclasses import dataclass

from bot.domain.digest.models import Entry
from bot.domain.history.outcomes import TakenBack
from bot.domain.pull_requests.models import PullRequest
from bot.domain.risk.assessment import Risk
from bot.domain.time.date_range import Span


@dataclass(frozen=True, slots=True)
class Assessed:
    """A pull request, without the patches of its files, and what the rules say of it."""

    pull: PullRequest
    risk: Risk


@dataclass(frozen=True, slots=True)
class RiskList:
    """The answer to "what may hurt?". ``older`` take back what was merged before the days.

    ``merged`` pull requests were merged in the days, ``matching`` of them fit the filters; the files of
    ``unread`` could not be read, so that no rule speaks of them. ``doubts`` say what may be missing. It
    ``is_sparing`` as a :class:`bot.domain.digest.models.Digest` is.

    Whoever asked for the ``top`` ones gets as many: those ``below`` the bar follow, riskiest first. ``ranked`` is
    how many there were to choose from.
    """

    name: str
    span: Span
    filters: str
    merged: int
    matching: int
    taken_back: tuple[TakenBack, ...]
    older: tuple[PullRequest, ...]
    riskiest: tuple[Entry, ...]
    below: tuple[Entry, ...] = ()
    top: int | None = None
    ranked: int = 0
    unread: tuple[int, ...] = ()
    doubts: tuple[str, ...] = ()
    is_sparing: bool = False
