"""``python -m benchmarks``: what a day, commands, questions, a set-up, the clock and others cost.

Each measurement is printed beside its bound. Those that cross processes run as processes against loopback
emulators with fixed latencies, on an empty embedded store. The exit code is 1 if a bound is missed. ``python -m
benchmarks day`` runs one part, of those in ``PARTS``; ``trace`` counts what five requests cross in our code.
``peers`` compares with another tool and has options of its own: ``python -m benchmarks peers
--help``.

How much the bot carries takes minutes, so that it runs by name alone: ``python -m benchmarks morning --help``, and
``acks``, ``answers``, ``hour`` and ``month``. docs/load.md has the results. ``upgrade`` needs two clones,
``open``, ``removed`` and ``mirror`` one, ``months`` what a replay wrote.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from benchmarks import mirror, months, open_pulls, removed
from benchmarks.agents import time_agent_tools
from benchmarks.clock import time_ticks
from benchmarks.commands import time_acknowledgements, time_cached_answers, time_the_same_question
from benchmarks.day import count_replay, time_a_day
from benchmarks.demo import time_the_demo
from benchmarks.evaluate import time_evaluate
from benchmarks.init import time_init
from benchmarks.load import acks, answers, hour, month, morning
from benchmarks.peers.command import compare_peers
from benchmarks.previews import time_previews
from benchmarks.providers import time_providers
from benchmarks.questions import price_questions, time_stops, time_threads
from benchmarks.reading.outlines import time_outlines
from benchmarks.reading.patch import measure_a_large_patch
from benchmarks.reading.reviews import price_reviews, time_reviews
from benchmarks.starts import time_the_starts
from benchmarks.table import Table
from benchmarks.trace import trace_the_flows
from benchmarks.upgrade import add_options, measure_upgrade
from tests.helpers.processes.command import Start, start_interpreter

PARTS = {
    "day": (time_a_day, count_replay, time_reviews, price_reviews),
    "questions": (price_questions, time_threads),
    "stop": (time_stops,),
    "clock": (time_ticks,),
    "evaluate": (time_evaluate,),
    "demo": (time_the_demo,),
    "starts": (time_the_starts,),
    "init": (time_init,),
    "providers": (time_providers,),
    "patch": (measure_a_large_patch,),
    "outlines": (time_outlines,),
    "agents": (time_agent_tools,),
    "previews": (time_previews,),
    "trace": (trace_the_flows,),
    "commands": (time_acknowledgements, time_the_same_question, time_cached_answers),
}

LOADS = {
    "acks": (acks.measure_acks, acks.add_options),
    "answers": (answers.measure_answers, answers.add_options),
    "morning": (morning.measure_mornings, morning.add_options),
    "hour": (hour.measure_hour, hour.add_options),
    "month": (month.measure_month, month.add_options),
    "upgrade": (measure_upgrade, add_options),
    "mirror": (mirror.measure_mirror, mirror.add_options),
    "open": (open_pulls.measure_open_pulls, open_pulls.add_options),
    "removed": (removed.measure_removed, removed.add_options),
    "months": (months.measure_months, months.add_options),
}


def measure_load(table: Table, name: str, arguments: Sequence[str], start: Start = start_interpreter) -> None:
    """Run one measurement of load with the options of a command line. ``start`` starts the bot's processes."""
    measure, add_own = LOADS[name]
    parser = argparse.ArgumentParser(f"python -m benchmarks {name}")
    add_own(parser)
    parser.set_defaults(start=start)
    measure(table, parser.parse_args(arguments))


def main(arguments: Sequence[str]) -> int:
    """Run the parts that are named, or all; return the exit code."""
    if arguments[:1] == ["peers"]:
        return compare_peers(arguments[1:])
    table = Table()
    if arguments and arguments[0] in LOADS:
        measure_load(table, arguments[0], arguments[1:])
        return int(table.missed)
    for part in arguments or PARTS:
        for measure in PARTS[part]:
            measure(table)
    return int(table.missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
