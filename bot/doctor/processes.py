"""Checks of what makes digests come on time: clocks, the processes, their queues, and how the last runs ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from bot.app import App
from bot.dates import parse_exact_span
from bot.features.subscriptions.rules import Run, RunOutcome, Subscription
from bot.features.subscriptions.tables import RUN_LOG
from bot.jobs.lost_jobs import LostJobs
from bot.platform.finding import CheckStatus, Finding
from bot.platform.store.due_queue import NextDigest
from bot.platform.store.keys import LAST_TICK, DigestKeyParts, parse_digest_key
from bot.platform.store.server import count_waiting_jobs, read_heartbeats
from bot.text import format_count, format_duration

TIME, CLOCK, WORKER, JOBS = "Time of this machine", "Clock process", "Worker", "Jobs"
SCHEDULE, RUNS = "Schedule", "Runs"
LOST_JOB = "Failed job"
_MAX_SHOWN = 5
_LOST_JOB_ADVICE = (
    "Check why the workers crashed around that time: the job is not run again, and this list drops it after "
    "a week."
)
# Slack refuses requests whose time is more than five minutes off; a minute is more than ordinary drift
_MAX_CLOCK_SKEW = timedelta(seconds=60)
# the clock ticks every minute
_MAX_TICK_AGE = timedelta(minutes=3)
_MANY_JOBS = 1_000
# a worker leaves a heartbeat on each of its queues at least every 1.2 s
_HEARTBEAT_POLLS, _POLL_INTERVAL = 15, 0.1
# twice the time after which people are notified
_OVERDUE_AFTER = timedelta(minutes=30)


def check_clock_skew(ahead: Mapping[str, timedelta | None]) -> Iterator[Finding]:
    """Check how far other clocks are ahead of this machine's; ``ahead`` maps their owners to that time."""
    skews = {owner: skew for owner, skew in ahead.items() if skew is not None}
    if "Slack" in skews:
        # one external clock is enough, and Slack is the service that refuses requests
        skews.pop("GitHub", None)
    if not skews:
        yield Finding.build_unchecked(TIME, "no other clock to compare with")
    for owner, skew in skews.items():
        name = f"{TIME} against {owner}"
        if abs(skew) <= _MAX_CLOCK_SKEW:
            yield Finding.build_success(name, f"{format_duration(abs(skew))} apart")
            continue
        problem = f"{format_duration(abs(skew))} {'behind' if skew > timedelta() else 'ahead'}"
        advice = "Set this machine's clock by NTP: the bot rejects Slack's signatures if it is five minutes off."
        if owner == "the store":
            machines = "this machine and of the store's machine"
            advice = f"Set the clocks of {machines} by NTP: expiry and waiting times depend on both."
        yield Finding.build_failure(name, problem, advice)


def check_processes(app: App, subscriptions: Sequence[Subscription]) -> Iterator[Finding]:
    """Check the clock process by its ticks, the workers by their heartbeats, and the jobs that wait.

    Before the first start nothing is wrong with them, so that this can be checked before it. Nor is there where
    `prdigest digest` alone has run: only subscriptions that people made need a clock.
    """
    now = app.now()
    tick, heartbeats = app.cache.get(LAST_TICK.build_key()), read_heartbeats(app.store, app.keyspace)
    if not (tick or heartbeats or any(not each.is_fixed and not each.is_paused for each in subscriptions)):
        yield from (Finding.build_note(name, "not running (never started)") for name in (CLOCK, WORKER))
        is_alive = False
    else:
        yield _check_clock(tick, now)
        is_alive = _has_new_heartbeat(app, heartbeats)
        if is_alive:
            yield Finding.build_success(WORKER, "running")
        else:
            last = max(heartbeats.values(), default=None)
            seen = f"last seen {format_duration(now - last)} ago" if last else "never started"
            advice = "Start `prdigest worker` or `prdigest run`."
            yield Finding.build_failure(WORKER, f"not running ({seen})", advice)
    yield _check_jobs(count_waiting_jobs(app.store, app.keyspace), is_alive=is_alive)
    lost = LostJobs(app.store, app.keyspace).list_recent(now)
    for job in lost[:_MAX_SHOWN]:
        # a note, since nothing has to be done
        asker = f", asked by {job.user} in {job.channel or 'App Home'}" if job.user else ""
        problem = f"{job.title}, {job.at:%Y-%m-%d %H:%M} UTC{asker}: it crashed three times"
        yield Finding.build_note(LOST_JOB, problem, _LOST_JOB_ADVICE if job is lost[0] else "")
    if len(lost) > _MAX_SHOWN:
        yield Finding.build_note(LOST_JOB, f"and {len(lost) - _MAX_SHOWN} more")


def _check_clock(stored: str | None, now: datetime) -> Finding:
    """Return the finding about the clock by its last tick; the store may have none, or an unreadable one."""
    advice = "Start `prdigest clock` or `prdigest run`."
    try:
        last_tick = datetime.fromisoformat(stored or "")
    except ValueError:
        return Finding.build_failure(CLOCK, "not running in the last day", advice)
    since = now - last_tick.replace(tzinfo=last_tick.tzinfo or UTC)
    age = f"last ticked {format_duration(since)} ago"
    if since <= _MAX_TICK_AGE:
        return Finding.build_success(CLOCK, age)
    return Finding.build_failure(CLOCK, age, advice)


def _has_new_heartbeat(app: App, before: Mapping[str, datetime]) -> bool:
    """Return whether a worker leaves a heartbeat during this check."""
    # the age of the last heartbeat would not tell: enqueuing a job leaves one too, and machines' clocks differ
    for _ in range(_HEARTBEAT_POLLS):
        app.sleep(_POLL_INTERVAL)
        heartbeats = read_heartbeats(app.store, app.keyspace)
        if any(beat > before.get(name, beat) for name, beat in heartbeats.items()):
            return True
    return False


def _check_jobs(waiting: Mapping[str, int], *, is_alive: bool) -> Finding:
    total = sum(waiting.values())
    if not total:
        return Finding.build_success(JOBS, "none waiting")
    backlog = f"{total:,} waiting ({', '.join(f'{queue} {count:,}' for queue, count in waiting.items() if count)})"
    if not is_alive:
        return Finding.build_failure(JOBS, backlog, "Start `prdigest worker` or `prdigest run` to run them.")
    if total > _MANY_JOBS:
        return Finding.build_failure(JOBS, backlog, "Start more workers, or raise PRDIGEST_WORKER_THREADS.")
    return Finding.build_note(JOBS, backlog)


# --- runs


def check_runs(app: App, subscriptions: Sequence[Subscription]) -> Iterator[Finding]:
    """Check the last runs, the last failure of each subscription, and what is overdue or comes next."""
    zone = app.settings.prdigest_timezone
    runs = app.tables.list_recent(RUN_LOG, RUN_LOG.length)
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
        # of older ones, the failures that still count
        if number < _MAX_SHOWN or finding.status is CheckStatus.FAILED:
            yield finding
    yield from _check_schedule(app, subscriptions, zone)


def _check_run(run: Run, digest: DigestKeyParts | None, zone: ZoneInfo, own: ZoneInfo | None) -> Finding:
    """Return the finding about a run; ``own`` is the zone of its subscription if a failure still counts."""
    name = f"Run of {run.at.astimezone(zone):%Y-%m-%d %H:%M %Z}"
    what = f"{digest.repository} of {digest.days} for {digest.channel}" if digest else run.key
    summary = f"{what}: {run.outcome}{', ' if run.detail else ''}{run.detail}"
    if run.outcome in (RunOutcome.POSTED, RunOutcome.MENDED):
        return Finding.build_success(name, summary)
    if run.outcome is not RunOutcome.FAILED or digest is None or own is None:
        return Finding.build_note(name, summary)
    advice = "Fix the problem: the bot tries again every 15 minutes"
    if digest.view or ".." in digest.days:
        return Finding.build_failure(name, summary, f"{advice}.")
    where = f"--repo {digest.repository} --date {digest.days} --timezone {own} --channel {digest.channel}"
    return Finding.build_failure(name, summary, f"{advice}, or at once with `prdigest digest {where}`.")


def _check_schedule(app: App, subscriptions: Sequence[Subscription], zone: ZoneInfo) -> Iterator[Finding]:
    active = {each.id: each for each in subscriptions if not each.is_paused}
    overdue = [
        (active[item.name], due)
        for item, due in app.due_queue.list_due(app.now() - _OVERDUE_AFTER)
        if isinstance(item, NextDigest) and item.name in active
    ]
    for subscription, due in overdue:
        was_due = f"{due.astimezone(zone):%Y-%m-%d %H:%M %Z}"
        problem = f"the digest of {subscription.repository} for {subscription.channel} was due at {was_due}"
        advice = "Check the clock, the worker and the runs above: the bot posts it as soon as it can."
        yield Finding.build_failure(SCHEDULE, problem, advice)
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
