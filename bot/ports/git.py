"""Where the commits of a local clone come from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bot.domain.history.commits import Commit
from bot.domain.pull_requests.models import Repository


@dataclass(frozen=True, slots=True)
class CloneFacts:
    """What a clone is of: the branch that is read, and the repository on GitHub if it was cloned from there."""

    branch: str
    repository: Repository | None
    is_shallow: bool


class Clone(Protocol):
    """A local clone. Every method may raise UsageError and PrdigestError; none writes to the clone."""

    def facts(self) -> CloneFacts:
        """What it is a clone of."""

    def commits(self, since: datetime, progress: Callable[[int, int], None]) -> Iterator[Commit]:
        """The commits on the first-parent line of the branch since an instant (UTC), oldest first."""
