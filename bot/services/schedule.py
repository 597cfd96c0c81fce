"""Decides what is due. It keeps nothing in its head: the agenda says what is to be done, the records what was.

A missed tick, a restart, several clocks or a wrong one change nothing: a digest stays due until its record says
that it stands, or until it is too late to be of use.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from bot.domain.errors import PrdigestError
from bot.domain.runs import Outcome, Run
from bot.domain.subscriptions import Edition, Subscription
from bot.domain.troubles import Kind, Trouble
from bot.ports import Agenda, Cache, Journal, PostRecords, Queue
from bot.services.directory import Directory
from bot.services.mending import MEND, next_mend, skipped_before
from bot.services.watchdog import Watchdog

log = logging.getLogger(__name__)

TICKED = "clock:ticked"
_DAY = timedelta(days=1)
# a job that was lost is put on the queue again after that long; one that was done does nothing the second time
_AGAIN = timedelta(minutes=10)
# a digest of a busy repository takes minutes to build; what takes longer deserves a word
_LATE = timedelta(minutes=15)
_UNKNOWN = "no worker has finished it: look whether one is running, prdigest doctor says more"
_AWAY = "nothing was running at its time"


class Schedule:
    """Puts on the queues what is due. ``window`` is how late a digest may still be posted."""

    def __init__(
        self,
        directory: Directory,
        agenda: Agenda,
        records: PostRecords,
        cache: Cache,
        journal: Journal,
        key_of: Callable[[Edition], str],
        watchdog: Watchdog,
        window: timedelta,
    ) -> None:
        self._directory = directory
        self._agenda = agenda
        self._records = records
        self._cache = cache
        self._journal = journal
        self._key_of = key_of
        self._watchdog = watchdog
        self._window = window
        self._is_complete = False

    def tick(self, now: datetime, digests: Queue, mends: Queue) -> None:
        """Look at all that is due at ``now``, an aware instant.

        ``digests`` takes the id of a subscription and the instant at which its digest was due, ``mends`` the key
        of a digest that is incomplete.

        Raises:
            StoreUnavailable, SlackRefused, SlackUnavailable: the next tick looks again.
        """
        self._cache.put(TICKED, now.isoformat(), _DAY)
        if not self._is_complete:
            self._complete(now)
        for name, at in self._agenda.due(now):
            try:
                self._look_at(name, at, now, digests, mends)
            except PrdigestError:
                raise
            except Exception:
                # one entry that can't be read shall not keep all others from being posted
                log.exception("%s is on the agenda and can't be looked at", name)
        self._watchdog.speak(now)

    def _look_at(self, name: str, at: datetime, now: datetime, digests: Queue, mends: Queue) -> None:
        if name.startswith(MEND):
            self._mend(name, at, mends)
        elif not self._watchdog.owns(name):
            self._attend(name, at, now, digests)

    def _complete(self, now: datetime) -> None:
        """Once: what is not on the agenda yet, or stands there for another time than it should."""
        for subscription in self._directory.all():
            planned, timing = self._agenda.at(subscription.id), subscription.timing
            if subscription.is_paused:
                continue
            if planned is None:
                # whoever sets the bot up in the afternoon wants to see the digest of that day
                first = timing.first_from(now.astimezone(timing.zone).date())
                self._agenda.add(subscription.id, first if subscription.is_fixed else timing.next_after(now))
            elif not timing.is_due(planned):
                self._agenda.move(
                    subscription.id, planned, timing.first_from(planned.astimezone(timing.zone).date())
                )
        self._is_complete = True

    def _mend(self, name: str, at: datetime, mends: Queue) -> None:
        key = name.removeprefix(MEND)
        tries = int(self._records.load(key).get("mends", "0"))
        later = next_mend(at, tries)
        if later is None:
            self._agenda.drop(name)
        elif self._agenda.move(name, at, later):
            self._records.save(key, mends=str(tries + 1))
            mends.send(key)

    def _attend(self, name: str, due: datetime, now: datetime, digests: Queue) -> None:
        subscription = self._directory.get(name)
        if subscription is None or subscription.is_paused:
            self._agenda.drop(name)
            return
        timing = subscription.timing
        if not timing.is_due(due):
            # the rules of the zone have changed since it was planned
            self._agenda.move(name, due, timing.first_from(due.astimezone(timing.zone).date()))
            return
        edition = subscription.edition(due)
        key = self._key_of(edition)
        record = self._records.load(key)
        if record.get("done"):
            self._agenda.move(name, due, timing.next_after(due))
        elif now - due > self._window:
            self._skip(subscription, due, now, record)
        else:
            self._send(name, due, now, record, digests)
            self._watch(subscription, due, now, record)

    def _send(self, name: str, due: datetime, now: datetime, record: Mapping[str, str], digests: Queue) -> None:
        tries = record.get("tries", "0")
        is_time = not record.get("retry") or now >= datetime.fromisoformat(record["retry"])
        if is_time and self._cache.add(f"sent:{name}:{due.isoformat()}:{tries}", "1", _AGAIN):
            digests.send(name, due.isoformat())

    def _watch(self, subscription: Subscription, due: datetime, now: datetime, record: Mapping[str, str]) -> None:
        """What a person has to mend is said at once; everything else gets a while to mend itself."""
        error = record.get("error", "")
        if (error and record.get("person")) or now - due >= _LATE:
            retry = datetime.fromisoformat(record["retry"]) if record.get("retry") else now + _AGAIN
            edition = subscription.edition(due)
            self._watchdog.note(self._trouble(subscription, edition, Kind.MISSING, error or _UNKNOWN, now, retry))

    def _skip(self, subscription: Subscription, due: datetime, now: datetime, record: Mapping[str, str]) -> None:
        """Say that it will not come, plan the first that still may, and tell that one what it has to say."""
        timing, first = subscription.timing, subscription.edition(due)
        after = timing.next_after(now - self._window)
        missed = replace(first, span=replace(first.span, last=timing.covers(after).first - _DAY))
        earlier = skipped_before(record, first)
        unposted = replace(missed.span, first=earlier.first) if earlier else missed.span
        reason = record.get("error") or _AWAY
        if record.get("person") and not subscription.is_fixed:
            self._directory.pause(subscription)
            reason += "; I paused it: /prdigest resume goes on"
        self._watchdog.note(self._trouble(subscription, missed, Kind.SKIPPED, reason, now, None))
        self._records.save(self._key_of(subscription.edition(after)), skipped=str(unposted))
        if self._agenda.move(subscription.id, due, after):
            self._journal.note(Run(now, self._key_of(missed), Outcome.SKIPPED, reason))

    def _trouble(
        self,
        subscription: Subscription,
        edition: Edition,
        kind: Kind,
        reason: str,
        now: datetime,
        retry: datetime | None,
    ) -> Trouble:
        return Trouble(
            self._key_of(edition), kind, edition.title, reason, now, retry, subscription.channel, subscription.by
        )
