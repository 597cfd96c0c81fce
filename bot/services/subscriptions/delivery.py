"""Delivery of digests to channels, and the record of each result for the schedule, reports and operators."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from bot.domain.errors import (
    ConfigurationError,
    DayUnavailable,
    GitHubAccessDenied,
    PostingInProgress,
    PrdigestError,
    RepositoryNotFound,
    SlackCallRefused,
    StoreUnavailable,
    get_retry_delay,
)
from bot.domain.operations.incident import Incident, IncidentKind
from bot.domain.operations.run import Run, RunOutcome
from bot.domain.subscriptions.due_items import DigestRepair, NextDigest
from bot.domain.subscriptions.models import DigestSpec, Subscription
from bot.features.digest.view import RenderedDigest, describe_skipped_days
from bot.platform.costs import OPERATOR, Budget, Expense, WorkKind, bill_to, get_account, tally_costs
from bot.platform.store.spending import to_microdollars
from bot.ports import DueQueue, RunLog
from bot.render.subscriptions import sentences
from bot.services.subscriptions.incidents import IncidentReporter
from bot.services.subscriptions.repository import SubscriptionRepository
from bot.services.subscriptions.retry_policy import FIRST_REPAIR_DELAY, MAX_REPAIRS

if TYPE_CHECKING:
    # a feature, which stands above
    from bot.features.digest.posts import PostingResult
    from bot.features.digest.tables import DigestRecords, PostedDigest, TrackedDigest

log = logging.getLogger(__name__)

# errors that only a person can fix
_OPERATOR_ERRORS = (SlackCallRefused, GitHubAccessDenied, RepositoryNotFound, ConfigurationError)
_RETRY_PAUSES = tuple(timedelta(minutes=minutes) for minutes in (1, 2, 5, 10, 15))
# a week: Sundays differ from Mondays
_COMPARED_DAYS, _MIN_COMPARED_DAYS = 7, 3


@dataclass(frozen=True, slots=True)
class DeliveryLogs:
    """The logs of runs, and of what digests cost."""

    runs: RunLog
    works: Budget


@dataclass(frozen=True, slots=True)
class DigestPosting:
    """What posts digests, revises them, and renders them with notes."""

    post: Callable[[TrackedDigest, Callable[[], RenderedDigest]], PostingResult]
    revise: Callable[[TrackedDigest, Callable[[], RenderedDigest]], PostingResult]
    compose: Callable[[DigestSpec, Sequence[str]], RenderedDigest]


class DigestDelivery:
    """Service that posts digests that are due, and completes those that were posted with gaps."""

    def __init__(
        self,
        repository: SubscriptionRepository,
        posting: DigestPosting,
        records: DigestRecords,
        due_queue: DueQueue,
        logs: DeliveryLogs,
        incident_reporter: IncidentReporter,
        now: Callable[[], datetime],
    ) -> None:
        self._repository = repository
        self._posting = posting
        self._records = records
        self._due_queue = due_queue
        self._run_log = logs.runs
        self._works = logs.works
        self._incident_reporter = incident_reporter
        self._now = now

    def deliver_digest(self, name: str, due: datetime) -> None:
        """Post the digest of a subscription that was due at an instant (aware), if it still is, or finish it.

        Failures are recorded with the time of the next attempt, at which the schedule enqueues the job again.

        Raises:
            StoreUnavailable: nothing could be recorded.
        """
        subscription = self._repository.get(name)
        if subscription is None or subscription.is_paused:
            return
        digest, item = self._records.find_digest(subscription.build_digest_spec(due)), NextDigest(name)
        title = digest.spec.title
        if self._due_queue.get_time(item) != due and not digest.record.lead:
            log.info("%s is planned for another time, or was skipped", title)
            return
        try:
            result = self._post_digest(digest, lambda: self._compose_digest(digest))
        except StoreUnavailable:
            raise
        except PostingInProgress as error:
            log.info("%s: %s", title, error)
        except PrdigestError as error:
            log.warning("%s is not posted yet: %s", title, error)
            self._record_failure(digest.key, error, str(error))
        except Exception as error:
            log.exception("%s is not posted", title)
            self._record_failure(digest.key, error, sentences.DEFECT_REASON)
        else:
            self._report_gaps(subscription, digest, result)
            # a change of the zone from now on begins with the next day, not with this one in the other zone
            self._due_queue.move(item, due, subscription.timing.find_next_after(due))

    def post_digest(self, spec: DigestSpec, build: Callable[[], RenderedDigest] | None = None) -> PostingResult:
        """Post a digest once, and schedule its repair if it has gaps. Raises what the poster raises.

        ``build`` renders it for the first attempt; by default it is composed for its specification.
        """
        digest = self._records.find_digest(spec)
        return self._post_digest(digest, build or (lambda: self._compose_digest(digest)))

    def _post_digest(self, digest: TrackedDigest, build: Callable[[], RenderedDigest]) -> PostingResult:
        with tally_costs() as account:
            try:
                result = self._posting.post(digest, build)
            except PrdigestError:
                self._keep_expense(digest.key, account.expense)
                raise
        log.info("%s: %s", digest.spec.title, result.record.permalink)
        if result.record.spec_json:
            return result
        self._works.add_work(WorkKind.DIGEST, account.expense)
        return self._record_posting(digest, result, account.expense)

    def _record_posting(self, digest: TrackedDigest, result: PostingResult, expense: Expense) -> PostingResult:
        """Record the consequences of a post, once."""
        key, now = digest.key, self._now()
        detail = "; ".join([*result.record.gaps, *result.notes])
        self._run_log.add_run(Run(now, key, RunOutcome.POSTED, detail))
        if result.record.gaps:
            self._due_queue.add(DigestRepair(key), now + FIRST_REPAIR_DELAY)
        self._incident_reporter.resolve(
            key, IncidentKind.MISSING, sentences.format_posted_late(result.record.permalink), now
        )
        payer = get_account().payer
        # later repairs are made by the bot, also where a user's command posted the digest
        paid = replace(_add_expense(result.record, expense), payer="" if payer == OPERATOR else payer)
        # last: an attempt that died earlier recorded nothing, and the next one does all of this
        return replace(result, record=self._records.store.save(key, result.record, paid.keep_spec(digest.spec)))

    def repair_incomplete(self, key: str) -> None:
        """Build a digest that was posted with gaps again, and edit it.

        The due queue has the time of the next attempt.

        Raises:
            StoreUnavailable: nothing could be recorded.
        """
        digest = self._records.load_digest(key)
        if digest is None:
            self._due_queue.drop(DigestRepair(key))
            return
        try:
            # the user who requested the digest pays for its repair too, or requests would evade their budget
            with bill_to(digest.record.payer) as account:
                result = self._posting.revise(digest, lambda: self._compose_digest(digest))
            self._keep_expense(key, account.expense)
        except StoreUnavailable:
            raise
        except PrdigestError as error:
            log.warning("%s is not mended yet: %s", digest.spec.title, error)
        except Exception:
            log.exception("%s is not mended", digest.spec.title)
        else:
            if not self._list_missing(digest.spec, result):
                self._record_repair(key, result)
                return
        if digest.record.repair_attempts >= MAX_REPAIRS:
            self._incident_reporter.abandon(key, IncidentKind.INCOMPLETE, self._now())

    def _keep_expense(self, key: str, expense: Expense) -> None:
        """Add to a digest what an attempt that failed took, or a repair. Without the store it is left out."""
        if expense.tokens:
            self._works.add_work(WorkKind.DIGEST, expense, 0)
            with suppress(StoreUnavailable):
                record = self._records.store.load(key)
                self._records.store.save(key, record, _add_expense(record, expense))

    def _compose_digest(self, digest: TrackedDigest) -> RenderedDigest:
        skipped = digest.record.parse_skipped_days(digest.spec.span.zone)
        notes = [describe_skipped_days(digest.spec.repository, skipped)] if skipped else []
        return self._posting.compose(digest.spec, notes)

    def _record_repair(self, key: str, result: PostingResult) -> None:
        now = self._now()
        self._due_queue.drop(DigestRepair(key))
        self._run_log.add_run(Run(now, key, RunOutcome.MENDED))
        self._incident_reporter.resolve(
            key, IncidentKind.INCOMPLETE, sentences.format_completed(result.record.permalink), now
        )

    def _report_gaps(self, subscription: Subscription, digest: TrackedDigest, result: PostingResult) -> None:
        """Report what is missing in a posted digest."""
        spec, key, now = digest.spec, digest.key, self._now()
        missing = self._list_missing(spec, result)
        if not missing:
            return
        if result.was_posted:
            # a user whose budget was used up may have requested it before its time: the bot completes it
            self._records.store.save(key, result.record, replace(result.record, payer=""))
        self._due_queue.add(DigestRepair(key), now + FIRST_REPAIR_DELAY)
        reason, retry = "; ".join(missing), self._due_queue.get_time(DigestRepair(key))
        self._incident_reporter.report(
            Incident(key, IncidentKind.INCOMPLETE, spec.title, reason, now, retry, spec.channel, subscription.by)
        )

    def _list_missing(self, spec: DigestSpec, result: PostingResult) -> tuple[str, ...]:
        return (*result.record.gaps, *self._detect_missing_merges(spec, result))

    def _detect_missing_merges(self, spec: DigestSpec, result: PostingResult) -> Iterator[str]:
        """Yield a gap if nothing was merged, although each of the last digests, at least three, had merges."""
        if result.record.merged_count != 0:
            return
        earlier = [_shift_back(spec, timedelta(days=days)) for days in range(1, _COMPARED_DAYS + 1)]
        counts = [digest.record.merged_count for digest in self._records.find_digests(earlier)]
        recorded = [merged for merged in counts if merged is not None]
        if len(recorded) >= _MIN_COMPARED_DAYS and all(recorded):
            yield sentences.format_nothing_merged(len(recorded))

    def _record_failure(self, key: str, error: Exception, sentence: str) -> None:
        """Record a failure, with the time of the next attempt if one makes sense."""
        record, now = self._records.store.load(key), self._now()
        if isinstance(error, DayUnavailable):
            failed = replace(record, error=sentence, is_abandoned=True)
        else:
            # first: an attempt that died before its record is repeated, and one line twice is better than none
            if record.error != sentence:
                self._run_log.add_run(Run(now, key, RunOutcome.FAILED, sentence))
            is_for_people = isinstance(error, _OPERATOR_ERRORS)
            pause = _RETRY_PAUSES[-1] if is_for_people else _compute_pause(record, error)
            failed = replace(
                record,
                error=sentence,
                retry_at=now + pause,
                must_be_fixed_by_person=is_for_people,
                attempts=record.attempts + 1,
            )
        self._records.store.save(key, record, failed)


def _add_expense(record: PostedDigest, expense: Expense) -> PostedDigest:
    """Return the record with what an attempt or a repair took."""
    dollars = record.microdollars + to_microdollars(expense.dollars)
    return replace(record, tokens=record.tokens + expense.tokens, microdollars=dollars)


def _compute_pause(record: PostedDigest, error: Exception) -> timedelta:
    """Return how long to wait after another failed attempt: at least as long as a service asks for."""
    pause = _RETRY_PAUSES[min(record.attempts, len(_RETRY_PAUSES) - 1)]
    requested = get_retry_delay(error) if isinstance(error, PrdigestError) else None
    return max(pause, timedelta(seconds=requested)) if requested else pause


def _shift_back(spec: DigestSpec, back: timedelta) -> DigestSpec:
    """Return the digest of the same channel for the days that are ``back`` earlier."""
    return replace(spec, span=replace(spec.span, first=spec.span.first - back, last=spec.span.last - back))
