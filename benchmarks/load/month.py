"""A month in the same processes: what memory they and the store take, day by day.

``python -m benchmarks month --days 30`` runs web, worker and clock with a clock that is set ahead
(``benchmarks.load.shifted``). Each day has merges, digests, commands, questions in threads and three more ticks.
The lifetimes in the store are shortened by each day that passes.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import linear_regression
from zoneinfo import ZoneInfo

from localslack.users.person import Person
from redis import Redis

from benchmarks.load.askers import ask_command
from benchmarks.load.processes import Site, Use, print_uses, run_site
from benchmarks.load.shifted import SHIFT, read_shifted_time, write_shift
from benchmarks.load.team import (
    TeamSize,
    add_merges,
    choose_zone,
    get_first_number,
    name_channel,
    open_team,
    subscribe_channels,
)
from benchmarks.questions import answer_at_once
from benchmarks.table import Table
from bot.platform.store.due_queue import DueQueue, NextDigest
from bot.platform.store.keys import LAST_TICK, DurableFamily, find_family
from tests.helpers.checks import eventually, waiting_jobs
from tests.helpers.world import World

# megabytes a day of one process, after the days in which its caches fill; a leak of a digest's texts is more
MAX_GROWTH = 0.5
# kilobytes a day and channel that are kept for good: record, thread, history
MAX_KEPT = 100.0
_PROCESSES = {name: name for name in ("web", "worker", "clock")}
_HOURS = (0, 7, 13, 19)  # of ticks, after the digests are due
_DAY = timedelta(days=1)
_PATIENCE = 600.0
_MEGABYTE = 1_000_000


def measure_month(table: Table, options: argparse.Namespace) -> None:
    """Let the days pass, and print the growth of each process and of the store."""
    size, zone = TeamSize(options.channels, options.repositories), choose_zone(datetime.now(UTC))
    days: list[dict[str, Use]] = []
    with open_team(size) as there, tempfile.TemporaryDirectory(prefix="bench") as folder:
        path = Path(folder) / "shift"
        write_shift(path, timedelta())
        there.settings[SHIFT] = str(path)
        there.claude.respond = answer_at_once
        there.slack.workspace.now = lambda: read_shifted_time(path).timestamp()
        subscribe_channels(there, size, datetime.now(UTC).replace(second=0, microsecond=0), zone)
        with run_site(there.settings, _PROCESSES, options.start, "benchmarks.load.shifted") as site:
            for day in range(options.days):
                _run_day(there, site, size, zone, path, day, options.asks)
                days.append(site.measure_uses())
                _print_day(day, days[-1], site.store)
            durable, expiring = _measure_families(site.store)
    print_uses(days[-1])
    _print_families(durable, expiring, size.channels * options.days)
    # caches fill at first
    settled = days[options.days // 3 :]
    for name in _PROCESSES:
        table.print_row(
            f"{options.days} days: growth of {name}, after a third of them",
            _compute_slope([each[name].megabytes for each in settled]),
            MAX_GROWTH,
            "MB/day",
        )
    kept = durable.total() / 1_000 / size.channels / options.days
    table.print_row("kept in the store for good, for a day of a channel", kept, MAX_KEPT, "kB")


def _run_day(there: World, site: Site, size: TeamSize, zone: ZoneInfo, path: Path, day: int, asks: int) -> None:
    """Merge, let the digests come, ask, and let the rest of the day pass."""
    yesterday = (read_shifted_time(path).astimezone(zone) - _DAY).date()
    add_merges(there, size, yesterday, zone)
    due_queue = DueQueue(site.store)
    for hours in _HOURS:
        write_shift(path, day * _DAY + timedelta(hours=hours))
        _await_tick(site, path)
        eventually(lambda: _is_quiet(site, due_queue, path), _PATIENCE)
        if hours == 0:
            _ask(there, site, size, get_first_number(yesterday), asks)
            eventually(lambda: not waiting_jobs(site.store), _PATIENCE)
    _age_store(site.store, _DAY)
    # the next day begins before its digests are due, so that what is merged is of the day before
    write_shift(path, (day + 1) * _DAY - timedelta(hours=1))
    _await_tick(site, path)


def _await_tick(site: Site, path: Path) -> None:
    def has_ticked() -> bool:
        last = site.store.get(LAST_TICK.build_key())
        text = last[1:].decode() if isinstance(last, bytes) else ""
        return bool(text) and read_shifted_time(path) - datetime.fromisoformat(text) < timedelta(minutes=30)

    eventually(has_ticked, _PATIENCE)


def _is_quiet(site: Site, due_queue: DueQueue, path: Path) -> bool:
    due = due_queue.list_due(read_shifted_time(path))
    return not any(isinstance(item, NextDigest) for item, _ in due) and not waiting_jobs(site.store)


def _ask(there: World, site: Site, size: TeamSize, first: int, asks: int) -> None:
    for number in range(asks):
        channel = name_channel(number % size.channels)
        text = f"{size.get_repository(number % size.channels)}#{first + number % size.pulls} private"
        ask_command(there, site.wire, number, text, channel)
        leads = [each for each in there.slack.list_messages(channel) if "bot_id" in each]
        person = Person(there.slack, site.wire, user=f"U{number:08d}")
        person.mention("What changed here?", channel, leads[-1]["ts"])


def _age_store(store: Redis, passed: timedelta) -> None:
    milliseconds = round(passed.total_seconds() * 1_000)
    keys = list(store.scan_iter(count=1_000))
    with store.pipeline(transaction=False) as batch:
        for key in keys:
            batch.pttl(key)
        lives = batch.execute()
        for key, life in zip(keys, lives, strict=True):
            if life > milliseconds:
                batch.pexpire(key, life - milliseconds)
            elif life > 0:
                batch.delete(key)
        batch.execute()


def _measure_families(store: Redis) -> tuple[Counter[str], Counter[str]]:
    """Return the bytes of each family of keys: of those kept for good, and of those that expire."""
    durable: Counter[str] = Counter()
    expiring: Counter[str] = Counter()
    for key in store.scan_iter(count=1_000):
        family = find_family(bytes(key).decode())
        part = durable if isinstance(family, DurableFamily) else expiring
        part[family.pattern if family else "jobs"] += int(store.memory_usage(key, samples=0) or 0)
    return durable, expiring


def _print_families(durable: Counter[str], expiring: Counter[str], channel_days: int) -> None:
    for title, part in (("kept for good", durable), ("kept for a while", expiring)):
        total = part.total()
        print(
            f"  {title}: {total / _MEGABYTE:.1f} MB, {total / 1_000 / channel_days:.1f} kB for a day of a channel"
        )
        for name, size in part.most_common(5):
            print(f"    {name:<52} {size / 1_000:>10,.0f} kB")


def _print_day(day: int, uses: dict[str, Use], store: Redis) -> None:
    used = store.info("memory")["used_memory"] / _MEGABYTE
    memory = ", ".join(f"{name} {use.megabytes:.1f} MB" for name, use in uses.items())
    print(f"day {day + 1}: {memory}; in the store {used:.1f} MB, {store.dbsize():,} keys", flush=True)


def _compute_slope(values: Sequence[float]) -> float:
    return linear_regression(range(len(values)), values).slope if len(values) > 1 else 0.0


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--channels", type=int, default=10)
    parser.add_argument("--repositories", type=int, default=5)
    parser.add_argument("--asks", type=int, default=10, help="commands a day, and as many questions in threads")
