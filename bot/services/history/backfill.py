"""Fills history and caches for past days: who looks back finds what a digest of each would have left."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from bot.domain.digest.models import Entry
from bot.domain.errors import GitHubUnavailable, PrdigestError, PullRequestNotFound, UsageError
from bot.domain.history.backfill import Fill, Outcome
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.domain.time.date_range import Span
from bot.domain.time.day import LocalDay, yesterday
from bot.ports import Backfilled, History, PullRequests
from bot.services.history.throttle import Pace, Say
from bot.services.operations.worker_threads import Crew, results_as_done

# between two looks at GitHub's limits; few enough to keep the reserve
_AT_A_TIME = 50
# then the key is refused or the service is away, and asking for a thousand more would only repeat it
_MOST_FAILURES = 5


class BackfillEnded(PrdigestError):
    """There is no use in going on; the sentence says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Summaries:
    """How pull requests are summarised: ``read`` asks ``model`` and keeps what it says.

    A summary whose price is not known counts as ``dearest`` US dollars.
    """

    read: Callable[[PullRequest], Entry]
    model: str
    dearest: float

    def cost(self, entry: Entry) -> float:
        """US dollars that it took now."""
        if entry.from_cache:
            return 0.0
        return self.dearest if entry.cost is None else entry.cost


@dataclass(slots=True)
class CostLimit:
    """US dollars that summaries may cost, and those that they did cost so far; calls under way may exceed it."""

    most: float
    spent: float = 0.0


@dataclass(frozen=True, slots=True)
class _Read:
    """A pull request less its patches, and without files where GitHub does not know it any more."""

    pull: PullRequest
    is_summarised: bool = True


class Backfill:
    """Fills days. ``summaries`` is None where no model is set up; ``workers`` pull requests are read at a time."""

    def __init__(
        self,
        pulls: PullRequests,
        summaries: Summaries | None,
        history: History,
        backfilled: Backfilled,
        pace: Pace,
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

    def fill(self, repository: Repository, span: Span, limit: CostLimit | None, say: Say) -> Iterator[Outcome]:
        """Fill each day as it is asked for, newest first, unless that was done.

        Without ``limit`` no model is asked. ``say`` hears why it waits, and an empty text when it goes on.

        Raises:
            UsageError: a day is not over.
            BackfillEnded: while iterating, the limit is reached or the model is away.
            PrdigestError: while iterating, what asking for other days would not help: RepositoryNotFound,
                GitHubRefused, RateLimited after five pauses, StoreUnavailable.
        """
        over = yesterday(self._now(), span.zone).date
        if span.last > over:
            raise UsageError(f"{span.last} is not over in {span.zone}: fill days up to {over}.")
        reading = _Reading(self._pulls, self._summaries if limit else None, limit or CostLimit(0.0))
        return (self._outcome(repository, day, reading, say) for day in reversed(span.days))

    def _outcome(self, repository: Repository, day: LocalDay, reading: _Reading, say: Say) -> Outcome:
        known = self._backfilled.get(repository, day)
        if known and known.covers(reading.model, self._now()):
            return Outcome(day, already=True)
        try:
            return self._filled(repository, day, reading, say)
        except (GitHubUnavailable, PullRequestNotFound) as error:
            return Outcome(day, missing=str(error).rstrip("."))

    def _filled(self, repository: Repository, day: LocalDay, reading: _Reading, say: Say) -> Outcome:
        merged = self._pace.patiently(partial(self._pulls.merged_on, repository, day), say)
        read: list[_Read] = []
        for first in range(0, len(merged.pulls), _AT_A_TIME):
            some = merged.pulls[first : first + _AT_A_TIME]
            read += self._pace.patiently(partial(self._together, reading, some), say)
        self._history.record(one.pull for one in read)
        unread = _named("not readable", (one.pull for one in read if one.pull.files is None))
        unsummarised = _named("without a summary", (one.pull for one in read if not one.is_summarised))
        if not merged.doubt and not unread:
            self._backfilled.put(repository, day, Fill(self._now(), "" if unsummarised else reading.model))
        missing = "; ".join(part for part in (merged.doubt, unread, unsummarised) if part)
        return Outcome(day, len(read), missing=missing)

    def _together(self, reading: _Reading, pulls: Iterable[PullRequest]) -> list[_Read]:
        with Crew(self._workers, "backfill") as crew:
            futures = [crew.submit(reading.read, pull) for pull in pulls]
            # the first to fail ends it, wherever it stands: a refusal is not to be asked for again
            for _ in results_as_done(futures):
                pass
            return [future.result() for future in futures]


class _Reading:
    """How one run reads pull requests, in several threads, and what that took."""

    def __init__(self, pulls: PullRequests, summaries: Summaries | None, limit: CostLimit) -> None:
        self._pulls = pulls
        self._summaries = summaries
        self._limit = limit
        self._failures: list[str] = []
        self._lock = threading.Lock()

    @property
    def model(self) -> str:
        """Empty where none is asked."""
        return self._summaries.model if self._summaries else ""

    def read(self, pull: PullRequest) -> _Read:
        try:
            loaded = self._pulls.with_files(pull)
        except PullRequestNotFound:
            return _Read(pull)
        is_summarised = self._summaries is None or self._summarise(self._summaries, loaded)
        # a large day's patches need not stay in memory until its end
        return _Read(loaded.without_patches(), is_summarised)

    def _summarise(self, summaries: Summaries, pull: PullRequest) -> bool:
        """Whether the model gave a summary, now or before."""
        self._check_whether_to_ask()
        entry = summaries.read(pull)
        # what could not be read says nothing of the model
        failure = "" if entry.summary.is_unread else entry.summary.fallback
        with self._lock:
            self._limit.spent += summaries.cost(entry)
            self._failures = [*self._failures, failure] if failure else []
        return not entry.summary.is_fallback

    def _check_whether_to_ask(self) -> None:
        """Raises BackfillEnded where the model is not to be asked any more."""
        if not self._limit.spent < self._limit.most:
            raise BackfillEnded(
                f"The limit of ${self._limit.most:.2f} is reached: run it again to go on, or with --facts alone."
            )
        if len(self._failures) >= _MOST_FAILURES:
            raise BackfillEnded(
                f"The model gave no summary {len(self._failures)} times in a row ({self._failures[-1]}): "
                "run it again later, or with --facts alone."
            )


def _named(what: str, pulls: Iterable[PullRequest]) -> str:
    numbers = ", ".join(f"#{pull.number}" for pull in pulls)
    return f"{what}: {numbers}" if numbers else ""
