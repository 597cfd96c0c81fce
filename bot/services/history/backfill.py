"""Backfill of history and caches for past days, with the same results as a digest of each day would have left."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from bot.domain.errors import GitHubUnavailable, PrdigestError, PullRequestNotFound, UsageError
from bot.domain.history.backfill import BackfillOutcome, BackfillRecord
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.domain.summaries.fallback import describe_fallback
from bot.domain.summaries.models import SummarisedPullRequest
from bot.domain.time.date_range import Span
from bot.domain.time.day import LocalDay, get_yesterday
from bot.ports import BackfillLog, HistoryStore, PullRequests
from bot.services.history.throttle import Throttle, WaitListener
from bot.services.operations.worker_threads import DeadlineExecutor, iterate_results

# pull requests between two checks of GitHub's limits; few enough to keep the reserve
_BATCH_SIZE = 50
# after so many in a row, the key is refused or the service is away, and a thousand more calls would fail too
_MAX_FAILURES = 5


class BackfillAborted(PrdigestError):
    """Error for a backfill that can't go on. The sentence says why, and what to do."""


@dataclass(frozen=True, slots=True)
class SummaryService:
    """Writer of summaries: ``summarise`` asks ``model`` for one and caches it.

    A summary of unknown cost counts as ``max_cost`` US dollars.
    """

    summarise: Callable[[PullRequest], SummarisedPullRequest]
    model: str
    max_cost: float

    def compute_cost(self, read: SummarisedPullRequest) -> float:
        """Return the US dollars that a summary cost now."""
        if read.from_cache:
            return 0.0
        return self.max_cost if read.cost is None else read.cost


@dataclass(slots=True)
class CostLimit:
    """Limit of the US dollars for summaries, and those spent so far. Calls in progress may exceed it."""

    maximum: float
    spent: float = 0.0


@dataclass(frozen=True, slots=True)
class _ReadResult:
    """A pull request without its patches, also without files if GitHub does not know it any more."""

    pull: PullRequest
    is_summarised: bool = True


class Backfill:
    """Backfill of days. ``summaries`` is None if there is no model.

    ``workers`` pull requests are read at a time.
    """

    def __init__(
        self,
        pulls: PullRequests,
        summaries: SummaryService | None,
        history: HistoryStore,
        backfilled: BackfillLog,
        pace: Throttle,
        now: Callable[[], datetime],
        workers: int,
    ) -> None:
        self._pulls = pulls
        self._summaries = summaries
        self._history = history
        self._backfilled = backfilled
        self._pace = pace
        self._now = now
        self._workers = workers

    def fill_days(
        self, repository: Repository, span: Span, limit: CostLimit | None, say: WaitListener
    ) -> Iterator[BackfillOutcome]:
        """Yield the outcome of each day, newest first. A day is filled when it is requested, unless that was done.

        Without ``limit`` no model is asked. ``say`` is called with the reason for a pause, and with an empty text
        after it.

        Raises:
            UsageError: a day is not over.
            BackfillAborted: while iterating, the limit is reached or the model is away.
            PrdigestError: while iterating, an error that other days would have as well: RepositoryNotFound,
                GitHubRefused, RateLimited after five pauses, StoreUnavailable.
        """
        over = get_yesterday(self._now(), span.zone).date
        if span.last > over:
            raise UsageError(f"{span.last} is not over in {span.zone}: choose days up to {over}.")
        reading = _PullRequestReader(self._pulls, self._summaries if limit else None, limit or CostLimit(0.0))
        return (self._fill_once(repository, day, reading, say) for day in reversed(span.days))

    def _fill_once(
        self, repository: Repository, day: LocalDay, reading: _PullRequestReader, say: WaitListener
    ) -> BackfillOutcome:
        """Fill a day unless it is filled already. Return the outcome, also for a day without a list."""
        earlier_fill = self._backfilled.get(repository, day)
        if earlier_fill and earlier_fill.is_complete_for(reading.model, self._now()):
            return BackfillOutcome(day, was_filled=True)
        try:
            return self._fill_day(repository, day, reading, say)
        except (GitHubUnavailable, PullRequestNotFound) as error:
            return BackfillOutcome(day, failure_reason=str(error).rstrip("."))

    def _fill_day(
        self, repository: Repository, day: LocalDay, reading: _PullRequestReader, say: WaitListener
    ) -> BackfillOutcome:
        """Fill a day in batches and return the outcome. Record it as filled only if nothing is missing."""
        merged = self._pace.run_with_retries(partial(self._pulls.list_merged, repository, day), say)
        read: list[_ReadResult] = []
        for first in range(0, len(merged.pulls), _BATCH_SIZE):
            some = merged.pulls[first : first + _BATCH_SIZE]
            read += self._pace.run_with_retries(partial(self._read_batch, reading, some), say)
        self._history.record_merges(one.pull for one in read)
        unread = _format_numbers("not readable", (one.pull for one in read if one.pull.files is None))
        unsummarised = _format_numbers("without a summary", (one.pull for one in read if not one.is_summarised))
        if not merged.caveat and not unread:
            self._backfilled.put(
                repository, day, BackfillRecord(self._now(), "" if unsummarised else reading.model)
            )
        missing = "; ".join(part for part in (merged.caveat, unread, unsummarised) if part)
        return BackfillOutcome(day, len(read), failure_reason=missing)

    def _read_batch(self, reading: _PullRequestReader, pulls: Iterable[PullRequest]) -> list[_ReadResult]:
        """Read pull requests in parallel and return the results in their order. Raise the first error."""
        with DeadlineExecutor(self._workers, "backfill") as crew:
            futures = [crew.submit(reading.read_pull_request, pull) for pull in pulls]
            # the first failure ends the batch, whatever its position: further calls would be refused as well
            for _ in iterate_results(futures):
                pass
            return [future.result() for future in futures]


class _PullRequestReader:
    """Reader of pull requests for one run, in several threads, with the money and failures of that run."""

    def __init__(self, pulls: PullRequests, summaries: SummaryService | None, limit: CostLimit) -> None:
        self._pulls = pulls
        self._summaries = summaries
        self._limit = limit
        self._failures: list[str] = []
        self._lock = threading.Lock()

    @property
    def model(self) -> str:
        """The name of the model, empty if none is asked."""
        return self._summaries.model if self._summaries else ""

    def read_pull_request(self, pull: PullRequest) -> _ReadResult:
        """Load the files of a pull request and have it summarised."""
        try:
            loaded = self._pulls.load_files(pull)
        except PullRequestNotFound:
            return _ReadResult(pull)
        is_summarised = self._summaries is None or self._ensure_summary(self._summaries, loaded)
        # the patches of a large day need not stay in memory until its end
        return _ReadResult(loaded.remove_patches(), is_summarised)

    def _ensure_summary(self, summaries: SummaryService, pull: PullRequest) -> bool:
        """Return whether there is a summary by the model, from this run or an earlier one."""
        self._check_limits()
        read = summaries.summarise(pull)
        # a pull request that can't be read is not a failure of the model
        failure = "" if read.summary.is_unread else describe_fallback(read.summary.fallback)
        with self._lock:
            self._limit.spent += summaries.compute_cost(read)
            self._failures = [*self._failures, failure] if failure else []
        return not read.summary.is_fallback

    def _check_limits(self) -> None:
        """Raise BackfillAborted if the money is spent, or the model failed five times in a row."""
        if not self._limit.spent < self._limit.maximum:
            raise BackfillAborted(
                f"The limit of ${self._limit.maximum:.2f} is reached: run the command again to continue, "
                "or with --facts."
            )
        if len(self._failures) >= _MAX_FAILURES:
            raise BackfillAborted(
                f"The model gave no summary {len(self._failures)} times in a row ({self._failures[-1]}): "
                "run the command again later, or with --facts."
            )


def _format_numbers(what: str, pulls: Iterable[PullRequest]) -> str:
    """Return a clause with the numbers of pull requests; empty if there are none."""
    numbers = ", ".join(f"#{pull.number}" for pull in pulls)
    return f"{what}: {numbers}" if numbers else ""
