"""A morning on which all channels get their digest at the same minute.

``python -m benchmarks morning --channels 1000 --repositories 200 --workers 2`` runs web, worker and clock as
processes, with an embedded store. GitHub, the model and Slack are on the loopback. Slack takes a post a second in
each channel.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from benchmarks.load.processes import Site, Use, name_workers, print_uses, run_site
from benchmarks.load.team import (
    TeamSize,
    add_merges,
    choose_zone,
    count_github_calls,
    count_model_calls,
    open_team,
    subscribe_channels,
)
from benchmarks.table import Table
from bot.platform.store.due_queue import DueQueue, NextDigest
from tests.helpers.checks import eventually, waiting_jobs

GITHUB_LATENCY, MODEL_LATENCY = 0.15, 2.0  # seconds a call
MAX_WAIT = 3_600.0  # seconds from the minute at which they are due to the last digest
# of one process, in megabytes: what docs/deploy.md asks for
MAX_MEMORY = 250.0
# lists of the day and of the one that is not over, once for each repository, and the files of each pull request
LISTS = 2
_PATIENCE = 3 * 3_600.0


@dataclass(frozen=True)
class Morning:
    """One morning: seconds until each digest, calls, and what each process used."""

    waits: list[float]
    model: Counter[str]
    github: Counter[str]
    uses: dict[str, Use]


def run_morning(size: TeamSize, options: argparse.Namespace) -> Morning:
    zone = choose_zone(datetime.now(UTC))
    with open_team(size) as there:
        today = datetime.now(zone).date()
        add_merges(there, size, today - timedelta(days=1), zone)
        there.github.latency, there.claude.latency = options.github_latency, options.model_latency
        posts: list[float] = []
        there.slack.after = lambda method, arguments: _note_lead(posts, method, arguments)
        names = {"web": "web", **name_workers(options.workers), "clock": "clock"}
        # due in the present minute: the first tick of the clock finds all of them
        subscribe_channels(there, size, datetime.now(UTC).replace(second=0, microsecond=0), zone)
        began = time.perf_counter()
        with run_site(there.settings, names, options.start) as site:
            _await_digests(site)
            uses = site.measure_uses()
        waits = sorted(each - began for each in posts)
        return Morning(waits, count_model_calls(there), count_github_calls(there), uses)


def _note_lead(posts: list[float], method: str, arguments: dict[str, Any]) -> None:
    if method == "chat.postMessage" and not arguments.get("thread_ts"):
        posts.append(time.perf_counter())


def _await_digests(site: Site) -> None:
    """Wait until all are posted: each is planned for the next day then, and no job is left."""
    due_queue = DueQueue(site.store)

    def is_done() -> bool:
        soon = datetime.now(UTC) + timedelta(hours=1)
        has_digests = any(isinstance(item, NextDigest) for item, _ in due_queue.list_due(soon))
        return not has_digests and not waiting_jobs(site.store)

    eventually(is_done, _PATIENCE)


def print_morning(table: Table, size: TeamSize, workers: int, morning: Morning) -> None:
    pulls = size.repositories * size.pulls
    name = f"{size.channels:,} channels, {size.repositories} repositories"
    print(f"{name}, {workers} worker(s): model {dict(morning.model)}, GitHub {dict(morning.github)}")
    print_uses(morning.uses)
    half, p99, last = (morning.waits[int(share * (len(morning.waits) - 1))] for share in (0.5, 0.99, 1.0))
    print(f"  digests posted: half after {half:.0f} s, 99% after {p99:.0f} s, the last after {last:.0f} s")
    busy = sum(use.seconds for key, use in morning.uses.items() if key.startswith("worker"))
    print(f"  workers' processor time: {1_000 * busy / size.channels:.0f} ms a digest")
    table.print_row(f"{name}: digests posted", len(morning.waits), size.channels, "posts")
    table.print_row(f"{name}: summaries (distinct pull requests)", morning.model["summary"], pulls, "calls")
    table.print_row(f"{name}: overviews (repositories)", morning.model["overview"], size.repositories, "calls")
    table.print_row(
        f"{name}: GitHub calls (2 lists, 2 a pull, 1 spare)", morning.github.total(), _bound(size), "calls"
    )
    table.print_row(f"{name}: last digest", last, MAX_WAIT, "s")
    memory = max(use.peak for key, use in morning.uses.items() if key != "store")
    table.print_row(f"{name}: memory of the largest process", memory, MAX_MEMORY, "MB")


def _bound(size: TeamSize) -> float:
    return size.repositories * (LISTS + 2 * size.pulls + 1)


def measure_mornings(table: Table, options: argparse.Namespace) -> None:
    for channels in options.channels:
        size = TeamSize(channels, min(options.repositories, channels), options.pulls)
        morning = run_morning(size, options)
        print_morning(table, size, options.workers, morning)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--channels", type=int, nargs="+", default=[1_000], help="one or more sizes")
    parser.add_argument("--repositories", type=int, default=200)
    parser.add_argument("--pulls", type=int, default=5, help="merges of each repository")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--github-latency", type=float, default=GITHUB_LATENCY, help="seconds a call")
    parser.add_argument("--model-latency", type=float, default=MODEL_LATENCY, help="seconds a call")
