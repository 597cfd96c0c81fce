"""The schedule of digests. It has no state of its own: the due queue says what to do, the records what was done.

Missed ticks, restarts, several clocks or a wrong one change nothing: a digest stays due until its record says
that it is posted, or until it is too late to be of use.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from bot.app import App
from bot.errors import (
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
from bot.features.digest import posts
from bot.features.digest.posts import PostedDigest, PostingResult, TrackedDigest, check_repository
from bot.features.digest.rules import DigestSpec
from bot.features.digest.view import RenderedDigest, describe_skipped_days
from bot.features.profiles.others import list_downstreams
from bot.features.subscriptions.announcements import RETRY_PAUSE, announce_tags, post_release
from bot.features.subscriptions.incidents import (
    Incident,
    IncidentKind,
    abandon_incident,
    notify_people,
    report_incident,
    resolve_incident,
)
from bot.features.subscriptions.open_pulls import enqueue_open_pulls
from bot.features.subscriptions.rules import DAY, RunOutcome, Subscription
from bot.features.subscriptions.service import refresh_time_zone
from bot.features.subscriptions.tables import (
    get_subscription,
    get_subscriptions,
    list_subscriptions,
    put_subscription,
    record_run,
)
from bot.features.touches import tasks
from bot.features.touches.decisions import list_closed
from bot.features.touches.others import read_others
from bot.platform.costs import OPERATOR, Expense, WorkKind, bill_to, get_account, tally_costs
from bot.platform.jobs import MINUTE, JobQueue, JobRetries, QueueName, job
from bot.platform.store.due_queue import (
    CHECK_INTERVAL,
    DigestRepair,
    DueItem,
    IncidentReport,
    NextDigest,
    OpenPullsPost,
    OutcomeCheck,
    ProfileRefresh,
    ReleasePost,
    ReportUpdate,
)
from bot.platform.store.keys import LAST_TICK, build_attempt_key
from bot.platform.store.spending import to_microdollars
from impact.repository import Repository

# --- delivery

log = logging.getLogger(__name__)

# errors that only a person can fix
_OPERATOR_ERRORS = (SlackCallRefused, GitHubAccessDenied, RepositoryNotFound, ConfigurationError)
_RETRY_PAUSES = tuple(timedelta(minutes=minutes) for minutes in (1, 2, 5, 10, 15))
FIRST_REPAIR_DELAY = timedelta(minutes=5)
# most outages are over within minutes, and GitHub's search index is complete within the hour; the last pause is
# the time in which the last attempt has to end
REPAIR_PAUSES = (timedelta(minutes=30), timedelta(hours=2), timedelta(hours=6), timedelta(hours=1))
# a week: Sundays differ from Mondays
_COMPARED_DAYS, _MIN_COMPARED_DAYS = 7, 3


# the schedule enqueues failed jobs again; retries here are for an unavailable store only
@job("deliver", QueueName.LONG, JobRetries(20))
def deliver_digest(app: App, name: str, due: datetime) -> None:
    """Post the digest of a subscription that was due at an instant (aware), if it still is, or finish it.

    Failures are recorded with the time of the next attempt, at which the schedule enqueues the job again.
    Raises StoreUnavailable if nothing could be recorded.
    """
    _deliver(app, name, due)
    refresh_time_zone(app, name)


def _deliver(app: App, name: str, due: datetime) -> None:
    subscription = get_subscription(app, name)
    if subscription is None or subscription.is_paused:
        return
    digest, item = app.digest_records.find_digest(subscription.build_digest_spec(due)), NextDigest(name)
    title = digest.spec.title
    if app.due_queue.get_time(item) != due and not digest.record.lead:
        log.info("%s is planned for another time, or was skipped", title)
        return
    try:
        result = _post(app, digest, partial(_compose, app, digest))
    except StoreUnavailable:
        raise
    except PostingInProgress as error:
        log.info("%s: %s", title, error)
    except PrdigestError as error:
        log.warning("%s is not posted yet: %s", title, error)
        _record_failure(app, digest.key, error, str(error))
    except Exception as error:
        log.exception("%s is not posted", title)
        _record_failure(app, digest.key, error, "a bug: see the worker's log")
    else:
        if missing := _list_missing(app, digest.spec, result):
            _report_gaps(app, digest, result, "; ".join(missing), subscription.by)
        # a change of the zone from now on begins with the next day, not with this one in the other zone
        app.due_queue.move(item, due, subscription.timing.find_next_after(due))


def post_digest(app: App, spec: DigestSpec, build: Callable[[], RenderedDigest] | None = None) -> PostingResult:
    """Post a digest once, and schedule its repair if it has gaps; ``build`` renders it for the first attempt."""
    digest = app.digest_records.find_digest(spec)
    return _post(app, digest, build or partial(_compose, app, digest))


def _post(app: App, digest: TrackedDigest, build: Callable[[], RenderedDigest]) -> PostingResult:
    with tally_costs() as account:
        try:
            result = posts.post_digest(app, digest, build)
        except PrdigestError:
            _keep_expense(app, digest.key, account.expense)
            raise
    log.info("%s: %s", digest.spec.title, result.record.permalink)
    if result.record.spec_json:
        return result
    # the consequences of a post, once: an attempt that dies before the last line recorded nothing, and the next
    # one does all of this
    app.budget.add_work(WorkKind.DIGEST, account.expense)
    record_run(app, digest.key, RunOutcome.POSTED, "; ".join([*result.record.gaps, *result.notes]))
    if result.record.gaps:
        app.due_queue.add(DigestRepair(digest.key), app.now() + FIRST_REPAIR_DELAY)
    resolve_incident(app, digest.key, IncidentKind.MISSING, f"posted after all, {result.record.permalink}")
    payer = get_account().payer
    # later repairs are made by the bot, also where a user's command posted the digest
    paid = replace(_add_expense(result.record, account.expense), payer="" if payer == OPERATOR else payer)
    record = app.digest_records.store.save(digest.key, result.record, paid.keep_spec(digest.spec))
    return replace(result, record=record)


@job("mend", QueueName.LONG, JobRetries(20))
def repair_digest(app: App, key: str) -> None:
    """Build a digest that was posted with gaps again, and edit it. The due queue has the next attempt."""
    digest = app.digest_records.load_digest(key)
    if digest is None:
        app.due_queue.drop(DigestRepair(key))
        return
    try:
        # the user who requested the digest pays for its repair too, or requests would evade their budget
        with bill_to(digest.record.payer) as account:
            result = posts.revise_digest(app, digest, partial(_compose, app, digest))
        _keep_expense(app, key, account.expense)
    except StoreUnavailable:
        raise
    except PrdigestError as error:
        log.warning("%s is not mended yet: %s", digest.spec.title, error)
    except Exception:
        log.exception("%s is not mended", digest.spec.title)
    else:
        if not _list_missing(app, digest.spec, result):
            app.due_queue.drop(DigestRepair(key))
            record_run(app, key, RunOutcome.MENDED)
            resolve_incident(app, key, IncidentKind.INCOMPLETE, f"complete now, {result.record.permalink}")
            return
    if digest.record.repair_attempts >= len(REPAIR_PAUSES):
        abandon_incident(app, key, IncidentKind.INCOMPLETE)


def _keep_expense(app: App, key: str, expense: Expense) -> None:
    """Add to a digest what an attempt that failed took, or a repair. Without the store it is left out."""
    if expense.tokens:
        app.budget.add_work(WorkKind.DIGEST, expense, 0)
        with suppress(StoreUnavailable):
            record = app.digest_records.store.load(key)
            app.digest_records.store.save(key, record, _add_expense(record, expense))


def _add_expense(record: PostedDigest, expense: Expense) -> PostedDigest:
    dollars = record.microdollars + to_microdollars(expense.dollars)
    return replace(record, tokens=record.tokens + expense.tokens, microdollars=dollars)


def _compose(app: App, digest: TrackedDigest) -> RenderedDigest:
    skipped = digest.record.parse_skipped_days(digest.spec.span.zone)
    notes = [describe_skipped_days(digest.spec.repository, skipped)] if skipped else []
    channel, reader = digest.spec.channel, ""
    if channel.startswith("D"):
        reader = next((each.by for each in list_subscriptions(app, channel) if each.is_personal), "")
        if digest.spec.view.profile or not reader:
            # the reader of a personal digest may have become a guest since
            reader = app.directory.fetch_channel(channel).user
            app = app.serve(reader)
    return app.compose_digest(digest.spec, notes, reader=reader)


def _report_gaps(app: App, digest: TrackedDigest, result: PostingResult, reason: str, subscriber: str) -> None:
    spec, key, repair = digest.spec, digest.key, DigestRepair(digest.key)
    if result.was_posted:
        # a user whose budget was used up may have requested it before its time: the bot completes it
        app.digest_records.store.save(key, result.record, replace(result.record, payer=""))
    app.due_queue.add(repair, app.now() + FIRST_REPAIR_DELAY)
    retry = app.due_queue.get_time(repair)
    report_incident(
        app, Incident(key, IncidentKind.INCOMPLETE, spec.title, reason, app.now(), retry, spec.channel, subscriber)
    )


def _list_missing(app: App, spec: DigestSpec, result: PostingResult) -> tuple[str, ...]:
    """Return the gaps. It is one if nothing was merged, although each of the last digests had merges."""
    if result.record.merged_count != 0:
        return result.record.gaps
    span = spec.span
    shifts = [timedelta(days=days) for days in range(1, _COMPARED_DAYS + 1)]
    earlier = [
        replace(spec, span=replace(span, first=span.first - shift, last=span.last - shift)) for shift in shifts
    ]
    counts = [digest.record.merged_count for digest in app.digest_records.find_digests(earlier)]
    recorded = [merged for merged in counts if merged is not None]
    if len(recorded) < _MIN_COMPARED_DAYS or not all(recorded):
        return result.record.gaps
    return (*result.record.gaps, f"nothing was merged, but each of the last {len(recorded)} digests had merges")


def _record_failure(app: App, key: str, error: Exception, sentence: str) -> None:
    record = app.digest_records.store.load(key)
    if isinstance(error, DayUnavailable):
        failed = replace(record, error=sentence, is_abandoned=True)
    else:
        # first: an attempt that died before its record is repeated, and one line twice is better than none
        if record.error != sentence:
            record_run(app, key, RunOutcome.FAILED, sentence)
        is_for_people = isinstance(error, _OPERATOR_ERRORS)
        pause = _RETRY_PAUSES[-1 if is_for_people else min(record.attempts, len(_RETRY_PAUSES) - 1)]
        if not is_for_people and isinstance(error, PrdigestError):
            # at least as long as a service asks for
            pause = max(pause, timedelta(seconds=get_retry_delay(error) or 0))
        failed = replace(
            record,
            error=sentence,
            retry_at=app.now() + pause,
            must_be_fixed_by_person=is_for_people,
            attempts=record.attempts + 1,
        )
    app.digest_records.store.save(key, record, failed)


# --- what is due

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
    announce_tags(app, repository)


# after a failure, the next scan is a day later; the profile stays as it was
@job("refresh_profile", QueueName.LONG, JobRetries(3, MINUTE))
def refresh_profile(app: App, name: str) -> None:
    """Scan a profile again, and have the digests say which warnings that closes, or opens again."""
    entry = app.profiles.get_entry(name)
    before = list_closed(app, name, entry.upstream) if entry else set()
    if entry and tasks.refresh_profile(app, name):
        changed = before ^ list_closed(app, name, entry.upstream)
        for key in posts.list_digests_with(app, name, entry.upstream, changed):
            posts.amend_digest.send_to(app.jobs, key, app.now())


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
                if list_downstreams(app, item.name):
                    read_others.send_to(jobs, item.name)
            elif isinstance(item, OpenPullsPost):
                enqueue_open_pulls(app, item, at, jobs)
            elif isinstance(item, ProfileRefresh) and app.due_queue.move(item, at, now + DAY):
                refresh_profile.send_to(jobs, item.name)
            elif isinstance(item, ReleasePost) and app.due_queue.move(item, at, now + RETRY_PAUSE):
                post_release.send_to(jobs, item.name)
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
    for each in ready:
        # also where somebody requested the digest before its time
        if each.digest.record.is_posted and each.subscription.has_open_pulls:
            app.due_queue.add(OpenPullsPost(each.item.name), each.due_at)
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
    if due.subscription.has_open_pulls:
        app.due_queue.add(OpenPullsPost(name), due.due_at)
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
