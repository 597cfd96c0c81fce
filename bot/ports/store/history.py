"""Interfaces to the history of merged pull requests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Protocol

from bot.domain.history.backfill import BackfillRecord
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.domain.time.day import LocalDay


class HistoryStore(Protocol):
    """Records of merged pull requests, durable. Every method may raise StoreUnavailable."""

    def record_merges(self, pulls: Iterable[PullRequest]) -> None:
        """Store merged pull requests without their patches and the ends of long descriptions.

        Each replaces an earlier record of it. One without files is stored only if there is no record of it.
        """

    def read_merges(self, repository: Repository, since: datetime, until: datetime) -> Sequence[PullRequest]:
        """Return the merges from ``since`` up to but not including ``until`` (aware instants), newest first."""


class BackfillLog(Protocol):
    """Log of the past days that were filled. Durable. Every method may raise StoreUnavailable."""

    def get(self, repository: Repository, day: LocalDay) -> BackfillRecord | None:
        """Return the record of a day, None if it was not filled."""

    def put(self, repository: Repository, day: LocalDay, fill: BackfillRecord) -> None:
        """Store the record of a day. One without summaries replaces no other."""
