"""Interfaces to the store: caches, records, queues and counters."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import Protocol, TypeVar

from bot.domain.conversations.thread import Question
from bot.domain.history.backfill import BackfillRecord
from bot.domain.operations.budget import BudgetHold
from bot.domain.operations.ledger import LedgerEntry
from bot.domain.operations.lost_job import LostJob
from bot.domain.operations.run import Run
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.domain.subscriptions.due_items import DueItem
from bot.domain.subscriptions.models import Subscription
from bot.domain.time.day import LocalDay
from bot.ports.record_codec import Record


class Cache(Protocol):
    """A cache: values that may be lost and computed again. Every method may raise StoreUnavailable."""

    def get(self, key: str) -> str | None:
        """Return the value of a key, None if there is none."""

    def put(self, key: str, value: str, lifetime: timedelta) -> None:
        """Store a value for a time."""

    def add(self, key: str, value: str, lifetime: timedelta) -> bool:
        """Store a value for a time unless the key has one; return whether it was stored."""

    def acquire_lease(self, name: str) -> AbstractContextManager[None]:
        """Wait until nobody else, in any process, holds the lease of that name, then hold it during the block."""


class ThreadStateStore(Protocol):
    """States of threads, kept without expiry. Every method may raise StoreUnavailable."""

    def get(self, key: str) -> str | None:
        """Return the state of a key, None if there is none."""

    def put(self, key: str, text: str) -> None:
        """Store a state in place of an earlier one."""


class LostJobStore(Protocol):
    """Jobs that were given up. Every method may raise StoreUnavailable."""

    def add(self, job: LostJob) -> None:
        """Keep a job for a week. Of many jobs, the oldest are dropped."""

    def list_recent(self, now: datetime) -> Sequence[LostJob]:
        """List the jobs of the last week before ``now`` (aware), newest first."""


class RateLimiter(Protocol):
    """A limit on how often a person may ask. Every method may raise StoreUnavailable."""

    def try_acquire(self, name: str) -> bool:
        """Count a request of that name, and return whether it is within the limit."""


R = TypeVar("R", bound=Record)


class RecordStore(Protocol[R]):
    """Records of one kind by key, durable. Every method may raise StoreUnavailable."""

    def load(self, key: str) -> R:
        """Return the record of a key, an empty record if there is none."""

    def load_each(self, keys: Sequence[str]) -> Sequence[R]:
        """Return the record of each key, in their order, in one call."""

    def save(self, key: str, before: R, after: R) -> R:
        """Write the fields that differ between two states of a record, all or none; return ``after``.

        Equal fields are not written, because another process may have changed them meanwhile.
        """

    def claim(self, key: str, before: R, after: R) -> R:
        """Write the fields that differ if nobody has written them yet; return ``after``.

        The lock of :meth:`hold_lock` may be lost while the store is away. This shows the loss before it does harm.

        Raises:
            PostingInProgress: another process has written them.
        """

    def hold_lock(self, key: str) -> AbstractContextManager[None]:
        """Hold the lock of a record during the block. Raises PostingInProgress if another process keeps it."""


class QuestionQueue(Protocol):
    """Questions that wait for their turn in a thread (``place``), by the time at which they were asked. Durable.

    Every method may raise StoreUnavailable.
    """

    def add_question(self, place: str, question: Question) -> None:
        """Add a question. One that waits already is not added twice."""

    def get_first(self, place: str) -> Question | None:
        """Return the question whose turn it is, None if none waits."""

    def remove_question(self, place: str, question: Question) -> None:
        """Remove a question that is answered."""

    def try_lock(self, place: str, seconds: float = 0.0) -> AbstractContextManager[bool]:
        """Lock the queue of a thread during the block, and yield whether that succeeded within ``seconds``.

        The lock counts in all processes. That of a process that died expires (``LEASE``).
        """


class FeedbackStore(Protocol):
    """Votes, kept without expiry. Every method may raise StoreUnavailable."""

    def put(self, name: str, vote: str) -> None:
        """Store a vote in place of an earlier one of that name."""

    def list_votes(self) -> Iterator[str]:
        """Yield all votes."""


class SpendingStore(Protocol):
    """US dollars by name, such as those of a person on a day. Every method may raise StoreUnavailable."""

    def get_spending(self, name: str) -> float:
        """Return all that was settled in the last two days, in dollars."""

    def reserve_budget(self, hold: BudgetHold, caps: Sequence[tuple[str, float]]) -> int | None:
        """Reserve dollars if the settled and reserved sums are below all caps, in one step.

        ``caps`` are names with dollars. Return None, or the index of the first cap that is reached; then nothing
        is reserved. A reservation that is not settled expires after some minutes.
        """

    def settle_hold(self, hold: BudgetHold, dollars: float, entry: LedgerEntry | None = None) -> None:
        """Replace a reservation by the dollars that were really spent, and add to the ledger, in one step.

        Settling a reservation again changes nothing.
        """


class CostLedger(Protocol):
    """The ledger of costs by local date, kept for 13 months. Every method may raise StoreUnavailable."""

    def read_days(self, dates: Sequence[dt.date]) -> Sequence[Mapping[str, int]]:
        """Return the amounts of each date by name, in their order, in one call; none for a date without any."""


class SubscriptionStore(Protocol):
    """Subscriptions by id, kept until they are removed. Every method may raise StoreUnavailable."""

    def list_all(self) -> Sequence[Subscription]:
        """List all subscriptions, in no particular order."""

    def list_for_channel(self, channel: str) -> Sequence[Subscription]:
        """List the subscriptions of a channel, in no particular order."""

    def get(self, name: str) -> Subscription | None:
        """Return the subscription of an id, None if there is none."""

    def get_many(self, names: Sequence[str]) -> Mapping[str, Subscription]:
        """Return the subscriptions of these ids by id, in one call. Missing and unreadable ones are left out."""

    def put(self, subscription: Subscription) -> None:
        """Store a subscription in place of an earlier one of its id."""

    def remove(self, name: str) -> None:
        """Remove the subscription of an id."""


class DueQueue(Protocol):
    """Planned items by the time at which they are due. Durable.

    Every method may raise StoreUnavailable.
    """

    def list_due(self, now: datetime) -> Sequence[tuple[DueItem, datetime]]:
        """List the items that are due by ``now`` with their times, oldest first."""

    def get_time(self, item: DueItem) -> datetime | None:
        """Return when an item is due, None if it is not planned."""

    def get_times(self, items: Sequence[DueItem]) -> Sequence[datetime | None]:
        """Return when each item is due, in their order, in one call."""

    def put(self, item: DueItem, instant: datetime) -> None:
        """Plan an item for an instant in place of an earlier one."""

    def add(self, item: DueItem, instant: datetime) -> None:
        """Plan an item for an instant unless it is planned already."""

    def move(self, item: DueItem, before: datetime, after: datetime) -> bool:
        """Plan an item for ``after`` if it is still planned for ``before``; return whether it was."""

    def move_all(self, moves: Sequence[tuple[DueItem, datetime, datetime]]) -> None:
        """Move many items in one call."""

    def drop(self, item: DueItem) -> None:
        """Remove an item from the queue."""


class RunLog(Protocol):
    """The last runs. Every method may raise StoreUnavailable."""

    def add_run(self, run: Run) -> None:
        """Add a run. The oldest runs are dropped."""

    def list_recent(self, count: int) -> Sequence[Run]:
        """List the last ``count`` runs, newest first."""


class HistoryStore(Protocol):
    """Records of merged pull requests, durable. Every method may raise StoreUnavailable."""

    def record_merges(self, pulls: Iterable[PullRequest]) -> None:
        """Store merged pull requests without their patches and the ends of long descriptions.

        Each replaces an earlier record of it. One without files is stored only if there is no record of it.
        """

    def read_merges(self, repository: Repository, since: datetime, until: datetime) -> Sequence[PullRequest]:
        """Return the merges from ``since`` up to but not including ``until`` (aware instants), newest first."""


class PostedDigestIndex(Protocol):
    """Index of posted digests. Durable. Every method may raise StoreUnavailable."""

    def add(self, repository: Repository, end: datetime, key: str) -> None:
        """Add the digest of that key, whose last day ended at an instant (aware)."""

    def list_between(self, repository: Repository, since: datetime, until: datetime) -> Sequence[str]:
        """List the keys of the digests whose last day ended from ``since`` to ``until`` (aware), oldest first."""


class BackfillLog(Protocol):
    """Log of the past days that were filled. Durable. Every method may raise StoreUnavailable."""

    def get(self, repository: Repository, day: LocalDay) -> BackfillRecord | None:
        """Return the record of a day, None if it was not filled."""

    def put(self, repository: Repository, day: LocalDay, fill: BackfillRecord) -> None:
        """Store the record of a day. One without summaries replaces no other."""


class WorkspaceOwner(Protocol):
    """The workspace that owns a store. Both methods may raise StoreUnavailable."""

    def read_workspace(self) -> str | None:
        """Return the id of the workspace, None if no bot has used the store yet."""

    def claim_workspace(self, workspace: str) -> str:
        """Make a workspace the owner if there is none, and return the owner."""
