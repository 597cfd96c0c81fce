"""The way of some requests through our code: files crossed, functions called, all calls, deepest stack.

``python -m benchmarks trace`` prints the table and the bounds of ``tests/project/bounds.toml``. ``python -m
benchmarks.trace --baseline PATH`` puts the counts of another checkout beside today's, which has this module too.
The bot runs as one process with all its threads; GitHub, Claude and Slack are emulators on the loopback. The first
day is not counted, since it creates what later days reuse. What is crossed on each of the next three counts: what
ran in only some of them, a thread that waited longer, is no part of the way; nor is what runs while nobody asks.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

from localslack.users.person import Person
from localslack.users.transport import HttpTransport

from benchmarks.commands import SECRET
from benchmarks.day import open_empty_world
from benchmarks.questions import answer_at_once
from benchmarks.table import Table
from bot.app import App, open_app
from bot.clock import Clock
from bot.jobs.queues import DramatiqJobQueue
from bot.platform.deadlines import ShutdownSignal
from bot.processes import run_processes
from bot.settings import load_settings
from tests.emulators.github.store import changed_file, pull
from tests.helpers.checks import closed_port, eventually, waiting_jobs
from tests.helpers.doubles import Sleeps
from tests.helpers.world import CHANNEL, World
from tests.project.size import load_bounds

ROOT = Path(__file__).resolve().parents[1]
OURS = tuple(f"{ROOT / name}{os.sep}" for name in ("bot", "handlers"))
REPOSITORY = "octo/engine"
# the server's loop comes round each second, a slow machine's a little later; its threads' heartbeats come as often
IDLE_SECONDS = 3.0
FLOWS = (
    "a tick to a posted digest",
    "a thread reply to an answer",
    "a revert to an edited digest",
    "a fresh /prsummary to its answer",
    "a cached /prsummary to its answer",
)


@dataclass(frozen=True)
class Counts:
    files: int
    functions: int
    calls: int
    depth: int


class Trace(NamedTuple):
    codes: frozenset[CodeType]
    calls: int
    depth: int


def count_common(traces: Sequence[Trace], idle: Trace) -> Counts:
    codes = frozenset.intersection(*(trace.codes for trace in traces)) - idle.codes
    calls, depth = min(trace.calls for trace in traces), min(trace.depth for trace in traces)
    return Counts(len({code.co_filename for code in codes}), len(codes), calls, depth)


@dataclass
class Tracer:
    """A counter of calls of our functions in all threads that start after :meth:`install`, while it ``is_on``."""

    is_on: bool = False
    codes: set[CodeType] = field(default_factory=set)
    calls: int = 0
    depth: int = 0
    _own: threading.local = field(default_factory=threading.local)
    _is_ours: dict[CodeType, bool] = field(default_factory=dict)

    def install(self) -> None:
        threading.setprofile(self._record_frame)
        sys.setprofile(self._record_frame)

    def count(self, act: Callable[[], None]) -> Trace:
        self.codes, self.calls, self.depth, self.is_on = set(), 0, 0, True
        try:
            act()
        finally:
            self.is_on = False
        return Trace(frozenset(self.codes), self.calls, self.depth)

    def _record_frame(self, frame: FrameType, event: str, _argument: object) -> None:
        if event not in ("call", "return") or not self._is_counted(frame.f_code):
            return
        depth = getattr(self._own, "depth", 0) + (1 if event == "call" else -1)
        # a frame that began before the trace returns without a call
        self._own.depth = max(depth, 0)
        if event == "call" and self.is_on:
            self.codes.add(frame.f_code)
            self.calls += 1
            self.depth = max(self.depth, depth)

    def _is_counted(self, code: CodeType) -> bool:
        if code not in self._is_ours:
            name = code.co_filename
            # comprehensions do not count as functions
            is_function = not code.co_name.startswith("<") or code.co_name == "<lambda>"
            self._is_ours[code] = is_function and name.startswith(OURS)
        return self._is_ours[code]


@dataclass
class Wall:
    now: datetime

    def __call__(self) -> datetime:
        return self.now


@dataclass
class Office:
    there: World
    base: App
    clock: Clock
    wall: Wall
    wire: HttpTransport

    def wait_for_jobs(self) -> None:
        """Wait until no job is on the queues; 60 seconds at most."""
        eventually(lambda: not waiting_jobs(self.base.store), 60)

    def tick_clock(self) -> None:
        """Let the clock tick once, and wait for its jobs."""
        self.clock.tick()
        self.wait_for_jobs()

    def list_leads(self) -> list[dict[str, Any]]:
        """Return the bot's messages at the top level of the channel, oldest first."""
        return [message for message in self.there.slack.list_messages(CHANNEL) if "bot_id" in message]

    def ask_question(self) -> None:
        """Ask a question below the latest digest, and wait for the answer."""
        thread = self.list_leads()[-1]["ts"]
        before = len(self.there.slack.list_replies(CHANNEL, thread))
        Person(self.there.slack, self.wire, user="U0BOB").send_message("What changed here?", CHANNEL, thread)
        eventually(lambda: len(self.there.slack.list_replies(CHANNEL, thread)) >= before + 2, 60)
        self.wait_for_jobs()

    def ask_summary(self, number: int) -> None:
        """Ask for a pull request by a command, and wait for the answer, which only who asks sees."""
        slack = self.there.slack
        before = len(slack.ephemerals)
        Person(slack, self.wire, user="U0BOB").send_command("/prsummary", f"{number} private", CHANNEL)
        eventually(lambda: len(slack.ephemerals) > before, 60)
        self.wait_for_jobs()

    def run_day(self, count: Callable[[Callable[[], None]], Trace]) -> list[Trace]:
        """Run a morning: the digest, a question below it, a revert in it, a command twice; return their traces."""
        digests, edits = len(self.list_leads()), len(self.there.slack.list_calls_to("chat.update"))
        traces = [count(self.tick_clock), count(self.ask_question)]
        assert len(self.list_leads()) == digests + 1, "no digest was posted"
        number = 100 * self.wall.now.day + 1
        merged = {"merged_at": self.wall.now + timedelta(hours=1), "title": f"Revert #{number}"}
        self.there.github.add(REPOSITORY, pull(number + 50, **merged))
        self.wall.now += timedelta(hours=7)
        traces.append(count(self.tick_clock))
        assert len(self.there.slack.list_calls_to("chat.update")) > edits, "no digest was edited"
        # merged long ago, so that no digest has it
        add_pull(self.there, number + 60, self.wall.now - timedelta(days=400))
        traces += [count(lambda: self.ask_summary(number + 60)) for _ in ("fresh", "cached")]
        return traces


def add_day(there: World, date: datetime) -> None:
    """Add three small pull requests on the day before a date, numbered by it."""
    for place in (1, 2, 3):
        add_pull(there, 100 * date.day + place, date - timedelta(hours=12 - place))


def add_pull(there: World, number: int, merged_at: datetime) -> None:
    patch = f"@@ -1,1 +1,2 @@\n line one\n+retries = {number}\n"
    files = (changed_file(f"engine/retry_{number % 100}.py", patch=patch),)
    there.github.add(REPOSITORY, pull(number, files=files, merged_at=merged_at, title=f"Count retries {number}"))


@contextmanager
def open_office(wall: Wall) -> Iterator[Office]:
    with ExitStack() as stack:
        there = stack.enter_context(open_empty_world())
        there.claude.respond = answer_at_once
        there.github.add(REPOSITORY)
        own = {
            "PRDIGEST_REPO": REPOSITORY,
            "PRDIGEST_CHANNEL": CHANNEL,
            "PRDIGEST_TIMEZONE": "UTC",
            "PRDIGEST_POST_AT": "00:00",
            "PRDIGEST_MIRROR": "off",
            "SLACK_SIGNING_SECRET": SECRET,
            "PORT": str(closed_port()),
        }
        os.environ.update({**there.settings, **own})
        settings, ending = load_settings(), ShutdownSignal()
        base = stack.enter_context(open_app(settings, wall, Sleeps()))
        port = stack.enter_context(run_processes(base, ending, "127.0.0.1"))
        jobs = stack.enter_context(closing(DramatiqJobQueue(base.store, base.keyspace)))
        clock = Clock(base, jobs, ending)
        wire = HttpTransport(f"http://127.0.0.1:{port}/slack/events", SECRET, patience=30)
        yield Office(there, base, clock, wall, wire)


def measure_flows() -> dict[str, Counts]:
    """Return the counts of each flow: what it crosses on each of three days."""
    tracer, today = Tracer(), datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    tracer.install()
    # before the digest of the first day is due
    dates = [today - timedelta(days=ago) for ago in (3, 2, 1, 0)]
    wall = Wall(dates[0] - timedelta(minutes=1))
    with open_office(wall) as there:
        # at its start the process's clock ticks once, and posts what was due the day before
        eventually(there.list_leads, 60)
        there.wait_for_jobs()
        days: list[list[Trace]] = []
        for date in dates:
            add_day(there.there, date)
            wall.now = date + timedelta(minutes=1)
            days.append(there.run_day(tracer.count))
        idle = tracer.count(lambda: time.sleep(IDLE_SECONDS))
    sys.setprofile(None)
    threading.setprofile(None)
    return {
        flow: count_common(traces, idle) for flow, traces in zip(FLOWS, zip(*days[1:], strict=True), strict=True)
    }


def trace_the_flows(table: Table) -> None:
    flows, bounds = measure_flows(), load_bounds()
    for line in _format_lines(flows):
        print(line)
    for name, figure in list_figures(flows).items():
        if name in bounds:
            table.print_row(name, figure, bounds[name].bound or 0, "")


def list_figures(flows: Mapping[str, Counts]) -> dict[str, float]:
    return {f"{flow}: {name}": count for flow, counts in flows.items() for name, count in asdict(counts).items()}


def _format_lines(flows: dict[str, Counts], base: dict[str, Counts] | None = None) -> Iterator[str]:
    yield f"{'':<34}{'files':>16}{'functions':>16}{'calls':>20}{'depth':>14}"
    for flow, counts in flows.items():
        before = asdict(base[flow]) if base and flow in base else {}
        cells = [
            (f"{before[name]:,} > " if before else "") + f"{count:,}" for name, count in asdict(counts).items()
        ]
        yield f"{flow:<34}{cells[0]:>16}{cells[1]:>16}{cells[2]:>20}{cells[3]:>14}"


def _measure_checkout(path: Path) -> dict[str, Counts]:
    """Return the counts of another checkout, which a process of its own measures."""
    command = [sys.executable, "-m", "benchmarks.trace", "--json"]
    process = subprocess.run(
        command, check=False, cwd=path, env={**os.environ, "PYTHONPATH": str(path)}, stdout=subprocess.PIPE
    )
    if process.returncode:
        sys.exit(f"the trace of {path} failed")
    return {flow: Counts(**counts) for flow, counts in json.loads(process.stdout.splitlines()[-1]).items()}


def main() -> None:
    """Print the counts as a table or as JSON, if asked for beside those of another checkout."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--baseline", type=Path, help="another checkout")
    parser.add_argument("--json", action="store_true", help="print the counts as one line of JSON")
    options = parser.parse_args()
    base = _measure_checkout(options.baseline) if options.baseline else None
    flows = measure_flows()
    if options.json:
        print(json.dumps({flow: asdict(counts) for flow, counts in flows.items()}))
        return
    for line in _format_lines(flows, base):
        print(line)


if __name__ == "__main__":
    main()
