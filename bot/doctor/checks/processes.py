"""Checks of what makes digests come on time: the machines' clocks, the clock process, the workers, the queues."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from bot.domain.keyspace.keys import LAST_TICK
from bot.domain.operations.finding import Finding
from bot.domain.operations.lost_job import LostJob
from bot.ports.probes import StoreProbe, StoreRecords

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
        yield Finding.build_failure(name, problem, _advise_on_skew(owner))


def _advise_on_skew(owner: str) -> str:
    """Return what to do about a clock that differs from that of ``owner``."""
    if owner == "the store":
        return (
            "Set the clocks of this machine and of the store's machine by NTP: expiry and waiting times "
            "depend on both."
        )
    return "Set this machine's clock by NTP: the bot rejects Slack's signatures if it is five minutes off."


def check_processes(
    records: StoreRecords | str, now: Callable[[], datetime], sleep: Callable[[float], None]
) -> Iterator[Finding]:
    """Check the clock process, the workers and the jobs that wait for them.

    Before the first start nothing is wrong with them, so that this can be checked before it.
    """
    if isinstance(records, str):
        yield from (Finding.build_unchecked(name, records) for name in (CLOCK, WORKER, JOBS))
        return
    yield from _check_beats(records, now(), sleep)
    yield from _list_lost_jobs(records.lost_jobs.list_recent(now()))


def _check_beats(records: StoreRecords, now: datetime, sleep: Callable[[float], None]) -> Iterator[Finding]:
    """Check the clock process by its ticks, the workers by their heartbeats, and the jobs that wait."""
    tick, heartbeats = records.cache.get(LAST_TICK.build_key()), records.probe.read_heartbeats()
    if not (tick or heartbeats or records.run_log.list_recent(1)):
        yield from (Finding.build_note(name, _NOT_STARTED) for name in (CLOCK, WORKER))
        yield _check_jobs(records.probe.count_waiting_jobs(), is_alive=False)
        return
    yield _check_clock(tick, now)
    is_alive = _has_new_heartbeat(records.probe, heartbeats, sleep)
    waiting = records.probe.count_waiting_jobs()
    yield _check_worker(heartbeats, now, is_alive=is_alive, waits=sum(waiting.values()))
    yield _check_jobs(waiting, is_alive=is_alive)


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


def _has_new_heartbeat(probe: StoreProbe, before: Mapping[str, datetime], sleep: Callable[[float], None]) -> bool:
    """Return whether a worker leaves a heartbeat during this check.

    The age of the last heartbeat would not tell: enqueuing a job leaves one too, and machines' clocks differ.
    """
    for _ in range(_HEARTBEAT_POLLS):
        sleep(_POLL_INTERVAL)
        if any(beat > before.get(name, beat) for name, beat in probe.read_heartbeats().items()):
            return True
    return False


def _check_worker(heartbeats: Mapping[str, datetime], now: datetime, *, is_alive: bool, waits: int) -> Finding:
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


def format_duration(time: timedelta) -> str:
    """Format a duration for people: ``40 s``, ``5 min``, ``3 h``, ``2 days``."""
    seconds = max(0, round(time.total_seconds()))
    for size, unit in ((86_400, "days"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
