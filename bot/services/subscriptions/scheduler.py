"""Decides what is due. It keeps nothing in its head: the agenda says what is to be done, the records what was.

A missed tick, a restart, several clocks or a wrong one change nothing: a digest stays due until its record says
that it stands, or until it is too late to be of use.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.domain.errors import PrdigestError
from bot.domain.keyspace.keys import LAST_TICK, build_attempt_key
from bot.domain.operations.incident import Incident, IncidentKind
from bot.domain.operations.run import Run, RunOutcome
from bot.domain.subscriptions.due_items import (
    DigestRepair,
    DueItem,
    IncidentReport,
    NextDigest,
    OutcomeCheck,
    ReportUpdate,
)
from bot.domain.subscriptions.models import DigestSpec, Subscription
from bot.ports import Cache, DueQueue, RunLog, WorkQueue
from bot.services.digest.posted_digest import PostedDigest
from bot.services.digest.records import DigestRecords, TrackedDigest
from bot.services.history.outcome_checks import CHECK_INTERVAL
from bot.services.subscriptions.incidents import IncidentReporter
from bot.services.subscriptions.repository import SubscriptionRepository
from bot.services.subscriptions.retry_policy import compute_next_repair

log = logging.getLogger(__name__)

_DAY = timedelta(days=1)
# a job that was lost is put on the queue again after that long; one that was done does nothing the second time
_RESEND_INTERVAL = timedelta(minutes=10)
# a digest of a busy repository takes minutes to build; what takes longer deserves a word
_LATE_AFTER = timedelta(minutes=15)
_UNFINISHED_REASON = "no worker has finished it: look whether one is running, prdigest doctor says more"
_AWAY_REASON = "nothing was running at its time"


@dataclass(frozen=True, slots=True)
class _DueDigest:
    """A digest that is due: of which subscription, since when, and what its record says."""

    item: NextDigest
    due_at: datetime
    subscription: Subscription
    digest: TrackedDigest

    @property
    def record(self) -> PostedDigest:
        return self.digest.record


class DigestScheduler:
    """Puts on the queues what is due. ``window`` is how late a digest may still be posted."""

    def __init__(
        self,
        directory: SubscriptionRepository,
        agenda: DueQueue,
        records: DigestRecords,
        cache: Cache,
        journal: RunLog,
        watchdog: IncidentReporter,
        window: timedelta,
    ) -> None:
        self._directory = directory
        self._agenda = agenda
        self._records = records
        self._cache = cache
        self._journal = journal
        self._watchdog = watchdog
        self._window = window
        self._is_complete = False

    def tick(self, now: datetime, digests: WorkQueue, mends: WorkQueue, watches: WorkQueue) -> None:
        """Look at all that is due at ``now``, an aware instant.

        ``digests`` takes the id of a subscription and the instant at which its digest was due, ``mends`` the key
        of a digest that is incomplete, ``watches`` a repository whose merges may take back what was posted.

        Raises:
            StoreUnavailable, SlackRefused, SlackUnavailable: the next tick looks again.
        """
        self._cache.put(LAST_TICK.build_key(), now.isoformat(), LAST_TICK.lifetime)
        if not self._is_complete:
            self._complete_agenda(now)
        due = self._agenda.list_due(now)
        if next_digests := [(item, at) for item, at in due if isinstance(item, NextDigest)]:
            self._process_ready(self._select_ready(next_digests), now, digests)
        for item, at in due:
            with _isolate_errors(item):
                if isinstance(item, DigestRepair):
                    self._send_repair(item, at, now, mends)
                elif isinstance(item, OutcomeCheck) and self._agenda.move(item, at, now + CHECK_INTERVAL):
                    watches.send(str(item.repository))
        if any(isinstance(item, IncidentReport | ReportUpdate) for item, _ in due):
            self._watchdog.notify(now)

    def _complete_agenda(self, now: datetime) -> None:
        """Once: what is not on the agenda yet, or stands there for another time than it should."""
        wanted = {NextDigest(each.id): each for each in self._directory.list_all() if not each.is_paused}
        for (item, subscription), planned in zip(
            wanted.items(), self._agenda.get_times(list(wanted)), strict=True
        ):
            timing = subscription.timing
            if planned is None:
                # whoever sets the bot up in the afternoon wants to see the digest of that day
                first = timing.find_first_on(now)
                self._agenda.add(item, first if subscription.is_fixed else timing.find_next_after(now))
            elif not timing.is_due(planned):
                self._agenda.move(item, planned, timing.find_first_on(planned))
        self._is_complete = True

    def _send_repair(self, item: DigestRepair, at: datetime, now: datetime, mends: WorkQueue) -> None:
        record = self._records.store.load(item.digest)
        later = compute_next_repair(now, record.repair_attempts)
        if later is None:
            self._agenda.drop(item)
        elif self._agenda.move(item, at, later):
            self._records.store.save(item.digest, record, record.count_repair())
            mends.send(item.digest)

    def _select_ready(self, due: Sequence[tuple[NextDigest, datetime]]) -> Sequence[_DueDigest]:
        """Those whose subscriptions still want them."""
        known = self._directory.get_many([item.subscription for item, _ in due])
        ready: list[tuple[NextDigest, datetime, Subscription, DigestSpec]] = []
        for item, at in due:
            with _isolate_errors(item):
                subscription = known.get(item.subscription) or self._directory.get(item.subscription)
                if subscription is None or subscription.is_paused:
                    self._agenda.drop(item)
                elif not subscription.timing.is_due(at):
                    # the rules of the zone have changed since it was planned
                    self._agenda.move(item, at, subscription.timing.find_first_on(at))
                else:
                    ready.append((item, at, subscription, subscription.build_digest_spec(at)))
        digests = self._records.find_digests([spec for *_, spec in ready])
        return [_DueDigest(*each[:3], digest) for each, digest in zip(ready, digests, strict=True)]

    def _process_ready(self, ready: Sequence[_DueDigest], now: datetime, digests: WorkQueue) -> None:
        """Plan the next after what stands, skip what is too late, send the rest."""
        standing = [each for each in ready if each.record.is_posted]
        self._agenda.move_all(
            [(each.item, each.due_at, each.subscription.timing.find_next_after(each.due_at)) for each in standing]
        )
        for each in ready:
            with _isolate_errors(each.item):
                if each.record.is_posted:
                    self._restart_repair(each, now)
                    continue
                if each.record.is_abandoned or now - each.due_at > self._window:
                    self._skip_digest(each, now)
                else:
                    self._send_digest(each, now, digests)
                    self._report_if_late(each, now)

    def _restart_repair(self, due: _DueDigest, now: datetime) -> None:
        """Mend what somebody asked for before its time, and had no budget for, at the cost of the bot."""
        if due.record.payer and due.record.gaps:
            key = due.digest.key
            self._records.store.save(key, due.record, due.record.bill_to_bot().reset_repairs())
            self._agenda.put(DigestRepair(key), now)

    def _send_digest(self, due: _DueDigest, now: datetime, digests: WorkQueue) -> None:
        retry_at, tries = due.record.retry_at, str(due.record.attempts)
        is_time = retry_at is None or now >= retry_at
        if is_time and self._cache.add(
            build_attempt_key(due.item.subscription, due.due_at.isoformat(), tries), "1", _RESEND_INTERVAL
        ):
            self._cache.add(_build_sent_key(due), now.isoformat(), self._window)
            digests.send(due.item.subscription, due.due_at.isoformat())

    def _is_late(self, due: _DueDigest, now: datetime) -> bool:
        """Counted from when the digest was first sent: a bot that has just been started is not late at once."""
        if now - due.due_at < _LATE_AFTER:
            return False
        first = self._cache.get(_build_sent_key(due))
        return now - (datetime.fromisoformat(first) if first else due.due_at) >= _LATE_AFTER

    def _report_if_late(self, due: _DueDigest, now: datetime) -> None:
        """What a person has to mend is said at once; everything else gets a while to mend itself."""
        error = due.record.error
        if (error and due.record.must_be_fixed_by_person) or self._is_late(due, now):
            later = due.record.retry_at or now + _RESEND_INTERVAL
            self._watchdog.report(
                _build_incident(
                    due.subscription, due.digest, IncidentKind.MISSING, error or _UNFINISHED_REASON, now, later
                )
            )

    def _skip_digest(self, due: _DueDigest, now: datetime) -> None:
        """Say that it will not come, plan the first that still may, and tell that one what it has to say."""
        subscription, timing, first, record = (
            due.subscription,
            due.subscription.timing,
            due.digest.spec,
            due.record,
        )
        after = timing.find_next_after(max(due.due_at, now - self._window))
        days = replace(first.span, last=timing.get_covered_days(after).first - _DAY)
        missed, following = self._records.find_digests(
            [replace(first, span=days), subscription.build_digest_spec(after)]
        )
        earlier = record.parse_skipped_days(days.zone)
        unposted = replace(days, first=earlier.first) if earlier else days
        reason = record.error or _AWAY_REASON
        is_closed = record.must_be_fixed_by_person and not subscription.is_fixed
        if is_closed:
            reason += "; I paused it: /prdigest resume goes on"
        self._watchdog.report(_build_incident(subscription, missed, IncidentKind.SKIPPED, reason, now, None))
        self._records.store.save(following.key, following.record, following.record.record_skipped_days(unposted))
        if is_closed:
            # not before it is told: what is paused is not looked at again
            self._directory.pause(subscription)
        if self._agenda.move(due.item, due.due_at, after):
            self._journal.add_run(Run(now, missed.key, RunOutcome.SKIPPED, reason))


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
    """Where it is kept when that was first sent."""
    return build_attempt_key(due.item.subscription, due.due_at.isoformat())


@contextmanager
def _isolate_errors(item: DueItem) -> Iterator[None]:
    """One entry that can't be looked at shall not keep all others from being posted."""
    try:
        yield
    except PrdigestError:
        raise
    except Exception:
        log.exception("%s is on the agenda and can't be looked at", item)
