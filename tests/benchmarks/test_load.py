"""The measurements of load at their smallest: each still runs, and what must hold at any size holds."""

import sys

import pytest

from benchmarks.__main__ import measure_load
from benchmarks.table import Table
from tests.helpers.processes.command import started

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="memory and processor time are read from /proc"),
]
FAST = ("--github-latency", "0", "--model-latency", "0")
LINES = {
    "acks": ("--requests", "20", "--clients", "4"),
    "answers": ("--requests", "20"),
    "morning": ("--channels", "5", "--repositories", "2", "--pulls", "1", *FAST),
    "hour": ("--people", "12", "--speed", "3600", "--channels", "3", "--repositories", "1"),
    "month": ("--days", "2", "--channels", "2", "--repositories", "1", "--asks", "1"),
}
# of rows that hold on any machine and in any time
COUNTS = {"calls", "jobs", "people", "posts", "kB"}


@pytest.mark.parametrize("name", LINES)
def test_a_small_load_keeps_the_bounds_on_what_is_counted(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    measure_load(Table(), name, LINES[name], started)
    printed = capsys.readouterr().out
    counted = [line for line in printed.splitlines() if " bound " in line and COUNTS & set(line.split())]
    assert counted, printed
    assert not [line for line in counted if "MISSED" in line], printed
