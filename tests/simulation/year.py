"""A year in seconds: clocks, a queue and workers around the real schedule, directory, watchdog and store.

Time is a variable. Most ticks are left out, as nothing depends on them:

* A tick that would find nothing on the agenda only writes down that a clock was there.
* In quiet times a clock misses those in which it would meet what another has just put on the queue, as one that is
  down would. One of them by chance goes on some minutes later, or if all was posted, when more is due.

In busy times (the nights on which clocks change, the hours after the outage) none of the second kind is missed,
and four times as much goes wrong: there all clocks meet over digests that are not posted yet.
"""

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from itertools import count
from random import Random
from typing import Any, cast

from redis import Redis

from bot.app import App
from bot.clock import Clock as BotClock
from bot.dates import Span, parse_zone
from bot.features.digest.posts import DigestRecords
from bot.features.digest.rules import DigestSpec
from bot.features.subscriptions.incidents import IncidentKind, resolve_incident
from bot.features.subscriptions.rules import Subscription, Timing
from bot.features.subscriptions.schedule import deliver_digest
from bot.features.subscriptions.tables import get_subscriptions
from bot.platform.jobs import Job
from bot.platform.slack.directory import AccessControl, AccessRules
from bot.platform.store.connection import pack_value
from bot.platform.store.due_queue import DueQueue, NextDigest
from bot.platform.store.keys import DUE_QUEUE
from bot.platform.store.tables import Store
from bot.settings import load_settings
from tests.features.digest.posting import Crash, Fragile, Fuse, MemoryMessenger
from tests.features.subscriptions.subscribers import Everywhere
from tests.helpers.aging_cache import DatedCache
from tests.helpers.apps import make_app
from tests.helpers.builders import REPOSITORY
from tests.helpers.doubles import CountingLimiter
from tests.helpers.records import digest_store

SECOND, MINUTE, HOUR, DAY = (timedelta(seconds=seconds) for seconds in (1, 60, 3_600, 86_400))
START, END = datetime(2025, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)
# two days in which nothing runs; in their night clocks go back from Alaska to Cuba
AWAY, BACK = datetime(2025, 10, 31, 12, 20, tzinfo=UTC), datetime(2025, 11, 2, 12, 20, tzinfo=UTC)
WINDOW = 24 * HOUR
SKEWS = (-40 * SECOND, 0 * SECOND, 70 * SECOND)
TEAM, ADMIN = "T0TEAM", "C0ADMIN"
FIXED = Subscription("C0HOME", REPOSITORY, Timing(dt.time(9), parse_zone("America/Los_Angeles")))

Action = Callable[[], None]
Times = Sequence[tuple[datetime, datetime]]


@dataclass(frozen=True, slots=True)
class Posted:
    """A digest that was posted: of which subscription, due when, its key, of which days, and when."""

    name: str
    due: datetime
    key: str
    span: Span
    at: datetime


@dataclass(frozen=True, slots=True)
class WaitingJob:
    name: str
    due: datetime


@dataclass
class Moment:
    now: datetime = START

    def __call__(self) -> datetime:
        return self.now


@dataclass
class Queue:
    """``JobQueue`` whose digests wait until they are taken; nothing else is done."""

    jobs: list[WaitingJob] = field(default_factory=list)

    def send(self, job: Job[Any], payload: Any) -> None:
        if job is deliver_digest:
            self.jobs.append(WaitingJob(**payload))

    def take(self) -> list[WaitingJob]:
        jobs, self.jobs = self.jobs, []
        return jobs


class Parts:
    def __init__(self, client: Redis, now: Moment) -> None:
        self.now = now
        self.client = client
        self.agenda = DueQueue(client)
        self.records = digest_store(client)
        self.cache = DatedCache(now)
        self.messenger = MemoryMessenger()
        self.people = self.open_app()

    def open_app(self, now: Callable[[], datetime] | None = None, fuse: Fuse | None = None) -> App:
        """The bot as a process has it that has just started; it dies where the fuse burns."""

        def fragile(port: object) -> Any:
            return Fragile(port, fuse) if fuse else port

        settings = {
            "prdigest_repo": FIXED.repository,
            "prdigest_channel": FIXED.channel,
            "prdigest_admin_channel": ADMIN,
            "prdigest_catch_up_hours": WINDOW // HOUR,
            "prdigest_timezone": FIXED.timing.zone,
        }
        return make_app(
            self.client,
            now=now or self.now,
            settings=load_settings().model_copy(update=settings),
            due_queue=fragile(self.agenda),
            tables=fragile(Store(self.client)),
            cache=fragile(self.cache),
            digest_records=DigestRecords(fragile(self.records), lambda: TEAM),
            messenger=self.messenger,
            directory=Everywhere(),
            access_control=AccessControl(AccessRules(frozenset({TEAM})), CountingLimiter()),
        )


@dataclass
class Clock:
    """A process that ticks each minute at its own second, by a clock that is wrong; it is down at times."""

    skew: timedelta
    phase: timedelta
    downs: Times
    process: BotClock | None = None
    ticked: datetime = START

    def tick_from(self, instant: datetime, due: datetime) -> datetime:
        """When it first ticks, at ``instant`` or later, and sees what is due."""
        earliest_time = max(instant, due - self.skew)
        while True:
            minutes = -((START + self.phase - earliest_time) // MINUTE)
            tick = START + self.phase + minutes * MINUTE
            down = next((end for begin, end in self.downs if begin <= tick < end), None)
            if down is None:
                return tick
            earliest_time = down

    def has_started(self, now: datetime) -> bool:
        """Whether it was down since its last tick, or never ticked."""
        return self.process is None or any(self.ticked < end <= now for _, end in self.downs)


class Workers:
    """Run jobs. ``open`` are those that were not run yet."""

    def __init__(self, client: Redis, parts: Parts, now: Moment) -> None:
        self._client = client
        self._parts = parts
        self._now = now
        self.posted: list[Posted] = []
        self.by_hand: dict[str, DigestSpec] = {}
        self.open: set[WaitingJob] = set()
        self.refused = 0

    def work(self, jobs: Sequence[WaitingJob]) -> None:
        """As the delivery does: leave what is paused or due no more, refuse what is not over; one claim posts.

        Who posted plans the next one: a change of the zone from then on begins with the next day.
        """
        names = [job.name for job in jobs]
        read = get_subscriptions(self._parts.people, names)
        known = {name: each for name, each in read.items() if each}
        planned = self._parts.agenda.get_times([NextDigest(name) for name in names])
        due_jobs = [
            job
            for job, due in zip(jobs, planned, strict=True)
            if due == job.due and job.name in known and not known[job.name].is_paused
        ]
        editions = {job: known[job.name].build_digest_spec(job.due) for job in due_jobs}
        ready = {job: edition for job, edition in editions.items() if self._is_over(edition)}
        self.open.difference_update(ready, set(jobs).difference(due_jobs))
        moves = []
        for (job, edition), is_first in zip(ready.items(), self._claim_editions(ready.values()), strict=True):
            key = edition.build_key(TEAM)
            if is_first:
                self.posted.append(Posted(job.name, job.due, key, edition.span, self._now()))
                moves.append((NextDigest(job.name), job.due, known[job.name].timing.find_next_after(job.due)))
            if self._now() - job.due > 10 * MINUTE:
                resolve_incident(self._parts.people, key, IncidentKind.MISSING, "posted after all")
        self._parts.agenda.move_all(moves)

    def post_by_hand(self, edition: DigestSpec) -> None:
        """As the job of a command does: the first to ask for a digest posts it."""
        if self._claim_editions([edition]) == [1]:
            self.by_hand[edition.build_key(TEAM)] = edition

    def _claim_editions(self, editions: Iterable[DigestSpec]) -> Sequence[int]:
        """For each whether nobody had posted it; its record says from now on that it stands."""
        done = cast("str", pack_value(self._now().isoformat()))
        with self._client.pipeline(transaction=False) as together:
            for edition in editions:
                together.hsetnx(edition.build_key(TEAM), "posted_at", done)
            return cast("list[int]", together.execute())

    def _is_over(self, edition: DigestSpec) -> bool:
        """Whether its last day is; if not, the next try is in a minute."""
        if edition.span.days[-1].end <= self._now():
            return True
        self.refused += 1
        key, later = edition.build_key(TEAM), self._now() + MINUTE
        record = self._parts.records.load(key)
        failed = replace(record, error="not over", retry_at=later, attempts=record.attempts + 1)
        self._parts.records.save(key, record, failed)
        return False


class Year:
    """The simulation. ``busy`` are busy times, the hours after the outage apart."""

    def __init__(self, client: Redis, random: Random, busy: Times) -> None:
        self.now = Moment()
        self.parts = Parts(client, self.now)
        self.workers = Workers(client, self.parts, self.now)
        self.ticks = self.starts = self.deaths = self.jobs = 0
        self._client = client
        self._random = random
        self._busy = {hour for begin, end in [*busy, (BACK, BACK + 6 * HOUR)] for hour in _hours(begin, end)}
        self._events: list[tuple[datetime, int, Action]] = []
        self._numbers = count()
        self._digests = Queue()
        # up to when all that was due was seen, and until when that is not relied on
        self._seen = self._open_until = START
        self._clocks = [
            Clock(skew, (11 + 19 * n) * SECOND, downs)
            for n, (skew, downs) in enumerate(zip(SKEWS, _downs(random), strict=True))
        ]

    def people(self, instant: datetime, action: Action) -> None:
        def act_for_people() -> None:
            action()
            self._open_until = self.now() + 3 * MINUTE

        self._at(instant, act_for_people)

    def run(self) -> None:
        """From the beginning of the year to an hour after its end."""
        for clock in self._clocks:
            self._tick(clock)
        rested = START
        tick, clock = self._next_tick(rested)
        while True:
            event = self._events[0][0] if self._events else tick
            if min(event, tick) > END + HOUR:
                return
            if event <= tick and self._events:
                before = self._relied_on()
                self.now.now, _, action = heappop(self._events)
                action()
                if self._relied_on() != before:
                    tick, clock = self._next_tick(max(self.now(), rested))
            else:
                self.now.now = tick
                self._tick(clock)
                rested = tick + self._pause()
                tick, clock = self._next_tick(rested)

    # --- the clocks

    def _pause(self) -> timedelta:
        return SECOND if self._is_busy(self.now()) else self._random.randint(60, 240) * SECOND

    def _next_tick(self, after: datetime) -> tuple[datetime, Clock]:
        """The next tick that is done: of any clock in busy times, else of one by chance."""
        due = self._next_due()
        ticks = [(clock.tick_from(after, due), clock) for clock in self._clocks]
        first = min(ticks, key=lambda each: each[0])
        if self._is_busy(first[0]):
            return first
        return self._random.choice([each for each in ticks if each[0] - first[0] < 4 * MINUTE])

    def _next_due(self) -> datetime:
        """What is next on the agenda. In quiet times what was seen and is posted may wait to be moved on."""
        has_open, until = self._relied_on()
        if has_open:
            return START
        is_relied_on = self.now() >= until and not self._is_busy(self.now())
        since = f"({int(self._seen.timestamp())}" if is_relied_on else "-inf"
        scored_members = self._client.zrangebyscore(
            DUE_QUEUE.build_key(), since, "+inf", start=0, num=1, withscores=True
        )
        return datetime.fromtimestamp(cast("list[tuple[bytes, float]]", scored_members)[0][1], UTC)

    def _is_busy(self, instant: datetime) -> bool:
        return _hour(instant) in self._busy

    def _relied_on(self) -> tuple[bool, datetime]:
        return bool(self.workers.open), self._open_until

    def _tick(self, clock: Clock) -> None:
        now = self.now()
        self.ticks += 1
        is_fateful = BACK <= now < BACK + 2 * MINUTE
        is_killed = is_fateful or self._random.random() < 0.003
        if clock.has_started(now) or is_killed:
            self.starts += 1
            clock.process = self._start_clock(clock)
        clock.ticked, self._seen = now, now + clock.skew
        with suppress(Crash):
            process = self._make_doomed_clock(clock, 600 if is_fateful else 12) if is_killed else clock.process
            assert process is not None
            process.tick()
        self._hand_out(self._digests.take())

    def _start_clock(self, clock: Clock, fuse: Fuse | None = None) -> BotClock:
        return BotClock(self.parts.open_app(lambda: self.now() + clock.skew, fuse), self._digests)

    def _make_doomed_clock(self, clock: Clock, most: int) -> BotClock:
        """Of a process that dies some calls after it began to look; it may have noted a job that it never sent."""
        self.deaths += 1
        self._open_until = self.now() + 15 * MINUTE
        fuse = Fuse(self._random.randint(3, most), with_effect=self._random.random() < 0.5)
        return self._start_clock(clock, fuse)

    # --- the queue

    def _at(self, instant: datetime, action: Action) -> None:
        heappush(self._events, (instant, next(self._numbers), action))

    def _hand_out(self, jobs: Sequence[WaitingJob]) -> None:
        self.jobs += len(jobs)
        self.workers.open.update(jobs)
        at_once = [job for job in jobs if self._is_lucky(job)]
        if at_once:
            self._later(at_once, self._random.uniform(2, 40))

    def _is_lucky(self, job: WaitingJob) -> bool:
        """Whether the next worker takes the job; what else becomes of it."""
        now, random = self.now(), self._random
        often = 4 if self._is_busy(now) else 1
        # what is due right before the outage is posted before it: what would be too late is known so
        fate = 1.0 if AWAY - HOUR <= now < AWAY else random.random() / often
        if fate < 0.01:
            return False  # the queue has lost it
        if fate < 0.02:
            # late: the workers are busy, or the first one died before it posted
            self._later([job], random.uniform(60, 900))
            return False
        if fate < 0.04:
            # again, soon or much later: the first worker died after it posted, or two clocks had sent it
            self._later([job], random.choice([30, 60, 600, 90_000]))
        return True

    def _later(self, jobs: Sequence[WaitingJob], seconds: float) -> None:
        then = self.now() + seconds * SECOND
        # the outage takes the queue with it
        if not AWAY <= then < BACK:
            self._at(then, lambda: self.workers.work(jobs))


def _hour(instant: datetime) -> int:
    return (instant - START) // HOUR


def _hours(begin: datetime, end: datetime) -> range:
    return range(_hour(begin), _hour(end) + 1)


def _downs(random: Random) -> list[list[tuple[datetime, datetime]]]:
    """When each clock is down: for hours every week or so, and never all of them but in the outage."""
    downs: list[list[tuple[datetime, datetime]]] = [[(AWAY, BACK)] for _ in SKEWS]
    day = START
    while day < END:
        day += random.uniform(4, 12) * DAY
        for n in random.sample(range(len(SKEWS)), random.choice([1, 1, 2])):
            begin = day + random.uniform(0, 5) * HOUR
            downs[n].append((begin, begin + random.uniform(0.1, 9) * HOUR))
    return downs
