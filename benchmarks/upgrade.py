"""How long the way over thousands of merges takes from a clone, the first time and again.

    python -m benchmarks upgrade --upstream ../vllm --downstream ../vllm-ascend --merges 2400

Wall clock and processor time are both printed: on a busy machine, only the second says anything.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time
from pathlib import Path

from benchmarks.table import Table
from impact.git.clone_trees import open_clone_trees
from tests.helpers.processes.command import ROOT, command, environment

# for 2,400 merges on two cores, and as much of each core
MERGES, MAX_COLD, MAX_WARM, CORES = 2_400, 180.0, 10.0, 2


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--upstream", type=Path, required=True, help="a clone of what is built on")
    parser.add_argument("--downstream", type=Path, required=True, help="a clone of what builds on it")
    parser.add_argument("--at", default="", help="commit of the downstream (default: its newest)")
    parser.add_argument("--to", default="HEAD", help="last commit of upstream (default: its newest)")
    parser.add_argument("--merges", type=int, default=MERGES, help=f"commits before it (default: {MERGES:,})")


def measure_upgrade(table: Table, options: argparse.Namespace) -> None:
    """Plan the same way twice, with an empty folder for what is kept; the plans have to be the same."""
    with open_clone_trees(options.upstream) as trees:
        line = [commit.sha for commit in trees.list_line()]
    end = line.index(options.to) if options.to != "HEAD" else len(line) - 1
    start, share = line[end - options.merges], options.merges / MERGES
    arguments = [f"--upstream={options.upstream}", f"--from={start}", f"--to={line[end]}"]
    arguments += [f"--profile={options.downstream}", *([f"--at={options.at}"] if options.at else ())]
    print(f"{options.merges:,} commits, {start[:10]}..{line[end][:10]}, {os.cpu_count()} cores")
    plans = set()
    with tempfile.TemporaryDirectory() as folder:
        for name, bound in (("the first time", MAX_COLD * share), ("again", MAX_WARM)):
            plan = Path(folder) / f"{name}.md"
            wall, processor = _time_command(command("upgrade", *arguments, f"--out={plan}"), Path(folder))
            table.print_row(f"upgrade, {name}: wall clock", wall, bound, "s")
            table.print_row(f"upgrade, {name}: processor time", processor, CORES * bound, "s")
            plans.add(plan.read_text())
    assert len(plans) == 1


def _time_command(line: list[str], folder: Path) -> tuple[float, float]:
    began = time.perf_counter()
    process = subprocess.Popen(line, env=environment(XDG_CACHE_HOME=str(folder)), cwd=ROOT)
    # covers this process and its children
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return time.perf_counter() - began, used.ru_utime + used.ru_stime
