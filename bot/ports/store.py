"""What is kept, counted and handed on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import Protocol, TypeVar

from bot.domain.conversations.thread import Question
from bot.domain.history.backfill import BackfillRecord
from bot.domain.operations.budget import BudgetHold
from bot.domain.operations.lost_job import LostJob
from bot.domain.operations.run import Run
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.domain.subscriptions.due_items import DueItem
from bot.domain.subscriptions.models import Subscription
from bot.domain.time.day import LocalDay
from bot.ports.record_codec import Record


class Cache(Protocol):
    """What may be lost and computed again. Every method may raise StoreUnavailable."""

    def get(self, key: str) -> str | None:
        """The value, or None."""

    def put(self, key: str, value: str, lifetime: timedelta) -> None:
        """Keep a value for a time."""

    def add(self, key: str, value: str, lifetime: timedelta) -> bool:
        """Keep a value where there is none; whether there was none."""

    def acquire_lease(self, name: str) -> AbstractContextManager[None]:
        """Waits until nobody else, in any process, holds the lease of that name, and holds it."""


class ThreadStateStore(Protocol):
    """What is known of threads, kept for good. Every method may raise StoreUnavailable."""

    def get(self, key: str) -> str | None:
        """The text, or None."""

    def put(self, key: str, text: str) -> None:
        """Keep a text, in place of the one of that key."""


class LostJobStore(Protocol):
    """Jobs that were set aside. May raise StoreUnavailable."""

    def add(self, job: LostJob) -> None:
        """Keep one for a week; of many, the oldest are forgotten."""

    def list_recent(self, now: datetime) -> Sequence[LostJob]:
        """Those of the last week before ``now`` (aware), newest first."""


class RateLimiter(Protocol):
    """How often somebody may ask. May raise StoreUnavailable."""

    def try_acquire(self, name: str) -> bool:
        """Count a request of that name; whether it is still within the limit."""


R = TypeVar("R", bound=Record)


class RecordStore(Protocol[R]):
    """Records of one kind by their keys; durable. May raise StoreUnavailable, InProgress."""

    def load(self, key: str) -> R:
        """Return the record, or one in which nothing is recorded yet."""

    def load_each(self, keys: Sequence[str]) -> Sequence[R]:
        """Return the record of each key, in their order, at once."""

    def save(self, key: str, before: R, after: R) -> R:
        """Write what differs between a record as it was loaded and as it shall be, all or none; return the latter.

        What is the same is not written: another process may have changed it meanwhile.
        """

    def claim(self, key: str, before: R, after: R) -> R:
        """Write what differs if nobody has written it yet; return the later record.

        A right that :meth:`exclusive` gave may be lost while the store is away; this shows it before it does harm.

        Raises:
            InProgress: somebody has.
        """

    def hold_lock(self, key: str) -> AbstractContextManager[None]:
        """Hold the right to go on with this record, or raise InProgress if another process keeps it."""


class QuestionQueue(Protocol):
    """Questions that wait for their turn in a thread, by the time at which they were asked. Durable.

    Every method may raise StoreUnavailable.
    """

    def add_question(self, place: str, question: Question) -> None:
        """Wait; somebody who waits already does not wait twice."""

    def get_first(self, place: str) -> Question | None:
        """Whose turn it is."""

    def remove_question(self, place: str, question: Question) -> None:
        """This one has its answer."""

    def try_lock(self, place: str) -> AbstractContextManager[bool]:
        """Whether nobody else, in any process, serves this line while the block runs."""


class FeedbackStore(Protocol):
    """Votes, kept for good. May raise StoreUnavailable."""

    def put(self, name: str, vote: str) -> None:
        """Keep a vote, in place of the one of that name."""

    def list_votes(self) -> Iterator[str]:
        """Every vote."""


class SpendingStore(Protocol):
    """US dollars by name, such as of a person on a day. May raise StoreUnavailable."""

    def get_spending(self, name: str) -> float:
        """All that was settled in the last two days."""

    def reserve_budget(self, hold: BudgetHold, caps: Sequence[tuple[str, float]]) -> int | None:
        """Reserve dollars while all that was spent or is reserved stays below each cap, at once.

        ``caps`` are names and dollars. Returns the place of the first cap that is reached, and nothing is reserved
        then. What nobody settles is free again in some minutes.
        """

    def settle_hold(self, hold: BudgetHold, dollars: float) -> None:
        """Add dollars to the names of what was reserved, in its place."""


class SubscriptionStore(Protocol):
    """Subscriptions by their ids, kept until they are removed. Every method may raise StoreUnavailable."""

    def list_all(self) -> Sequence[Subscription]:
        """Every one, in no order."""

    def get(self, name: str) -> Subscription | None:
        """The one of that id."""

    def get_many(self, names: Sequence[str]) -> Mapping[str, Subscription]:
        """By their ids the ones of these that there are and that can be read, at once."""

    def put(self, subscription: Subscription) -> None:
        """Keep it, in place of the one of its id."""

    def remove(self, name: str) -> None:
        """Forget it."""


class DueQueue(Protocol):
    """What is to be done next, and when. Durable.

    Every method may raise StoreUnavailable.
    """

    def list_due(self, now: datetime) -> Sequence[tuple[DueItem, datetime]]:
        """Return all that was to be done by now, the oldest first."""

    def get_time(self, item: DueItem) -> datetime | None:
        """Return when an item is to be done."""

    def get_times(self, items: Sequence[DueItem]) -> Sequence[datetime | None]:
        """Return when each is to be done, in their order, at once."""

    def put(self, item: DueItem, instant: datetime) -> None:
        """Plan an item for an instant, whatever was planned before."""

    def add(self, item: DueItem, instant: datetime) -> None:
        """Plan an item for an instant, unless it is planned already."""

    def move(self, item: DueItem, before: datetime, after: datetime) -> bool:
        """Plan an item for ``after`` if it is still planned for ``before``; return whether it was."""

    def move_all(self, moves: Sequence[tuple[DueItem, datetime, datetime]]) -> None:
        """Do the same for many, at once."""

    def drop(self, item: DueItem) -> None:
        """Plan an item no more."""


class RunLog(Protocol):
    """What was done lately. May raise StoreUnavailable."""

    def add_run(self, run: Run) -> None:
        """Add a run; the oldest are forgotten."""

    def list_recent(self, count: int) -> Sequence[Run]:
        """The last ones, newest first."""


class HistoryStore(Protocol):
    """What is known of merged pull requests, for those who look back. Durable. May raise StoreUnavailable."""

    def record_merges(self, pulls: Iterable[PullRequest]) -> None:
        """Keep merged pull requests less their patches and the ends of long descriptions.

        Each takes the place of what was recorded of it; one without files is kept only where nothing was.
        """

    def read_merges(self, repository: Repository, since: datetime, until: datetime) -> Sequence[PullRequest]:
        """What was merged from ``since`` up to but not including ``until`` (aware instants), newest first."""


class PostedDigestIndex(Protocol):
    """Which digests were posted. Durable. Every method may raise StoreUnavailable."""

    def add(self, repository: Repository, end: datetime, key: str) -> None:
        """Note the digest of that key, whose last day ended at an instant (aware)."""

    def list_between(self, repository: Repository, since: datetime, until: datetime) -> Sequence[str]:
        """The keys of the digests whose last day ended from ``since`` to ``until`` (aware), oldest first."""


class BackfillLog(Protocol):
    """Which past days were filled. Durable. May raise StoreUnavailable."""

    def get(self, repository: Repository, day: LocalDay) -> BackfillRecord | None:
        """What was done for the day."""

    def put(self, repository: Repository, day: LocalDay, fill: BackfillRecord) -> None:
        """Note what was done; a fill without summaries replaces none."""


class WorkspaceOwner(Protocol):
    """Whose a store is. Both may raise StoreUnavailable."""

    def read_workspace(self) -> str | None:
        """The id of the workspace; None where no bot has used the store yet."""

    def claim_workspace(self, workspace: str) -> str:
        """Write a workspace down where none is; whose the store is now."""
