"""Acknowledgements a second of one web process.

``python -m benchmarks acks --clients 32`` sends signed commands over HTTP, each by another person. No worker runs.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import count

from benchmarks.load.askers import ask_command, find_percentile
from benchmarks.load.processes import WEB, print_uses, run_site
from benchmarks.load.team import TeamSize, name_channel, open_team
from benchmarks.table import Table
from tests.helpers.checks import waiting_jobs
from tests.helpers.processes.command import Start

SLACK_TIMEOUT = 3.0  # seconds that Slack waits
_WARM_UP = 50


def measure_acks(table: Table, options: argparse.Namespace) -> None:
    """Measure with each number of clients that send one command after the other."""
    for clients in options.clients:
        _measure_with(table, options.requests, clients, options.start)


def _measure_with(table: Table, requests: int, clients: int, start: Start) -> None:
    size, users = TeamSize(10, 1), count()
    with open_team(size) as there, run_site(there.settings, WEB, start) as site:

        def ask(number: int) -> float:
            text, channel = f"{number % 100 + 1} private", name_channel(number % size.channels)
            return ask_command(there, site.wire, next(users), text, channel).ack_seconds

        with ThreadPoolExecutor(clients) as crew:
            list(crew.map(ask, range(_WARM_UP)))
            began, before = time.perf_counter(), site.measure_uses()["web"]
            seconds = list(crew.map(ask, range(requests)))
            took, uses = time.perf_counter() - began, site.measure_uses()
        jobs = waiting_jobs(site.store)
    name = f"{clients} clients"
    busy = (uses["web"].seconds - before.seconds) / requests
    rate = requests / took
    print(f"{name}: {rate:,.0f} acknowledgements a second; {1_000 * busy:.1f} ms of processor time each")
    print_uses(uses)
    table.print_row(f"{name}: p50 until the acknowledgement", find_percentile(seconds, 50), SLACK_TIMEOUT, "s")
    table.print_row(f"{name}: p99 until the acknowledgement", find_percentile(seconds, 99), SLACK_TIMEOUT, "s")
    table.print_row(f"{name}: acknowledged without a job", requests + _WARM_UP - jobs, 0, "jobs")


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--requests", type=int, default=3_000)
    parser.add_argument("--clients", type=int, nargs="+", default=[8, 64], help="at the same time; one or more")
