"""The schedule of digests. It has no state of its own: the due queue says what to do, the records what was done.

Missed ticks, restarts, several clocks or a wrong one change nothing: a digest stays due until its record says
that it is posted, or until it is too late to be of use.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from bot.domain.errors import PrdigestError
from bot.domain.keyspace.keys import LAST_TICK, build_attempt_key
from bot.domain.operations.incident import Incident, IncidentKind
from bot.domain.operations.run import Run, RunOutcome
from bot.domain.subscriptions.due_items import (
    CHECK_INTERVAL,
    LATE_AFTER,
    DigestRepair,
    DueItem,
    IncidentReport,
    NextDigest,
    OutcomeCheck,
    ProfileRefresh,
    ReportUpdate,
)
from bot.domain.subscriptions.models import DigestSpec, Subscription
from bot.platform.jobs import JobQueue
from bot.ports import Cache, DueQueue, RunLog
from bot.render.subscriptions import sentences
from bot.services.scheduled_jobs import deliver_digest, refresh_profile, repair_digest, watch_repository
from bot.services.subscriptions.incidents import IncidentReporter
from bot.services.subscriptions.repository import SubscriptionRepository
from bot.services.subscriptions.retry_policy import compute_next_repair

if TYPE_CHECKING:
    # a feature, which stands above
    from bot.features.digest.tables import DigestRecords, PostedDigest, TrackedDigest

log = logging.getLogger(__name__)

_DAY = timedelta(days=1)
# a lost job is enqueued again after that long; one that was done does nothing the second time
_RESEND_INTERVAL = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class _DueDigest:
    """A digest that is due: its subscription, since when, and its record."""

    item: NextDigest
    due_at: datetime
    subscription: Subscription
    digest: TrackedDigest

    @property
    def record(self) -> PostedDigest:
        return self.digest.record


class DigestScheduler:
    """Scheduler that enqueues what is due. ``window`` is how late a digest may still be posted."""

    def __init__(
        self,
        repository: SubscriptionRepository,
        due_queue: DueQueue,
        records: DigestRecords,
        cache: Cache,
        run_log: RunLog,
        incident_reporter: IncidentReporter,
        window: timedelta,
    ) -> None:
        self._repository = repository
        self._due_queue = due_queue
        self._records = records
        self._cache = cache
        self._run_log = run_log
        self._incident_reporter = incident_reporter
        self._window = window
        self._is_complete = False

    def tick(self, now: datetime, jobs: JobQueue) -> None:
        """Process everything that is due at ``now``, an aware instant.

        ``jobs`` takes the digests of subscriptions, repairs of incomplete digests, and checks of repositories
        whose merges may revert pull requests in posted digests.

        Raises:
            StoreUnavailable, SlackCallRefused, SlackUnavailable: the next tick tries again.
        """
        self._cache.put(LAST_TICK.build_key(), now.isoformat(), LAST_TICK.lifetime)
        if not self._is_complete:
            self._complete_due_queue(now)
        due = self._due_queue.list_due(now)
        if next_digests := [(item, at) for item, at in due if isinstance(item, NextDigest)]:
            self._process_ready(self._select_ready(next_digests), now, jobs)
        for item, at in due:
            with _isolate_errors(item):
                if isinstance(item, DigestRepair):
                    self._send_repair(item, at, now, jobs)
                elif isinstance(item, OutcomeCheck) and self._due_queue.move(item, at, now + CHECK_INTERVAL):
                    watch_repository.send_to(jobs, item.repository)
                elif isinstance(item, ProfileRefresh) and self._due_queue.move(item, at, now + _DAY):
                    refresh_profile.send_to(jobs, item.profile)
        if any(isinstance(item, IncidentReport | ReportUpdate) for item, _ in due):
            self._incident_reporter.notify(now)

    def _complete_due_queue(self, now: datetime) -> None:
        """Add the digests that are not in the due queue yet, and correct wrong times. Runs once."""
        subscriptions = {NextDigest(each.id): each for each in self._repository.list_all() if not each.is_paused}
        for (item, subscription), planned in zip(
            subscriptions.items(), self._due_queue.get_times(list(subscriptions)), strict=True
        ):
            timing = subscription.timing
            if planned is None:
                # an operator who sets the bot up in the afternoon expects the digest of that day
                first = timing.find_first_on(now)
                self._due_queue.add(item, first if subscription.is_fixed else timing.find_next_after(now))
            elif not timing.is_due(planned):
                self._due_queue.move(item, planned, timing.find_first_on(planned))
        self._is_complete = True

    def _send_repair(self, item: DigestRepair, at: datetime, now: datetime, jobs: JobQueue) -> None:
        record = self._records.store.load(item.digest)
        later = compute_next_repair(now, record.repair_attempts)
        if later is None:
            self._due_queue.drop(item)
        elif self._due_queue.move(item, at, later):
            counted = replace(record, repair_attempts=record.repair_attempts + 1)
            self._records.store.save(item.digest, record, counted)
            repair_digest.send_to(jobs, item.digest)

    def _select_ready(self, due: Sequence[tuple[NextDigest, datetime]]) -> Sequence[_DueDigest]:
        """Return those whose subscriptions are still active."""
        subscriptions = self._repository.get_many([item.subscription for item, _ in due])
        ready: list[tuple[NextDigest, datetime, Subscription, DigestSpec]] = []
        for item, at in due:
            with _isolate_errors(item):
                subscription = subscriptions.get(item.subscription) or self._repository.get(item.subscription)
                if subscription is None or subscription.is_paused:
                    self._due_queue.drop(item)
                elif not subscription.timing.is_due(at):
                    # the rules of the zone have changed since the digest was planned
                    self._due_queue.move(item, at, subscription.timing.find_first_on(at))
                else:
                    ready.append((item, at, subscription, subscription.build_digest_spec(at)))
        digests = self._records.find_digests([spec for *_, spec in ready])
        return [_DueDigest(*each[:3], digest) for each, digest in zip(ready, digests, strict=True)]

    def _process_ready(self, ready: Sequence[_DueDigest], now: datetime, jobs: JobQueue) -> None:
        """Plan the next digest after each posted one, skip what is too late, and send the rest."""
        posted = [each for each in ready if each.record.is_posted]
        self._due_queue.move_all(
            [(each.item, each.due_at, each.subscription.timing.find_next_after(each.due_at)) for each in posted]
        )
        for each in ready:
            with _isolate_errors(each.item):
                if each.record.is_posted:
                    self._restart_repair(each, now)
                    continue
                if each.record.is_abandoned or now - each.due_at > self._window:
                    self._skip_digest(each, now)
                else:
                    self._send_digest(each, now, jobs)
                    self._report_if_late(each, now)

    def _restart_repair(self, due: _DueDigest, now: datetime) -> None:
        """Repair, at the cost of the bot, a digest that a user without budget requested before its time."""
        if due.record.payer and due.record.gaps:
            key = due.digest.key
            self._records.store.save(key, due.record, replace(due.record, payer="", repair_attempts=0))
            self._due_queue.put(DigestRepair(key), now)

    def _send_digest(self, due: _DueDigest, now: datetime, jobs: JobQueue) -> None:
        retry_at, attempts = due.record.retry_at, str(due.record.attempts)
        is_time = retry_at is None or now >= retry_at
        if is_time and self._cache.add(
            build_attempt_key(due.item.subscription, due.due_at.isoformat(), attempts), "1", _RESEND_INTERVAL
        ):
            self._cache.add(_build_sent_key(due), now.isoformat(), self._window)
            deliver_digest.send_to(jobs, due.item.subscription, due.due_at)

    def _is_late(self, due: _DueDigest, now: datetime) -> bool:
        """Return whether a digest is late, counted from when it was first sent.

        A bot that has just been started is not late at once.
        """
        if now - due.due_at < LATE_AFTER:
            return False
        first = self._cache.get(_build_sent_key(due))
        return now - (datetime.fromisoformat(first) if first else due.due_at) >= LATE_AFTER

    def _report_if_late(self, due: _DueDigest, now: datetime) -> None:
        """Report at once what a person has to fix; everything else has some time to recover."""
        error = due.record.error
        if (error and due.record.must_be_fixed_by_person) or self._is_late(due, now):
            later = due.record.retry_at or now + _RESEND_INTERVAL
            self._incident_reporter.report(
                _build_incident(
                    due.subscription,
                    due.digest,
                    IncidentKind.MISSING,
                    error or sentences.UNFINISHED_REASON,
                    now,
                    later,
                )
            )

    def _skip_digest(self, due: _DueDigest, now: datetime) -> None:
        """Report a digest that will not come, plan the next possible one, and record the days that it skips."""
        subscription, timing, spec, record = (
            due.subscription,
            due.subscription.timing,
            due.digest.spec,
            due.record,
        )
        after = timing.find_next_after(max(due.due_at, now - self._window))
        days = replace(spec.span, last=timing.get_covered_days(after).first - _DAY)
        missed, following = self._records.find_digests(
            [replace(spec, span=days), subscription.build_digest_spec(after)]
        )
        earlier = record.parse_skipped_days(days.zone)
        unposted = replace(days, first=earlier.first) if earlier else days
        reason = record.error or sentences.AWAY_REASON
        is_closed = record.must_be_fixed_by_person and not subscription.is_fixed
        if is_closed:
            reason += sentences.PAUSED_BY_BOT
        self._incident_reporter.report(
            _build_incident(subscription, missed, IncidentKind.SKIPPED, reason, now, None)
        )
        skipped = replace(following.record, skipped_days=str(unposted))
        self._records.store.save(following.key, following.record, skipped)
        if is_closed:
            # after the report: a paused subscription is not processed again
            self._repository.pause(subscription)
        if self._due_queue.move(due.item, due.due_at, after):
            self._run_log.add_run(Run(now, missed.key, RunOutcome.SKIPPED, reason))


def _build_incident(
    subscription: Subscription,
    digest: TrackedDigest,
    kind: IncidentKind,
    reason: str,
    now: datetime,
    retry: datetime | None,
) -> Incident:
    title, channel = digest.spec.title, subscription.channel
    return Incident(digest.key, kind, title, reason, now, retry, channel, subscription.by)


def _build_sent_key(due: _DueDigest) -> str:
    """Return the key of the time at which a digest was first sent."""
    return build_attempt_key(due.item.subscription, due.due_at.isoformat())


@contextmanager
def _isolate_errors(item: DueItem) -> Iterator[None]:
    """Log an item that fails, so that it does not stop all others from being posted."""
    try:
        yield
    except PrdigestError:
        raise
    except Exception:
        log.exception("%s is on the agenda and can't be looked at", item)
