"""Checks of the last runs: how digests ended, and which are overdue."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from zoneinfo import ZoneInfo

from bot.app import App
from bot.dates import parse_exact_span
from bot.features.subscriptions.rules import Subscription
from bot.features.subscriptions.runs import Run, RunOutcome
from bot.features.subscriptions.tables import RUN_LOG
from bot.platform.finding import CheckStatus, Finding
from bot.platform.store.due_queue import NextDigest
from bot.platform.store.keys import DigestKeyParts, parse_digest_key
from bot.text import format_count

SCHEDULE, RUNS = "Schedule", "Runs"
_MAX_SHOWN = 5
# twice the time after which people are notified
_OVERDUE_AFTER = timedelta(minutes=30)
_RETRY_ADVICE = "Fix the problem: the bot tries again every 15 minutes"
_OVERDUE_ADVICE = "Check the clock, the worker and the runs above: the bot posts it as soon as it can."


def check_runs(app: App, subscriptions: Sequence[Subscription]) -> Iterator[Finding]:
    """Check the last runs, the last failure of each subscription, and what is overdue or comes next."""
    zone = app.settings.prdigest_timezone
    yield from _check_recent_runs(app.tables.list_recent(RUN_LOG, RUN_LOG.length), subscriptions, zone)
    yield from _check_schedule(app, subscriptions, zone)


def _check_recent_runs(
    runs: Sequence[Run], subscriptions: Sequence[Subscription], zone: ZoneInfo
) -> Iterator[Finding]:
    """Yield the last runs and, of older ones, the failures that still count."""
    if not runs:
        yield Finding.build_note(RUNS, "none yet: no digest was due")
    zones = {
        (each.channel, str(each.repository), each.view.fingerprint): each.timing.zone
        for each in subscriptions
        if not each.is_paused
    }
    seen: set[tuple[str, str, str]] = set()
    for number, run in enumerate(runs):
        digest = parse_digest_key(run.key)
        # of the subscription that it belongs to, if this is the last run of that: only then does a failure count
        own = None
        if digest and (series := (digest.channel, digest.repository, digest.view)) not in seen:
            own = zones.get(series)
            # people may request the days of other zones
            if own and digest.offsets == parse_exact_span(digest.days, own).utc_offsets:
                seen.add(series)
            else:
                own = None
        finding = _check_run(run, digest, zone, own)
        if number < _MAX_SHOWN or finding.status is CheckStatus.FAILED:
            yield finding


def _check_run(run: Run, digest: DigestKeyParts | None, zone: ZoneInfo, own: ZoneInfo | None) -> Finding:
    """Return the finding about a run; ``own`` is the zone of its subscription if a failure still counts."""
    name = f"Run of {run.at.astimezone(zone):%Y-%m-%d %H:%M %Z}"
    what = f"{digest.repository} of {digest.days} for {digest.channel}" if digest else run.key
    summary = f"{what}: {run.outcome}{', ' if run.detail else ''}{run.detail}"
    if run.outcome in (RunOutcome.POSTED, RunOutcome.MENDED):
        return Finding.build_success(name, summary)
    if run.outcome is not RunOutcome.FAILED or digest is None or own is None:
        return Finding.build_note(name, summary)
    if digest.view or ".." in digest.days:
        return Finding.build_failure(name, summary, f"{_RETRY_ADVICE}.")
    where = f"--repo {digest.repository} --date {digest.days} --timezone {own} --channel {digest.channel}"
    return Finding.build_failure(name, summary, f"{_RETRY_ADVICE}, or at once with `prdigest digest {where}`.")


def _check_schedule(app: App, subscriptions: Sequence[Subscription], zone: ZoneInfo) -> Iterator[Finding]:
    """Yield the overdue digests or, if there are none, the next one."""
    active = {each.id: each for each in subscriptions if not each.is_paused}
    overdue = [
        (active[item.name], due)
        for item, due in app.due_queue.list_due(app.now() - _OVERDUE_AFTER)
        if isinstance(item, NextDigest) and item.name in active
    ]
    for subscription, due in overdue:
        was_due = f"{due.astimezone(zone):%Y-%m-%d %H:%M %Z}"
        problem = f"the digest of {subscription.repository} for {subscription.channel} was due at {was_due}"
        yield Finding.build_failure(SCHEDULE, problem, _OVERDUE_ADVICE)
    if overdue:
        return
    if not active:
        nothing = "nothing: PRDIGEST_CHANNEL is not set, and there are no subscriptions"
        yield Finding.build_note(SCHEDULE, nothing)
        return
    planned = [(at, each) for name, each in active.items() if (at := app.due_queue.get_time(NextDigest(name)))]
    if not planned:
        yield Finding.build_note(SCHEDULE, "nothing is planned yet: the clock plans digests when it runs")
        return
    next_due, first = min(planned, key=lambda each: each[0])
    when = f"{next_due.astimezone(zone):%Y-%m-%d %H:%M %Z}"
    paused = len(subscriptions) - len(active)
    count = format_count(len(active), "subscription") + (f" and {paused} paused" if paused else "")
    yield Finding.build_success(SCHEDULE, f"{count}, the next is {first.repository} for {first.channel} at {when}")
