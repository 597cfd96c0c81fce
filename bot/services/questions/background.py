"""What questions read around pull requests: discussions, and which merges reverts mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from bot.domain.pull_requests.models import PullRequest, Repository
from bot.ports import PullRequestBackground
from bot.services.digest.touched_day import TouchReader, skip_touches
from impact.profile.models import Profile

# the recorded merges of a repository between two instants; empty where there is no record
HistoryReader = Callable[[Repository, datetime, datetime], tuple[PullRequest, ...]]
ProfileLookup = Callable[[str], Profile | None]


def read_no_history(repository: Repository, since: datetime, until: datetime) -> tuple[PullRequest, ...]:
    """Return nothing: there is no record of merges."""
    return ()


def find_no_profile(name: str) -> Profile | None:
    """Return None: there are no profiles."""
    return None


@dataclass(frozen=True, slots=True)
class BackgroundSources:
    """Where discussions, the pull requests of commits and recorded merges are read. ``github`` may be missing.

    ``get_profile`` returns the profile of a name if there is one; ``read_touches`` says what merges mean for it.
    """

    github: PullRequestBackground | None = None
    read_history: HistoryReader = read_no_history
    get_profile: ProfileLookup = find_no_profile
    read_touches: TouchReader = skip_touches


NO_BACKGROUND = BackgroundSources()
