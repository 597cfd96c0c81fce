"""How much processor time commands take that ask no model, against an interpreter that does nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from statistics import median

from benchmarks.day import open_empty_world
from benchmarks.table import Table
from tests.helpers.processes.command import command, environment
from tests.helpers.world import SMALL_DAY, World, add_small_day

STARTS = 5
# times `python -c pass`, which takes some 15 ms of processor time here
MAX_FOR_WORDS, MAX_FOR_WORK = 50.0, 100.0
NOTHING = [sys.executable, "-c", "pass"]
WORDS = {"--help": ("--help",), "manifest": ("manifest",)}
# with a full cache: only the list comes from GitHub
WORK = {
    "report, warm": ("report", *SMALL_DAY),
    "summary, warm": ("summary", "101", "--repo", "octo/engine"),
    "doctor": ("doctor",),
}


def time_the_starts(table: Table) -> None:
    """Measure medians of several starts, after one that fills the caches."""
    with open_empty_world() as there:
        add_small_day(there.github)
        nothing = _take_median(there, NOTHING)
        for name, line in {**WORDS, **WORK}.items():
            bound = MAX_FOR_WORDS if name in WORDS else MAX_FOR_WORK
            seconds = _take_median(there, command(*line))
            print(f"{name}: {seconds:.2f} s of processor time")
            table.print_row(f"{name}: processor time against `python -c pass`", seconds / nothing, bound, "times")


def _take_median(there: World, line: list[str]) -> float:
    return median([_measure_processor_seconds(there, line) for _ in range(STARTS + 1)][1:])


def _measure_processor_seconds(there: World, line: list[str]) -> float:
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(line, env=environment(**there.settings), stdout=output, stderr=output)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    # the doctor fails, since no bot is running here
    if process.returncode not in (0, 1):
        sys.exit(f"{line} failed with {process.returncode}")
    return usage.ru_utime + usage.ru_stime
