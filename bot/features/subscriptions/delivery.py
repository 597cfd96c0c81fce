"""Posting of digests that are due, and the repair of those with gaps; each result is recorded for the schedule."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

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
from bot.features.digest.posts import PostingResult
from bot.features.digest.rules import DigestSpec
from bot.features.digest.tables import PostedDigest, TrackedDigest
from bot.features.digest.view import RenderedDigest, describe_skipped_days
from bot.features.subscriptions.incidents import (
    Incident,
    IncidentKind,
    abandon_incident,
    report_incident,
    resolve_incident,
)
from bot.features.subscriptions.rules import RunOutcome
from bot.features.subscriptions.service import refresh_time_zone
from bot.features.subscriptions.tables import get_subscription, record_run
from bot.platform.costs import OPERATOR, Expense, WorkKind, bill_to, get_account, tally_costs
from bot.platform.jobs import JobRetries, QueueName, job
from bot.platform.store.due_queue import DigestRepair, NextDigest
from bot.platform.store.spending import to_microdollars

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
    if digest.spec.view.profile and digest.spec.channel.startswith("D"):
        # the reader of a personal digest may have become a guest since
        app = app.serve(app.directory.fetch_channel(digest.spec.channel).user)
    return app.compose_digest(digest.spec, notes)


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
