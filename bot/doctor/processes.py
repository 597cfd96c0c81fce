"""Checks of what makes digests come on time: the machines' clocks, the clock process, the workers, the queues."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from bot.app import App
from bot.features.subscriptions.tables import RUN_LOG
from bot.jobs.lost_jobs import LostJobs
from bot.platform.dramatiq.lost_job import LostJob
from bot.platform.finding import Finding
from bot.platform.store.keys import LAST_TICK
from bot.platform.store.server import count_waiting_jobs, read_heartbeats
from bot.text import format_duration

TIME, CLOCK, WORKER, JOBS = "Time of this machine", "Clock process", "Worker", "Jobs"
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
_START_CLOCK_ADVICE = "Start `prdigest clock` or `prdigest run`."
_NOT_STARTED = "not running (never started)"


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


def check_processes(app: App) -> Iterator[Finding]:
    """Check the clock process by its ticks, the workers by their heartbeats, and the jobs that wait.

    Before the first start nothing is wrong with them, so that this can be checked before it.
    """
    now = app.now()
    tick, heartbeats = app.cache.get(LAST_TICK.build_key()), read_heartbeats(app.store, app.keyspace)
    if not (tick or heartbeats or app.tables.list_recent(RUN_LOG, 1)):
        yield from (Finding.build_note(name, _NOT_STARTED) for name in (CLOCK, WORKER))
        yield _check_jobs(count_waiting_jobs(app.store, app.keyspace), is_alive=False)
    else:
        yield _check_clock(tick, now)
        is_alive = _has_new_heartbeat(app, heartbeats)
        yield _check_worker(heartbeats, now, is_alive=is_alive)
        yield _check_jobs(count_waiting_jobs(app.store, app.keyspace), is_alive=is_alive)
    yield from _list_lost_jobs(LostJobs(app.store, app.keyspace).list_recent(now))


def _check_clock(stored: str | None, now: datetime) -> Finding:
    """Return the finding about the clock process; ``stored`` is the text of its last tick."""
    last_tick = _parse_instant(stored)
    if last_tick is None:
        return Finding.build_failure(CLOCK, "not running in the last day", _START_CLOCK_ADVICE)
    age = f"last ticked {format_duration(now - last_tick)} ago"
    return (
        Finding.build_success(CLOCK, age)
        if now - last_tick <= _MAX_TICK_AGE
        else Finding.build_failure(CLOCK, age, _START_CLOCK_ADVICE)
    )


def _parse_instant(stored: str | None) -> datetime | None:
    """Return the stored time, in UTC if it has no zone; None if there is none or it is unreadable."""
    try:
        instant = datetime.fromisoformat(stored) if stored else None
    except ValueError:
        return None
    return instant.replace(tzinfo=instant.tzinfo or UTC) if instant else None


def _has_new_heartbeat(app: App, before: Mapping[str, datetime]) -> bool:
    """Return whether a worker leaves a heartbeat during this check.

    The age of the last heartbeat would not tell: enqueuing a job leaves one too, and machines' clocks differ.
    """
    for _ in range(_HEARTBEAT_POLLS):
        app.sleep(_POLL_INTERVAL)
        heartbeats = read_heartbeats(app.store, app.keyspace)
        if any(beat > before.get(name, beat) for name, beat in heartbeats.items()):
            return True
    return False


def _check_worker(heartbeats: Mapping[str, datetime], now: datetime, *, is_alive: bool) -> Finding:
    """Return the finding about the workers."""
    if is_alive:
        return Finding.build_success(WORKER, "running")
    last = f"last seen {format_duration(now - max(heartbeats.values()))} ago" if heartbeats else "never started"
    return Finding.build_failure(WORKER, f"not running ({last})", "Start `prdigest worker` or `prdigest run`.")


def _check_jobs(waiting: Mapping[str, int], *, is_alive: bool) -> Finding:
    """Return the finding about the jobs that wait, by queue."""
    total = sum(waiting.values())
    if not total:
        return Finding.build_success(JOBS, "none waiting")
    backlog = f"{total:,} waiting ({', '.join(f'{queue} {count:,}' for queue, count in waiting.items() if count)})"
    if not is_alive:
        return Finding.build_failure(JOBS, backlog, "Start `prdigest worker` or `prdigest run` to run them.")
    if total > _MANY_JOBS:
        return Finding.build_failure(JOBS, backlog, "Start more workers, or raise PRDIGEST_WORKER_THREADS.")
    return Finding.build_note(JOBS, backlog)


def _list_lost_jobs(jobs: Sequence[LostJob]) -> Iterator[Finding]:
    """Yield the jobs that were set aside, as notes, since nothing has to be done; nothing if there are none."""
    for job in jobs[:_MAX_SHOWN]:
        asker = f", asked by {job.user} in {job.channel or 'App Home'}" if job.user else ""
        problem = f"{job.title}, {job.at:%Y-%m-%d %H:%M} UTC{asker}: it crashed three times"
        yield Finding.build_note(LOST_JOB, problem, _LOST_JOB_ADVICE if job is jobs[0] else "")
    if len(jobs) > _MAX_SHOWN:
        yield Finding.build_note(LOST_JOB, f"and {len(jobs) - _MAX_SHOWN} more")
