"""Checks what makes digests come on time: the machines' clocks, the clock process, the workers, the queues."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from bot.domain.keyspace.keys import TICKED
from bot.domain.operations.finding import Finding
from bot.domain.operations.lost_job import LostJob
from bot.ports.probes import Records, StoreProbe

TIME, CLOCK, WORKER, JOBS = "Time of this machine", "Clock process", "Worker", "Jobs"
ASIDE = "Job set aside"
_SHOWN = 5
_LOOK = "See how the workers ended around that time; it is not run again, and forgotten after a week."
# Slack refuses requests whose time is more than five minutes off; a minute is no ordinary drift
_MOST_AHEAD = timedelta(seconds=60)
# the clock ticks every minute
_TICK = timedelta(minutes=3)
_MANY = 1_000
# a worker looks for jobs every 0.2 s, and says each time that it lives
_LOOKS, _PAUSE = 15, 0.1
_START = "Start `prdigest clock` or `prdigest run`."


def time_checks(ahead: Mapping[str, timedelta | None]) -> Iterator[Finding]:
    """How far other clocks are ahead of this machine's, by whose they are."""
    known = {whose: by for whose, by in ahead.items() if by is not None}
    if "Slack" in known:
        # one clock of the world outside is enough, and Slack's is the one that refuses requests
        known.pop("GitHub", None)
    if not known:
        yield Finding.unchecked(TIME, "nobody else told the time")
    for whose, by in known.items():
        name = f"{TIME} against {whose}"
        if abs(by) <= _MOST_AHEAD:
            yield Finding.ok(name, f"{duration(abs(by))} apart")
            continue
        found = f"{duration(abs(by))} {'behind' if by > timedelta() else 'ahead'}"
        yield Finding.failed(name, found, _advice(whose))


def _advice(whose: str) -> str:
    if whose == "the store":
        return "Set the clocks of this machine and of the store's by NTP: what expires and waits goes by both."
    return "Set this machine's clock by NTP: Slack's signatures are refused when it is five minutes off."


def process_checks(
    records: Records | str, now: Callable[[], datetime], sleep: Callable[[float], None]
) -> Iterator[Finding]:
    """The clock process, the workers and what waits for them."""
    if isinstance(records, str):
        yield from (Finding.unchecked(name, records) for name in (CLOCK, WORKER, JOBS))
        return
    yield _clock(records.cache.get(TICKED.key()), now())
    heard = records.probe.heartbeats()
    is_alive = _beats(records.probe, heard, sleep)
    waiting = records.probe.waiting()
    yield _worker(heard, now(), is_alive=is_alive, waits=sum(waiting.values()))
    yield _jobs(waiting, is_alive=is_alive)
    yield from _aside(records.aside.recent(now()))


def _clock(kept: str | None, now: datetime) -> Finding:
    ticked = _instant(kept)
    if ticked is None:
        return Finding.failed(CLOCK, "no clock has run in the last day", _START)
    found = f"last ticked {duration(now - ticked)} ago"
    return Finding.ok(CLOCK, found) if now - ticked <= _TICK else Finding.failed(CLOCK, found, _START)


def _instant(kept: str | None) -> datetime | None:
    try:
        found = datetime.fromisoformat(kept) if kept else None
    except ValueError:
        return None
    return found.replace(tzinfo=found.tzinfo or UTC) if found else None


def _beats(probe: StoreProbe, before: Mapping[str, datetime], sleep: Callable[[float], None]) -> bool:
    """Whether a heart beats while we look.

    How old the last beat is would not do: who puts a job on a queue leaves one too, and machines' clocks differ.
    """
    for _ in range(_LOOKS):
        sleep(_PAUSE)
        if any(beat > before.get(name, beat) for name, beat in probe.heartbeats().items()):
            return True
    return False


def _worker(heard: Mapping[str, datetime], now: datetime, *, is_alive: bool, waits: int) -> Finding:
    if is_alive:
        return Finding.ok(WORKER, "alive")
    last = f"last heard of {duration(now - max(heard.values()))} ago" if heard else "never heard of one"
    return Finding.failed(WORKER, f"none is alive, {last}", "Start `prdigest worker` or `prdigest run`.")


def _jobs(waiting: Mapping[str, int], *, is_alive: bool) -> Finding:
    total = sum(waiting.values())
    if not total:
        return Finding.ok(JOBS, "none waits")
    found = f"{total:,} waiting ({', '.join(f'{queue} {count:,}' for queue, count in waiting.items() if count)})"
    if not is_alive:
        return Finding.failed(JOBS, found, "Start `prdigest worker` or `prdigest run`: it takes them up.")
    if total > _MANY:
        return Finding.failed(JOBS, found, "Start further workers, or raise PRDIGEST_WORKER_THREADS.")
    return Finding.note(JOBS, found)


def _aside(jobs: Sequence[LostJob]) -> Iterator[Finding]:
    """Nothing where there are none, as ever: what was set aside needs no more than a look."""
    for job in jobs[:_SHOWN]:
        whose = f", asked by {job.user} in {job.channel or 'App Home'}" if job.user else ""
        found = f"{job.title}, {job.at:%Y-%m-%d %H:%M} UTC{whose}: it began three times and never ended"
        yield Finding.note(ASIDE, found, _LOOK if job is jobs[0] else "")
    if len(jobs) > _SHOWN:
        yield Finding.note(ASIDE, f"and {len(jobs) - _SHOWN} more")


def duration(time: timedelta) -> str:
    """As people say it: ``40 s``, ``5 min``, ``3 h``, ``2 days``."""
    seconds = max(0, round(time.total_seconds()))
    for size, unit in ((86_400, "days"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
