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
from typing import Any

from bot.app import App
from bot.errors import PrdigestError
from bot.features.digest.amendments import check_repository
from bot.features.digest.tables import TrackedDigest
from bot.features.subscriptions.delivery import REPAIR_PAUSES, deliver_digest, repair_digest
from bot.features.subscriptions.incidents import Incident, IncidentKind, notify_people, report_incident
from bot.features.subscriptions.rules import DAY, RunOutcome, Subscription
from bot.features.subscriptions.tables import get_subscriptions, list_subscriptions, put_subscription, record_run
from bot.features.touches import upkeep
from bot.platform.jobs import MINUTE, JobQueue, JobRetries, QueueName, job
from bot.platform.store.due_queue import (
    CHECK_INTERVAL,
    DigestRepair,
    DueItem,
    IncidentReport,
    NextDigest,
    OutcomeCheck,
    ProfileRefresh,
    ReportUpdate,
)
from bot.platform.store.keys import LAST_TICK, build_attempt_key
from impact.repository import Repository

log = logging.getLogger(__name__)

# a digest of a busy repository takes minutes to build; longer times are reported
LATE_AFTER = timedelta(minutes=15)
# a lost job is enqueued again after that long; one that was done does nothing the second time
_RESEND_INTERVAL = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class _DueDigest:
    item: NextDigest
    due_at: datetime
    subscription: Subscription
    digest: TrackedDigest


# after a failure, the next check is some hours later
@job("watch", QueueName.LONG, JobRetries(3, MINUTE))
def watch_repository(app: App, repository: Repository) -> None:
    check_repository(app, repository)


# after a failure, the next scan is a day later; the profile stays as it was
@job("refresh_profile", QueueName.LONG, JobRetries(3, MINUTE))
def refresh_profile(app: App, name: str) -> None:
    upkeep.refresh_profile(app, name)


def plan_digests(app: App) -> None:
    """Add the digests that are not in the due queue yet, and correct wrong times: once, when a clock starts."""
    active = [each for each in list_subscriptions(app) if not each.is_paused]
    planned = app.due_queue.get_times([NextDigest(each.id) for each in active])
    for subscription, at in zip(active, planned, strict=True):
        item, timing = NextDigest(subscription.id), subscription.timing
        if at is None:
            # an operator who sets the bot up in the afternoon expects the digest of that day
            find = timing.find_first_on if subscription.is_fixed else timing.find_next_after
            app.due_queue.add(item, find(app.now()))
        elif not timing.is_due(at):
            app.due_queue.move(item, at, timing.find_first_on(at))


def enqueue_due(app: App, jobs: JobQueue) -> None:
    """Process everything that is due now. What fails (the store, Slack) is tried again by the next tick."""
    now = app.now()
    app.cache.put(LAST_TICK.build_key(), now.isoformat(), LAST_TICK.lifetime)
    due = app.due_queue.list_due(now)
    if digests := [(item, at) for item, at in due if isinstance(item, NextDigest)]:
        _process_digests(app, _select_ready(app, digests), jobs)
    for item, at in due:
        with _isolate_errors(item):
            if isinstance(item, DigestRepair):
                _enqueue_repair(app, item, at, jobs)
            elif isinstance(item, OutcomeCheck) and app.due_queue.move(item, at, now + CHECK_INTERVAL):
                watch_repository.send_to(jobs, item.name)
            elif isinstance(item, ProfileRefresh) and app.due_queue.move(item, at, now + DAY):
                refresh_profile.send_to(jobs, item.name)
    if any(isinstance(item, IncidentReport | ReportUpdate) for item, _ in due):
        notify_people(app)


def _enqueue_repair(app: App, item: DigestRepair, at: datetime, jobs: JobQueue) -> None:
    record = app.digest_records.store.load(item.name)
    if record.repair_attempts >= len(REPAIR_PAUSES):
        app.due_queue.drop(item)
    elif app.due_queue.move(item, at, app.now() + REPAIR_PAUSES[record.repair_attempts]):
        counted = replace(record, repair_attempts=record.repair_attempts + 1)
        app.digest_records.store.save(item.name, record, counted)
        repair_digest.send_to(jobs, item.name)


def _select_ready(app: App, due: Sequence[tuple[NextDigest, datetime]]) -> list[_DueDigest]:
    subscriptions = get_subscriptions(app, [item.name for item, _ in due])
    ready = []
    for item, at in due:
        with _isolate_errors(item):
            subscription = subscriptions.get(item.name)
            if item.name not in subscriptions or (subscription and subscription.is_paused):
                app.due_queue.drop(item)
            elif subscription is None:
                log.error("the subscription %s is left to a version that can read it", item.name)
            elif not subscription.timing.is_due(at):
                # the rules of the zone have changed since the digest was planned
                app.due_queue.move(item, at, subscription.timing.find_first_on(at))
            else:
                ready.append((item, at, subscription, subscription.build_digest_spec(at)))
    digests = app.digest_records.find_digests([spec for *_, spec in ready])
    return [_DueDigest(*each[:3], digest) for each, digest in zip(ready, digests, strict=True)]


def _process_digests(app: App, ready: Sequence[_DueDigest], jobs: JobQueue) -> None:
    app.due_queue.move_all(
        [
            (each.item, each.due_at, each.subscription.timing.find_next_after(each.due_at))
            for each in ready
            if each.digest.record.is_posted
        ]
    )
    now, hours = app.now(), timedelta(hours=app.settings.prdigest_catch_up_hours)
    for each in ready:
        with _isolate_errors(each.item):
            # a week is not lost by an outage of a day: nothing else tells of it until the next one is due
            following = each.subscription.timing.find_next_after(each.due_at) - each.due_at
            window = max(hours, following) if each.subscription.is_weekly else hours
            key, record = each.digest.key, each.digest.record
            if record.is_posted:
                # a user without budget requested it before its time: it is repaired at the cost of the bot
                if record.payer and record.gaps:
                    app.digest_records.store.save(key, record, replace(record, payer="", repair_attempts=0))
                    app.due_queue.put(DigestRepair(key), now)
            elif record.is_abandoned or now - each.due_at > window:
                _skip_digest(app, each, window)
            else:
                _enqueue_digest(app, each, window, jobs)


def _enqueue_digest(app: App, due: _DueDigest, window: timedelta, jobs: JobQueue) -> None:
    """Enqueue a digest if its next attempt is due, and report one that is late."""
    # what a person has to fix is reported at once; everything else has some time to recover. That counts from when
    # the digest was first sent: a bot that has just been started is not late at once.
    now, record, name, due_at = app.now(), due.digest.record, due.item.name, due.due_at.isoformat()
    sent_key = build_attempt_key(name, due_at)
    if (record.retry_at is None or now >= record.retry_at) and app.cache.add(
        build_attempt_key(name, due_at, str(record.attempts)), "1", _RESEND_INTERVAL
    ):
        app.cache.add(sent_key, now.isoformat(), window)
        deliver_digest.send_to(jobs, name, due.due_at)
    is_late = False
    if now - due.due_at >= LATE_AFTER:
        is_late = now - datetime.fromisoformat(app.cache.get(sent_key) or due_at) >= LATE_AFTER
    if is_late or (record.error and record.must_be_fixed_by_person):
        reason = record.error or "no worker has finished it: check that one is running, prdigest doctor says more"
        retry = record.retry_at or now + _RESEND_INTERVAL
        _report(app, due.subscription, due.digest, IncidentKind.MISSING, reason, retry)


def _skip_digest(app: App, due: _DueDigest, window: timedelta) -> None:
    """Report a digest that will not come, plan the next possible one, and record the days that it skips."""
    subscription, spec, record = due.subscription, due.digest.spec, due.digest.record
    timing = subscription.timing
    after = timing.find_next_after(max(due.due_at, app.now() - window))
    days = replace(spec.span, last=timing.get_covered_days(after).first - DAY)
    missed, following = app.digest_records.find_digests(
        [replace(spec, span=days), subscription.build_digest_spec(after)]
    )
    earlier = record.parse_skipped_days(days.zone)
    unposted = replace(days, first=earlier.first) if earlier else days
    reason = record.error or "the bot was not running at its time"
    is_closed = record.must_be_fixed_by_person and not subscription.is_fixed
    if is_closed:
        reason += "; I paused it: /prdigest resume continues it"
    _report(app, subscription, missed, IncidentKind.SKIPPED, reason, None)
    told = replace(following.record, skipped_days=str(unposted))
    app.digest_records.store.save(following.key, following.record, told)
    if is_closed:
        # after the report: a paused subscription is not processed again
        put_subscription(app, replace(subscription, is_paused=True))
    if app.due_queue.move(due.item, due.due_at, after):
        record_run(app, missed.key, RunOutcome.SKIPPED, reason)


def _report(
    app: App,
    subscription: Subscription,
    digest: TrackedDigest,
    kind: IncidentKind,
    reason: str,
    retry: datetime | None,
) -> None:
    title, channel = digest.spec.title, subscription.channel
    report_incident(app, Incident(digest.key, kind, title, reason, app.now(), retry, channel, subscription.by))


@contextmanager
def _isolate_errors(item: DueItem[Any]) -> Iterator[None]:
    """Log an item that fails, so that it does not stop all others from being posted."""
    try:
        yield
    except PrdigestError:
        raise
    except Exception:
        log.exception("%r is on the agenda and can't be looked at", item)
