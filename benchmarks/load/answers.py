"""Answers a second to what is cached, through queue, worker and Slack.

``python -m benchmarks answers --workers 1`` puts commands on the queue while no worker runs, then starts workers.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

from benchmarks.load.askers import AnswerLog, ask_command
from benchmarks.load.processes import WEB, measure_started, name_workers, print_uses, run_named, run_site
from benchmarks.load.team import (
    TeamSize,
    add_merges,
    choose_zone,
    count_model_calls,
    get_first_number,
    name_channel,
    open_team,
)
from benchmarks.table import Table
from tests.helpers.checks import eventually

# milliseconds of one worker for an answer, as in ``benchmarks.commands``
MAX_PER_ANSWER = 20.0
_CLIENTS = 16
_PATIENCE = 600.0


def measure_answers(table: Table, options: argparse.Namespace) -> None:
    size, zone = TeamSize(100, 1), choose_zone(datetime.now(UTC))
    with open_team(size) as there:
        yesterday = datetime.now(zone).date() - timedelta(days=1)
        add_merges(there, size, yesterday, zone)
        first, log = get_first_number(yesterday), AnswerLog()
        there.slack.after = log.note_call
        workers = name_workers(options.workers)
        with run_site(there.settings, WEB, options.start) as site:
            with run_named(there.settings, name_workers(1), options.start):
                texts = [f"{first + number} private" for number in range(size.pulls)]
                asked = [ask_command(there, site.wire, n, text, name_channel(n)) for n, text in enumerate(texts)]
                eventually(lambda: len(log.list_waits(asked)) == len(asked), _PATIENCE)
            calls = count_model_calls(there).total()

            def ask(number: int) -> None:
                text, channel = f"{first + number % size.pulls} private", name_channel(number % size.channels)
                ask_command(there, site.wire, 1_000 + number, text, channel)

            with ThreadPoolExecutor(_CLIENTS) as crew:
                list(crew.map(ask, range(options.requests)))
            before = len(there.slack.ephemerals)
            with run_named(there.settings, workers, options.start) as started:
                eventually(lambda: len(there.slack.ephemerals) > before, _PATIENCE)
                began, done = time.perf_counter(), len(there.slack.ephemerals) - before
                eventually(lambda: len(there.slack.ephemerals) - before == options.requests, _PATIENCE)
                took = time.perf_counter() - began
                uses = {**site.measure_uses(), **measure_started(started)}
        new_calls = count_model_calls(there).total() - calls
    rate = (options.requests - done) / took
    print(f"cached answers, {options.workers} worker(s): {rate:,.0f} a second")
    print_uses(uses)
    table.print_row("one worker's time for a cached answer", 1_000 * options.workers / rate, MAX_PER_ANSWER, "ms")
    table.print_row("model calls for cached answers", new_calls, 0, "calls")


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--requests", type=int, default=2_000)
    parser.add_argument("--workers", type=int, default=1)
