"""An hour in which very many people ask.

``python -m benchmarks hour --people 10000`` takes an hour. ``--minutes 5`` measures so many minutes of it, at the
same rate; ``--speed 6`` sends all in a sixth of the time, which is harder for the bot. Commands come at random
moments. Two of three ask for an answer in the channel, the third for a private one. Slack takes a post a second in
each channel.
"""

from __future__ import annotations

import argparse
import random
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

from localslack.users.transport import HttpTransport

from benchmarks.load.acks import SLACK_TIMEOUT
from benchmarks.load.askers import AnswerLog, Asked, ask_command, find_percentile
from benchmarks.load.processes import name_workers, print_uses, run_site
from benchmarks.load.team import (
    TeamSize,
    add_merges,
    choose_zone,
    count_github_calls,
    count_model_calls,
    get_first_number,
    name_channel,
    open_team,
)
from benchmarks.table import Table
from tests.helpers.checks import eventually
from tests.helpers.world import World

HOUR = 3_600.0
GITHUB_LATENCY, MODEL_LATENCY = 0.15, 2.0  # seconds a call
# seconds; for most people an answer that takes longer is no answer in a chat
MAX_WAIT = 10.0
MAX_MEMORY = 250.0  # megabytes: what docs/deploy.md asks for
_CLIENTS = 64
_PATIENCE = 600.0
# its files, and those around the change. It is fetched once more by each who asks before it is cached
_CALLS_A_PULL = 2


def measure_hour(table: Table, options: argparse.Namespace) -> None:
    size, zone = TeamSize(options.channels, options.repositories), choose_zone(datetime.now(UTC))
    with open_team(size) as there:
        yesterday = datetime.now(zone).date() - timedelta(days=1)
        add_merges(there, size, yesterday, zone)
        there.github.latency, there.claude.latency = GITHUB_LATENCY, MODEL_LATENCY
        log = AnswerLog()
        there.slack.after = log.note_call
        processes = {"web": "web", **name_workers(options.workers), "clock": "clock"}
        with run_site(there.settings, processes, options.start) as site:
            first = get_first_number(yesterday)
            if options.warm:
                primed = _prime_cache(there, site.wire, size, first)
                eventually(lambda: len(log.list_waits(primed)) == len(primed), _PATIENCE)
            before = site.measure_uses()
            asked = _ask_all(there, site.wire, size, first, options)
            eventually(lambda: len(log.list_waits(asked)) == len(asked), _PATIENCE)
            uses = site.measure_uses()
        model, github = count_model_calls(there), count_github_calls(there)
    waits, name = log.list_waits(asked), f"{len(asked):,} people"
    rate = options.people / HOUR * options.speed
    print(f"{name}, {rate:.1f} commands a second: model {dict(model)}, GitHub {dict(github)}")
    print_uses(uses)
    busy = {key: 1_000 * (uses[key].seconds - before[key].seconds) / len(asked) for key in uses}
    print("  processor time for a command:", ", ".join(f"{key} {each:.1f} ms" for key, each in busy.items()))
    acks = [each.ack_seconds for each in asked]
    pulls = size.repositories * size.pulls
    table.print_row(f"{name}: p99 until the acknowledgement", find_percentile(acks, 99), SLACK_TIMEOUT, "s")
    table.print_row(f"{name}: p50 until the answer", find_percentile(waits, 50), MAX_WAIT, "s")
    table.print_row(f"{name}: p99 until the answer", find_percentile(waits, 99), MAX_WAIT, "s")
    table.print_row(f"{name}: without an answer", len(asked) - len(waits), 0, "people")
    table.print_row(f"{name}: model calls (distinct pull requests)", model.total(), pulls, "calls")
    files = github["files"] + github["source files"]
    table.print_row(f"{name}: GitHub calls for files (2 a pull request)", files, _CALLS_A_PULL * pulls, "calls")
    memory = max(use.peak for key, use in uses.items() if key != "store")
    table.print_row(f"{name}: memory of the largest process", memory, MAX_MEMORY, "MB")


def _prime_cache(there: World, wire: HttpTransport, size: TeamSize, first: int) -> list[Asked]:
    """Ask for each pull request once, as the digests of the morning do."""
    pulls = [f"{name}#{first + n} private" for name in size.list_repositories() for n in range(size.pulls)]
    return [
        ask_command(there, wire, 90_000_000 + place, text, name_channel(0)) for place, text in enumerate(pulls)
    ]


def _ask_all(
    there: World, wire: HttpTransport, size: TeamSize, first: int, options: argparse.Namespace
) -> list[Asked]:
    """Type each command at its moment; the answers come meanwhile. ``first`` is the lowest number."""
    chance = random.Random(options.seed)  # noqa: S311 (nothing is secret here)
    moments = sorted(chance.uniform(0, HOUR / options.speed) for _ in range(options.people))
    moments = [each for each in moments if each < 60 * options.minutes]
    pulls = [f"{name}#{first + n}" for name in size.list_repositories() for n in range(size.pulls)]
    texts = [f"{chance.choice(pulls)}{'' if user % 3 else ' private'}" for user in range(len(moments))]
    places = [name_channel(chance.randrange(size.channels)) for _ in moments]
    began = time.perf_counter()

    def ask(user: int) -> Asked:
        time.sleep(max(0.0, began + moments[user] - time.perf_counter()))
        return ask_command(there, wire, user, texts[user], places[user])

    with ThreadPoolExecutor(_CLIENTS) as crew:
        return list(crew.map(ask, range(len(moments))))


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--people", type=int, default=10_000)
    parser.add_argument("--speed", type=float, default=1.0, help="how many times as fast as the hour")
    parser.add_argument("--minutes", type=float, default=60.0, help="how much of the hour to measure")
    parser.add_argument("--warm", action="store_true", help="after a morning whose digests had all pull requests")
    parser.add_argument("--channels", type=int, default=1_000)
    parser.add_argument("--repositories", type=int, default=200)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=70)
