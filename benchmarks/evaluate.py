"""The cost of ``python -m evals risk`` on a clone: seconds, memory, and how both grow with its size."""

from __future__ import annotations

import os
import random
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.table import Table
from impact.testing.clones import Builder, building
from tests.helpers.processes.command import ROOT, command, environment

SIZES = (2_500, 5_000, 10_000)
MAX_SECONDS, MAX_MEGABYTES = 180.0, 1_024.0
# relative to linear growth; the margin is for the noise of a busy machine
MAX_GROWTH = 1.25
FIRST = datetime(2023, 1, 2, tzinfo=UTC)
APART = timedelta(minutes=25)
_WORDS = "kernel cache engine loader router scheduler parser async fuse retry limit batch token stream".split()
_FOLDERS = [f"engine/{area}/{part}" for area in _WORDS[:8] for part in ("core", "ops", "util", "tests")]
_SWEEP = 500


@dataclass
class _Repository:
    """An invented history, the same each time: three files and sixty lines a change, one in fifty a revert."""

    source: random.Random = field(default_factory=lambda: random.Random(7))  # noqa: S311
    files: dict[str, list[int]] = field(default_factory=dict)
    titles: list[tuple[int, str]] = field(default_factory=list)
    lines: int = 0

    def add_commit(self, builder: Builder, number: int, at: datetime) -> None:
        title, body = self._make_message(number)
        self.titles.append((number, title))
        count = _SWEEP if number % 700 == 0 else self.source.choice((1, 1, 2, 3, 3, 4, 6, 12))
        written: dict[str, bytes | None] = {self._choose_path(): None for _ in range(count)}
        for path in written:
            written[path] = self._change_file(path, 1 if count == _SWEEP else self.source.choice((2, 8, 20, 40)))
        builder.commit(f"{title} (#{number})\n\n{body}", written, at=at)

    def _make_message(self, number: int) -> tuple[str, str]:
        if number % 50 == 0:
            gone, title = self.source.choice(self.titles[-400:])
            return f'Revert "{title}"', f"Reverts octo/engine#{gone}"
        words = " ".join(self.source.sample(_WORDS, 4))
        lead = self.source.choice(
            ("Fix the", "[Bugfix] mend", "Add a", "Speed up the", "Move", "[Docs] tell of the")
        )
        return f"{lead} {words} {number}", "What changes and why, in a few words. " * 12

    def _choose_path(self) -> str:
        return f"{self.source.choice(_FOLDERS)}/part_{int(self.source.paretovariate(0.6)) % 400}.py"

    def _change_file(self, path: str, count: int) -> bytes:
        lines = self.files.setdefault(path, [])
        at = self.source.randrange(len(lines) + 1)
        self.lines += count
        # a long file loses as many lines as it gains, so that it stops growing
        lines[at : at + (count if len(lines) > 300 else count // 3)] = range(self.lines, self.lines + count)
        return "".join(f"value_{line} = compute({line})\n" for line in lines).encode()


@dataclass(frozen=True)
class _Run:
    seconds: float
    megabytes: float


def time_evaluate(table: Table) -> None:
    """Measure clones of three sizes, each evaluated over all but its first tenth."""
    runs = {size: _measure_size(size) for size in SIZES}
    for size, run in runs.items():
        print(f"evaluate, {size:,} pull requests: {run.seconds:.1f} s, {run.megabytes:.0f} MB at most")
    least, most = min(SIZES), max(SIZES)
    table.print_row(f"evaluate, {most:,} pull requests: wall clock", runs[most].seconds, MAX_SECONDS, "s")
    table.print_row(f"evaluate, {most:,} pull requests: peak memory", runs[most].megabytes, MAX_MEGABYTES, "MB")
    growth = runs[most].seconds / runs[least].seconds
    table.print_row(
        f"evaluate, {most // least} times the pull requests: time", growth, MAX_GROWTH * most / least, "times"
    )


def _measure_size(size: int) -> _Run:
    with tempfile.TemporaryDirectory() as folder:
        clone, repository = Path(folder) / "clone", _Repository()
        with building(clone) as builder:
            for number in range(1, size + 1):
                repository.add_commit(builder, number, FIRST + number * APART)
        since, until = FIRST + size // 10 * APART, FIRST + size * APART
        window = (f"--since={since:%Y-%m-%d}", f"--until={until:%Y-%m-%d}")
        return _time_command(command("risk", f"--clone={clone}", *window, module="evals"), Path(folder))


def _time_command(line: list[str], folder: Path) -> _Run:
    with (folder / "said.txt").open("w+") as output:
        began = time.perf_counter()
        process = subprocess.Popen(line, env=environment(), cwd=ROOT, stdout=output)
        # covers this process and its children, not those that made the clone
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - began
        output.seek(0)
        assert process.returncode == 0
        assert "Verdict: " in output.read()
    # Linux counts kilobytes
    return _Run(seconds, used.ru_maxrss / 1024)
