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
from bot.domain.keyspace.keys import TICKED, name_try
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
from bot.ports import Agenda, Cache, Journal, Queue
from bot.services.digest.posted_digest import PostedDigest
from bot.services.digest.records import DigestRecords, TrackedDigest
from bot.services.history.outcome_watcher import EVERY
from bot.services.subscriptions.incidents import Watchdog
from bot.services.subscriptions.repository import Directory
from bot.services.subscriptions.retry_policy import next_mend

log = logging.getLogger(__name__)

_DAY = timedelta(days=1)
# a job that was lost is put on the queue again after that long; one that was done does nothing the second time
_AGAIN = timedelta(minutes=10)
# a digest of a busy repository takes minutes to build; what takes longer deserves a word
_LATE = timedelta(minutes=15)
_UNKNOWN = "no worker has finished it: look whether one is running, prdigest doctor says more"
_AWAY = "nothing was running at its time"


@dataclass(frozen=True, slots=True)
class _Due:
    """A digest that is due: of which subscription, since when, and what its record says."""

    item: NextDigest
    at: datetime
    subscription: Subscription
    digest: TrackedDigest

    @property
    def record(self) -> PostedDigest:
        return self.digest.record


class Schedule:
    """Puts on the queues what is due. ``window`` is how late a digest may still be posted."""

    def __init__(
        self,
        directory: Directory,
        agenda: Agenda,
        records: DigestRecords,
        cache: Cache,
        journal: Journal,
        watchdog: Watchdog,
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

    def tick(self, now: datetime, digests: Queue, mends: Queue, watches: Queue) -> None:
        """Look at all that is due at ``now``, an aware instant.

        ``digests`` takes the id of a subscription and the instant at which its digest was due, ``mends`` the key
        of a digest that is incomplete, ``watches`` a repository whose merges may take back what was posted.

        Raises:
            StoreUnavailable, SlackRefused, SlackUnavailable: the next tick looks again.
        """
        self._cache.put(TICKED.key(), now.isoformat(), TICKED.lifetime)
        if not self._is_complete:
            self._complete(now)
        due = self._agenda.due(now)
        if next_digests := [(item, at) for item, at in due if isinstance(item, NextDigest)]:
            self._attend(self._ready(next_digests), now, digests)
        for item, at in due:
            with _alone(item):
                if isinstance(item, DigestRepair):
                    self._mend(item, at, now, mends)
                elif isinstance(item, OutcomeCheck) and self._agenda.move(item, at, now + EVERY):
                    watches.send(str(item.repository))
        if any(isinstance(item, IncidentReport | ReportUpdate) for item, _ in due):
            self._watchdog.notify(now)

    def _complete(self, now: datetime) -> None:
        """Once: what is not on the agenda yet, or stands there for another time than it should."""
        wanted = {NextDigest(each.id): each for each in self._directory.all() if not each.is_paused}
        for (item, subscription), planned in zip(wanted.items(), self._agenda.at_each(list(wanted)), strict=True):
            timing = subscription.timing
            if planned is None:
                # whoever sets the bot up in the afternoon wants to see the digest of that day
                first = timing.first_on(now)
                self._agenda.add(item, first if subscription.is_fixed else timing.next_after(now))
            elif not timing.is_due(planned):
                self._agenda.move(item, planned, timing.first_on(planned))
        self._is_complete = True

    def _mend(self, item: DigestRepair, at: datetime, now: datetime, mends: Queue) -> None:
        record = self._records.store.load(item.digest)
        later = next_mend(now, record.mends)
        if later is None:
            self._agenda.drop(item)
        elif self._agenda.move(item, at, later):
            self._records.store.save(item.digest, record, record.count_mend())
            mends.send(item.digest)

    def _ready(self, due: Sequence[tuple[NextDigest, datetime]]) -> Sequence[_Due]:
        """Those whose subscriptions still want them."""
        known = self._directory.those([item.subscription for item, _ in due])
        ready: list[tuple[NextDigest, datetime, Subscription, DigestSpec]] = []
        for item, at in due:
            with _alone(item):
                subscription = known.get(item.subscription) or self._directory.get(item.subscription)
                if subscription is None or subscription.is_paused:
                    self._agenda.drop(item)
                elif not subscription.timing.is_due(at):
                    # the rules of the zone have changed since it was planned
                    self._agenda.move(item, at, subscription.timing.first_on(at))
                else:
                    ready.append((item, at, subscription, subscription.digest_spec(at)))
        digests = self._records.track_each([spec for *_, spec in ready])
        return [_Due(*each[:3], digest) for each, digest in zip(ready, digests, strict=True)]

    def _attend(self, ready: Sequence[_Due], now: datetime, digests: Queue) -> None:
        """Plan the next after what stands, skip what is too late, send the rest."""
        standing = [each for each in ready if each.record.is_posted]
        self._agenda.move_each(
            [(each.item, each.at, each.subscription.timing.next_after(each.at)) for each in standing]
        )
        for each in ready:
            with _alone(each.item):
                if each.record.is_posted:
                    self._take_over(each, now)
                    continue
                if each.record.is_hopeless or now - each.at > self._window:
                    self._skip(each, now)
                else:
                    self._send(each, now, digests)
                    self._watch(each, now)

    def _take_over(self, due: _Due, now: datetime) -> None:
        """Mend what somebody asked for before its time, and had no budget for, at the cost of the bot."""
        if due.record.payer and due.record.gaps:
            key = due.digest.key
            self._records.store.save(key, due.record, due.record.let_bot_pay().restart_mends())
            self._agenda.put(DigestRepair(key), now)

    def _send(self, due: _Due, now: datetime, digests: Queue) -> None:
        retry_at, tries = due.record.retry_at, str(due.record.tries)
        is_time = retry_at is None or now >= retry_at
        if is_time and self._cache.add(name_try(due.item.subscription, due.at.isoformat(), tries), "1", _AGAIN):
            self._cache.add(_sent(due), now.isoformat(), self._window)
            digests.send(due.item.subscription, due.at.isoformat())

    def _is_late(self, due: _Due, now: datetime) -> bool:
        """Counted from when the digest was first sent: a bot that has just been started is not late at once."""
        if now - due.at < _LATE:
            return False
        first = self._cache.get(_sent(due))
        return now - (datetime.fromisoformat(first) if first else due.at) >= _LATE

    def _watch(self, due: _Due, now: datetime) -> None:
        """What a person has to mend is said at once; everything else gets a while to mend itself."""
        error = due.record.error
        if (error and due.record.needs_person) or self._is_late(due, now):
            later = due.record.retry_at or now + _AGAIN
            self._watchdog.report(
                _incident(due.subscription, due.digest, IncidentKind.MISSING, error or _UNKNOWN, now, later)
            )

    def _skip(self, due: _Due, now: datetime) -> None:
        """Say that it will not come, plan the first that still may, and tell that one what it has to say."""
        subscription, timing, first, record = (
            due.subscription,
            due.subscription.timing,
            due.digest.spec,
            due.record,
        )
        after = timing.next_after(max(due.at, now - self._window))
        days = replace(first.span, last=timing.covers(after).first - _DAY)
        missed, following = self._records.track_each([replace(first, span=days), subscription.digest_spec(after)])
        earlier = record.skipped_before(days.zone)
        unposted = replace(days, first=earlier.first) if earlier else days
        reason = record.error or _AWAY
        is_closed = record.needs_person and not subscription.is_fixed
        if is_closed:
            reason += "; I paused it: /prdigest resume goes on"
        self._watchdog.report(_incident(subscription, missed, IncidentKind.SKIPPED, reason, now, None))
        self._records.store.save(following.key, following.record, following.record.follow_skipped(unposted))
        if is_closed:
            # not before it is told: what is paused is not looked at again
            self._directory.pause(subscription)
        if self._agenda.move(due.item, due.at, after):
            self._journal.note(Run(now, missed.key, RunOutcome.SKIPPED, reason))


def _incident(
    subscription: Subscription,
    digest: TrackedDigest,
    kind: IncidentKind,
    reason: str,
    now: datetime,
    retry: datetime | None,
) -> Incident:
    title, channel = digest.spec.title, subscription.channel
    return Incident(digest.key, kind, title, reason, now, retry, channel, subscription.by)


def _sent(due: _Due) -> str:
    """Where it is kept when that was first sent."""
    return name_try(due.item.subscription, due.at.isoformat())


@contextmanager
def _alone(item: DueItem) -> Iterator[None]:
    """One entry that can't be looked at shall not keep all others from being posted."""
    try:
        yield
    except PrdigestError:
        raise
    except Exception:
        log.exception("%s is on the agenda and can't be looked at", item)
