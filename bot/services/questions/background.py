"""What questions read around pull requests: discussions, and which merges reverts mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from bot.domain.pull_requests.models import PullRequest, Repository
from bot.ports import PullRequestBackground

# the recorded merges of a repository between two instants; empty where there is no record
HistoryReader = Callable[[Repository, datetime, datetime], tuple[PullRequest, ...]]


def read_no_history(repository: Repository, since: datetime, until: datetime) -> tuple[PullRequest, ...]:
    """Return nothing: there is no record of merges."""
    return ()


@dataclass(frozen=True, slots=True)
class BackgroundSources:
    """Where discussions, the pull requests of commits and recorded merges are read. ``github`` may be missing."""

    github: PullRequestBackground | None = None
    read_history: HistoryReader = read_no_history


NO_BACKGROUND = BackgroundSources()
