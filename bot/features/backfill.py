"""History and caches of past days, as a digest of each day would have left them.

Nobody waits for it, and the running bot uses the same token: a tenth of GitHub's calls is left to it, limits are
waited out, and few pull requests are read at a time.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TypeVar

from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential

from bot.app import App
from bot.dates import LocalDay, Span, get_yesterday
from bot.errors import GitHubUnavailable, PrdigestError, PullRequestNotFound, RateLimited, UsageError
from bot.features.merges.summary import describe_fallback
from bot.features.summaries.service import SUMMARY_DAYS
from bot.platform.pulls.models import PullRequest
from bot.platform.store.tables import Map
from bot.platform.worker_threads import DeadlineExecutor, iterate_results
from bot.text import format_count
from bot.usage import Usage
from impact.repository import Repository

log = logging.getLogger(__name__)

T = TypeVar("T")

_MAX_PARALLEL_READS = 2
# pull requests between two checks of GitHub's limits; few enough to keep the reserve
_BATCH_SIZE = 50
# after so many in a row, the key is refused or the service is away, and a thousand more calls would fail too
_MAX_FAILURES = 5
_MAX_ATTEMPTS = 5
# days that are recorded before a day is read: a summary names the merges of 48 hours before, and those around a
# date (UTC) are kept for all that were merged on it
_NEAR_DAYS = 3
# if the refusal names no time, GitHub asks for at least a minute, and for longer each time
# (docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api)
_LIMIT_WAIT = wait_exponential(multiplier=60)
_FAILURE_WAIT = wait_exponential(multiplier=5, max=60)


class BackfillAborted(PrdigestError):
    """Error for a backfill that can't go on. The sentence says why, and what to do."""


@dataclass(slots=True)
class CostLimit:
    """Limit of the US dollars for summaries, and those spent so far. Calls in progress may exceed it."""

    maximum: float
    spent: float = 0.0


@dataclass(frozen=True, slots=True)
class FilledDay:
    """When (UTC) a day was filled, and by which ``model`` its summaries were written, empty if there are none."""

    at: datetime
    model: str = ""

    def is_complete_for(self, model: str, now: datetime) -> bool:
        """Return whether no summary by ``model`` has to be written; history is permanent, summaries expire."""
        return not model or (model == self.model and now - self.at < timedelta(days=SUMMARY_DAYS))


FILLED_DAYS = Map(
    "backfilled:{repository}:{zone}", FilledDay, "which local dates were filled", survives_reset=True
)


@dataclass(frozen=True, slots=True)
class BackfillOutcome:
    """The outcome for one day; ``failure_reason`` is a clause on why it is not filled, empty if it is."""

    day: LocalDay
    pulls: int = 0
    was_filled: bool = False
    failure_reason: str = ""

    @property
    def is_filled(self) -> bool:
        return not self.failure_reason

    def __str__(self) -> str:
        if self.was_filled:
            return f"{self.day.date}: already loaded"
        return f"{self.day.date}: {self.failure_reason or format_count(self.pulls, 'pull request')}"


@dataclass(frozen=True, slots=True)
class _RecordedDay:
    """The merges of a day, recorded with their files but without patches. One that is gone has no files."""

    pulls: tuple[PullRequest, ...]
    caveat: str


@dataclass(slots=True)
class _Run:
    """One backfill in several threads. Without ``limit`` no model is asked; ``say`` hears why it pauses.

    ``recorded`` are the days that are recorded and not read yet, or the error that GitHub gave.
    """

    app: App
    limit: CostLimit | None
    say: Callable[[str], None]
    recorded: dict[LocalDay, _RecordedDay | PrdigestError] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def model(self) -> str:
        return self.app.settings.prdigest_summary_model if self.limit else ""


def fill_days(
    app: App, repository: Repository, span: Span, limit: CostLimit | None, say: Callable[[str], None]
) -> Iterator[BackfillOutcome]:
    """Yield the outcome of each day, newest first. A day is filled when it is requested, unless that was done.

    Without ``limit`` no model is asked. ``say`` gets the reason for a pause, and an empty text after it.
    Raises UsageError for a day that is not over; while iterating, BackfillAborted if the limit is reached or
    the model is away, and a PrdigestError that other days would have as well, such as RateLimited after five
    attempts.
    """
    over = get_yesterday(app.now(), span.zone).date
    if span.last > over:
        raise UsageError(f"{span.last} is not over in {span.zone}: choose days up to {over}.")
    run, days = _Run(app, limit if app.sources.model else None, say), span.days[::-1]
    return (_fill_once(run, repository, days[at : at + 1 + _NEAR_DAYS]) for at in range(len(days)))


def _fill_once(run: _Run, repository: Repository, days: Sequence[LocalDay]) -> BackfillOutcome:
    """Fill the first of some days; those before it are only recorded, so that its summaries know of them."""
    day = days[0]
    # GitHub ignores the case of names, and people type them in any
    key = (str(repository).lower(), day.zone)
    earlier = run.app.tables.get_field(FILLED_DAYS, str(day.date), *key)
    if earlier and earlier.is_complete_for(run.model, run.app.now()):
        return BackfillOutcome(day, was_filled=True)
    for near in days if run.limit else days[:1]:
        if near not in run.recorded:
            run.recorded[near] = _record_day(run, repository, near)
    try:
        count, missing, filled = _read_day(run, run.recorded.pop(day))
    except (GitHubUnavailable, PullRequestNotFound) as error:
        return BackfillOutcome(day, failure_reason=str(error).rstrip("."))
    if filled:
        # one without summaries replaces no other, so that no run undoes the work of another
        if filled.model:
            run.app.tables.put_field(FILLED_DAYS, str(day.date), filled, *key)
        else:
            run.app.tables.add_fields(FILLED_DAYS, {str(day.date): filled}, *key)
    return BackfillOutcome(day, count, failure_reason=missing)


def _record_day(run: _Run, repository: Repository, day: LocalDay) -> _RecordedDay | PrdigestError:
    """Record the merges of a day, or return why GitHub gave none: that is the failure of this day alone."""
    pulls: list[PullRequest] = []
    try:
        merged = _run_with_retries(run, lambda: run.app.pulls.list_merged(repository, day))
        for some in _split_batches(merged.pulls):
            pulls += _run_with_retries(run, lambda some=some: _run_batch(run, _load_files, some))  # type: ignore[misc]
    except (GitHubUnavailable, PullRequestNotFound) as error:
        return error
    run.app.merge_history.record_merges(pulls)
    return _RecordedDay(tuple(pulls), merged.caveat)


def _read_day(run: _Run, day: _RecordedDay | PrdigestError) -> tuple[int, str, FilledDay | None]:
    """Return the number of merges, what is missing, and how it is filled. Raises the error of the day."""
    if isinstance(day, PrdigestError):
        raise day
    unsummarised: list[PullRequest] = []
    for some in _split_batches(day.pulls) if run.limit else ():
        done = _run_with_retries(run, lambda some=some: _run_batch(run, _ensure_summary, some))  # type: ignore[misc]
        unsummarised += [pull for pull, is_summarised in zip(some, done, strict=True) if not is_summarised]
    unread = _format_numbers("not readable", (pull for pull in day.pulls if pull.files is None))
    missing = "; ".join(filter(None, (day.caveat, unread, _format_numbers("without a summary", unsummarised))))
    filled = FilledDay(run.app.now(), "" if unsummarised else run.model)
    return len(day.pulls), missing, None if day.caveat or unread else filled


def _split_batches(pulls: Sequence[PullRequest]) -> Iterator[Sequence[PullRequest]]:
    return (pulls[first : first + _BATCH_SIZE] for first in range(0, len(pulls), _BATCH_SIZE))


def _run_batch(run: _Run, work: Callable[[_Run, PullRequest], T], pulls: Sequence[PullRequest]) -> list[T]:
    workers = min(run.app.settings.prdigest_concurrency, _MAX_PARALLEL_READS)
    with DeadlineExecutor(workers, "backfill") as crew:
        futures = [crew.submit(work, run, pull) for pull in pulls]
        # the first failure ends the batch, whatever its position: further calls would be refused as well
        for _ in iterate_results(futures):
            pass
        return [future.result() for future in futures]


def _load_files(run: _Run, pull: PullRequest) -> PullRequest:
    """Return a pull request with its files. One that is gone has none."""
    try:
        # the patches of a large day need not stay in memory until it is read: the cache of files has them
        return run.app.pulls.load_files(pull).remove_patches()
    except PullRequestNotFound:
        return pull


def _ensure_summary(run: _Run, pull: PullRequest) -> bool:
    limit = run.limit
    if limit is None or pull.files is None:
        return True
    if not limit.spent < limit.maximum:
        raise BackfillAborted(
            f"The limit of ${limit.maximum:.2f} is reached: run the command again to continue, or with --facts."
        )
    if len(run.failures) >= _MAX_FAILURES:
        raise BackfillAborted(
            f"The model gave no summary {len(run.failures)} times in a row ({run.failures[-1]}): "
            "run the command again later, or with --facts."
        )
    # from the cache; what GitHub refuses here is tried again
    read = run.app.refresh_summary(run.app.pulls.load_files(replace(pull, files=None)))
    # a pull request that can't be read is not a failure of the model
    failure = "" if read.summary.is_unread else describe_fallback(read.summary.fallback)
    settings = run.app.settings
    # of a call whose cost is not known: a diff and an answer in full
    longest = Usage(input=settings.prdigest_diff_tokens, output=6_000)
    worst = run.app.provider.prices.cautious_cost(settings.prdigest_summary_model, longest)
    with run.lock:
        if not read.from_cache:
            limit.spent += worst if read.cost is None else read.cost
        run.failures = [*run.failures, failure] if failure else []
    return not read.summary.is_fallback


def _format_numbers(what: str, pulls: Iterable[PullRequest]) -> str:
    numbers = ", ".join(f"#{pull.number}" for pull in pulls)
    return f"{what}: {numbers}" if numbers else ""


# --- calls without haste. It sleeps in the calling thread alone, so that Ctrl-C ends a pause at once


def _run_with_retries(run: _Run, work: Callable[[], T]) -> T:
    """Run ``work`` as soon as GitHub's limits allow it. Raises the error of the fifth attempt."""

    def start_work() -> T:
        short = [allowance for allowance in run.app.sources.list_allowances() if allowance.is_short]
        if short:
            last = max(short, key=lambda allowance: allowance.resets_at)
            seconds = max((last.resets_at - run.app.now()).total_seconds(), 0.0) + 1  # GitHub tells whole seconds
            reserved = f"{last.remaining:,} of {last.limit:,} GitHub calls are reserved for others"
            _announce_pause(run, reserved, seconds)
            _sleep(run, seconds)
        return work()

    def announce(state: RetryCallState) -> None:
        is_limited = isinstance(_get_error(state), RateLimited)
        why = "GitHub limits the rate" if is_limited else "GitHub does not answer"
        _announce_pause(run, why, state.upcoming_sleep)

    return Retrying(
        retry=retry_if_exception_type((RateLimited, GitHubUnavailable)),
        stop=stop_after_attempt(_MAX_ATTEMPTS),
        wait=_compute_wait,
        before_sleep=announce,
        sleep=lambda seconds: _sleep(run, seconds),
        reraise=True,
    )(start_work)


def _announce_pause(run: _Run, why: str, seconds: float) -> None:
    until = run.app.now() + timedelta(seconds=seconds)
    sentence = f"{why}: waiting until {until:%H:%M:%S} UTC"
    log.info("%s", sentence)
    run.say(sentence)


def _sleep(run: _Run, seconds: float) -> None:
    run.app.sleep(seconds)
    run.say("")


def _compute_wait(state: RetryCallState) -> float:
    error = _get_error(state)
    if not isinstance(error, RateLimited):
        return float(_FAILURE_WAIT(state))
    return float(_LIMIT_WAIT(state)) if error.retry_after is None else error.retry_after


def _get_error(state: RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome else None


# --- what a terminal shows


def format_backfill(
    repository: Repository, span: Span, outcomes: Sequence[BackfillOutcome], limit: CostLimit | None
) -> str:
    before = sum(outcome.was_filled for outcome in outcomes)
    failed = [outcome for outcome in outcomes if not outcome.is_filled]
    filled, missed = len(outcomes) - before - len(failed), len(span) - len(outcomes)
    counts = [(before, "loaded before"), (len(failed), "not loaded"), (missed, "not reached")]
    totals = ", ".join([f"{filled:,} filled", *(f"{count:,} {state}" for count, state in counts if count)])
    lines = [
        f"{repository}, {span} in {span.zone}: {format_count(len(span), 'day')}: {totals}",
        f"read: {format_total(outcomes, limit)}",
        *(f"not loaded: {outcome}" for outcome in failed),
    ]
    return "\n".join(lines)


def format_total(outcomes: Iterable[BackfillOutcome], limit: CostLimit | None) -> str:
    pulls = format_count(sum(outcome.pulls for outcome in outcomes), "pull request")
    return pulls + (f", ${limit.spent:.2f}" if limit else "")
