"""The way of three requests through our code: files crossed, functions called, all calls, deepest stack.

``python -m benchmarks trace`` prints the table; ``python -m benchmarks.trace --baseline PATH`` puts the counts of
another checkout beside it, which has this module too. The bot runs as one process with all its threads; GitHub,
Claude and Slack are emulators on the loopback. A first day is not counted: it builds what is built once.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from localslack.users.person import Person
from localslack.users.transport import HttpTransport

from benchmarks.commands import SECRET
from benchmarks.day import empty_world
from benchmarks.questions import answers_at_once
from benchmarks.table import Table
from bot.clock import Clock
from bot.container import Foundation, open_foundation
from bot.container.schedule import build_schedule_services, build_scheduler
from bot.jobs import DramatiqJobQueue, make_delivery_queue, make_repair_queue, make_watch_queue
from bot.processes import run_processes
from bot.services.operations.deadlines import ShutdownSignal
from bot.settings import load_settings
from handlers import COMMANDS
from tests.emulators.github.store import changed_file, pull
from tests.helpers.checks import closed_port, eventually, waiting_jobs
from tests.helpers.world import CHANNEL, World
from tests.services.doubles import Sleeps

ROOT = Path(__file__).resolve().parents[1]
OURS = tuple(f"{ROOT / name}{os.sep}" for name in ("bot", "handlers"))
# the Slack on the loopback stands in for the world
NOT_OURS = tuple(f"{ROOT / name}{os.sep}" for name in ("bot/sandbox", "localslack"))
REPOSITORY = "octo/engine"
FLOWS = ("a tick to a posted digest", "a thread reply to an answer", "a revert to an edited digest")


@dataclass(frozen=True)
class Counts:
    """What one request crossed."""

    files: int
    functions: int
    calls: int
    depth: int


@dataclass
class Tracer:
    """Counts calls of our functions in all threads that are started after :meth:`install`, while it ``is_on``."""

    is_on: bool = False
    codes: set[CodeType] = field(default_factory=set)
    calls: int = 0
    depth: int = 0
    _own: threading.local = field(default_factory=threading.local)
    _is_ours: dict[CodeType, bool] = field(default_factory=dict)

    def install(self) -> None:
        threading.setprofile(self._hear)
        sys.setprofile(self._hear)

    def count(self, act: Callable[[], None]) -> Counts:
        """Count what an act calls, here and elsewhere, until it returns."""
        self.codes, self.calls, self.depth, self.is_on = set(), 0, 0, True
        try:
            act()
        finally:
            self.is_on = False
        return Counts(len({code.co_filename for code in self.codes}), len(self.codes), self.calls, self.depth)

    def _hear(self, frame: FrameType, event: str, _argument: object) -> None:
        if event not in ("call", "return") or not self._counts(frame.f_code):
            return
        depth = getattr(self._own, "depth", 0) + (1 if event == "call" else -1)
        # a frame that was there before this thread was heard returns once more than it was called
        self._own.depth = max(depth, 0)
        if event == "call" and self.is_on:
            self.codes.add(frame.f_code)
            self.calls += 1
            self.depth = max(self.depth, depth)

    def _counts(self, code: CodeType) -> bool:
        if code not in self._is_ours:
            name = code.co_filename
            # a comprehension is no function that somebody wrote
            is_function = not code.co_name.startswith("<") or code.co_name == "<lambda>"
            self._is_ours[code] = is_function and name.startswith(OURS) and not name.startswith(NOT_OURS)
        return self._is_ours[code]


@dataclass
class Wall:
    """A clock that shows what it was set to."""

    now: datetime

    def __call__(self) -> datetime:
        return self.now


@dataclass
class Office:
    """A bot that runs in this process, with its clock in our hands."""

    there: World
    base: Foundation
    clock: Clock
    wall: Wall
    wire: HttpTransport

    def settle(self) -> None:
        eventually(lambda: not waiting_jobs(self.base.store), 60)

    def tick(self) -> None:
        self.clock.tick()
        self.settle()

    def leads(self) -> list[dict[str, Any]]:
        return [found for found in self.there.slack.list_messages(CHANNEL) if "bot_id" in found]

    def ask(self) -> None:
        thread = self.leads()[-1]["ts"]
        before = len(self.there.slack.list_replies(CHANNEL, thread))
        Person(self.there.slack, self.wire, user="U0BOB").send_message("What changed here?", CHANNEL, thread)
        eventually(lambda: len(self.there.slack.list_replies(CHANNEL, thread)) >= before + 2, 60)
        self.settle()

    def day(self, count: Callable[[Callable[[], None]], Counts]) -> list[Counts]:
        """A morning: the digest, a question below it, and a revert of something that it shows."""
        digests, edits = len(self.leads()), len(self.there.slack.list_calls_to("chat.update"))
        found = [count(self.tick), count(self.ask)]
        assert len(self.leads()) == digests + 1, "no digest was posted"
        number = 100 * self.wall.now.day + 1
        merged = {"merged_at": self.wall.now + timedelta(hours=1), "title": f"Revert #{number}"}
        self.there.github.add(REPOSITORY, pull(number + 50, **merged))
        self.wall.now += timedelta(hours=7)
        found.append(count(self.tick))
        assert len(self.there.slack.list_calls_to("chat.update")) > edits, "no digest was edited"
        return found


def add_day(there: World, date: datetime) -> None:
    """Three small pull requests on the day before a date, numbered by it."""
    for place in (1, 2, 3):
        number = 100 * date.day + place
        patch = f"@@ -1,1 +1,2 @@\n line one\n+retries = {number}\n"
        merged = {"merged_at": date - timedelta(hours=12 - place), "title": f"Count retries {number}"}
        files = (changed_file(f"engine/retry_{place}.py", patch=patch),)
        there.github.add(REPOSITORY, pull(number, files=files, **merged))


@contextmanager
def office(wall: Wall) -> Iterator[Office]:
    with ExitStack() as stack:
        there = stack.enter_context(empty_world())
        there.claude.respond = answers_at_once
        there.github.add(REPOSITORY)
        own = {
            "PRDIGEST_REPO": REPOSITORY,
            "PRDIGEST_CHANNEL": CHANNEL,
            "PRDIGEST_TIMEZONE": "UTC",
            "PRDIGEST_POST_AT": "00:00",
            "SLACK_SIGNING_SECRET": SECRET,
            "PORT": str(closed_port()),
        }
        os.environ.update({**there.settings, **own})
        settings, ending = load_settings(), ShutdownSignal()
        base = stack.enter_context(open_foundation(settings, wall, Sleeps()))
        port = stack.enter_context(run_processes(base, ending, "127.0.0.1"))
        jobs = stack.enter_context(closing(DramatiqJobQueue(base.store, base.keyspace, COMMANDS.jobs)))
        queues = make_delivery_queue(jobs), make_repair_queue(jobs), make_watch_queue(jobs)
        clock = Clock(build_scheduler(base, build_schedule_services(base)), *queues, wall, ending)
        wire = HttpTransport(f"http://127.0.0.1:{port}/slack/events", SECRET, patience=30)
        yield Office(there, base, clock, wall, wire)


def measure() -> dict[str, Counts]:
    """The counts of each flow, on the second day."""
    tracer, today = Tracer(), datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    tracer.install()
    # before the digest of the first day is due
    wall = Wall(today - timedelta(days=1, minutes=1))
    with office(wall) as there:
        # the clock of the process looks once at its start, and posts what was due the day before
        eventually(there.leads, 60)
        there.settle()
        found: list[Counts] = []
        for date in (today - timedelta(days=1), today):
            add_day(there.there, date)
            wall.now = date + timedelta(minutes=1)
            found = there.day(tracer.count)
    sys.setprofile(None)
    threading.setprofile(None)
    return dict(zip(FLOWS, found, strict=True))


def trace_the_flows(_table: Table) -> None:
    """Print the counts; they have no bounds."""
    for line in _lines(measure()):
        print(line)


def _lines(found: dict[str, Counts], base: dict[str, Counts] | None = None) -> Iterator[str]:
    yield f"{'':<32}{'files':>16}{'functions':>16}{'calls':>20}{'depth':>14}"
    for flow, counts in found.items():
        cells = []
        for name, width in (("files", 16), ("functions", 16), ("calls", 20), ("depth", 14)):
            value = getattr(counts, name)
            before = getattr(base[flow], name) if base else None
            text = f"{value:,}" if before is None else f"{before:,} > {value:,}"
            cells.append(f"{text:>{width}}")
        yield f"{flow:<32}{''.join(cells)}"


def _of_checkout(path: Path) -> dict[str, Counts]:
    """The counts of another checkout, which a process of its own takes."""
    command = [sys.executable, "-m", "benchmarks.trace", "--json"]
    done = subprocess.run(
        command, check=False, cwd=path, env={**os.environ, "PYTHONPATH": str(path)}, stdout=subprocess.PIPE
    )
    if done.returncode:
        sys.exit(f"the trace of {path} failed")
    return {flow: Counts(**counts) for flow, counts in json.loads(done.stdout.splitlines()[-1]).items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--baseline", type=Path, help="another checkout")
    parser.add_argument("--json", action="store_true", help="print the counts as one line of JSON")
    options = parser.parse_args()
    base = _of_checkout(options.baseline) if options.baseline else None
    found = measure()
    if options.json:
        print(json.dumps({flow: asdict(counts) for flow, counts in found.items()}))
        return
    for line in _lines(found, base):
        print(line)


if __name__ == "__main__":
    main()
