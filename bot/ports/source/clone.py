"""Interface to the commits of a local clone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bot.domain.history.commits import Commit
from bot.domain.pull_requests.models import Repository


@dataclass(frozen=True, slots=True)
class CloneFacts:
    """Facts about a clone: the branch that is read, and the repository on GitHub if it was cloned from there."""

    branch: str
    repository: Repository | None
    is_shallow: bool


class Clone(Protocol):
    """A local clone, which no method changes. Every method may raise UsageError and PrdigestError."""

    def read_facts(self) -> CloneFacts:
        """Return which branch is read, and of which repository this is a clone."""

    def iterate_commits(self, since: datetime, progress: Callable[[int, int], None]) -> Iterator[Commit]:
        """Yield the commits on the branch's first-parent line since an instant (UTC), oldest first."""
