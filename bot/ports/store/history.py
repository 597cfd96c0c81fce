"""Interfaces to the history of merged pull requests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Protocol

from bot.domain.pull_requests.models import PullRequest, Repository


class HistoryStore(Protocol):
    """Records of merged pull requests, durable. Every method may raise StoreUnavailable."""

    def record_merges(self, pulls: Iterable[PullRequest]) -> None:
        """Store merged pull requests without their patches and the ends of long descriptions.

        Each replaces an earlier record of it. One without files is stored only if there is no record of it.
        """

    def read_merges(self, repository: Repository, since: datetime, until: datetime) -> Sequence[PullRequest]:
        """Return the merges from ``since`` up to but not including ``until`` (aware instants), newest first."""
