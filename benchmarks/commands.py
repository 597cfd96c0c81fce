"""How fast slash commands are acknowledged and answered. Slack allows three seconds for the acknowledgement."""

from __future__ import annotations

import statistics
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta

from localslack.users.person import Person
from localslack.users.transport import HttpTransport

from benchmarks.day import MODEL_LATENCY, open_empty_world
from benchmarks.table import Table
from tests.emulators.github.store import changed_file, pull
from tests.helpers.builders import NOON
from tests.helpers.checks import closed_port, eventually
from tests.helpers.processes.command import command, environment
from tests.helpers.world import World

SECRET = "signing-secret"  # noqa: S105 (of nothing)
SLACK_TIMEOUT = 3.0  # seconds
ASKERS = 50
CACHED = 300
# a channel accepts one message a second; this allows fifty channels on one worker
MAX_PER_ANSWER = 20.0  # milliseconds


@contextmanager
def run_processes(there: World, *names: str) -> Iterator[HttpTransport]:
    """Run the bot's processes until the end of the block; yield the transport to them."""
    port = there.settings["PORT"]
    started = [
        subprocess.Popen(command(name), env=environment(**there.settings), stderr=subprocess.DEVNULL)
        for name in names
    ]
    wire = HttpTransport(f"http://127.0.0.1:{port}/slack/events", SECRET, patience=30)
    try:
        if "web" in names:
            eventually(lambda: wire.post(b"", {}).status == 401)
        yield wire
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait(timeout=40)


@contextmanager
def open_team() -> Iterator[World]:
    """Yield a repository with a hundred merges, and a Slack that asks about it."""
    with open_empty_world() as there:
        for number in range(1, 101):
            files = [changed_file(f"src/part_{number}.py", "@@ -1,1 +1,2 @@\n start\n+total = 1")]
            there.github.add("octo/engine", pull(number, merged_at=NOON + timedelta(minutes=number), files=files))
        there.settings.update(
            PRDIGEST_REPO="octo/engine",
            PRDIGEST_USER_LIMIT="1000",
            SLACK_SIGNING_SECRET=SECRET,
            PORT=str(closed_port()),
        )
        yield there


def ask_at_once(there: World, wire: HttpTransport, texts: list[str]) -> list[float]:
    """Send each text from another person, all at one moment; return the seconds until each acknowledgement."""
    gate = threading.Barrier(len(texts))

    def ask(number: int, text: str) -> float:
        person = Person(there.slack, wire, user=f"U{number:05d}")
        gate.wait()
        ack = person.send_command("/prsummary", text).ack
        if (ack.status, ack.text) != (200, ""):
            raise SystemExit(f"refused: {ack}")
        return ack.seconds

    with ThreadPoolExecutor(len(texts)) as pool:
        return list(pool.map(ask, range(len(texts)), texts))


def time_acknowledgements(table: Table) -> None:
    """Time 45 and 500 commands at once against one web process, without a worker."""
    for count in (45, 500):
        with open_team() as there, run_processes(there, "web") as wire:
            ask_at_once(there, wire, ["1"] * 8)
            seconds = ask_at_once(there, wire, [f"{n % 100 + 1} private" for n in range(count)])
        p99 = statistics.quantiles(seconds, n=100)[98]
        table.print_row(f"{count} commands at once: p99 until the acknowledgement", p99, SLACK_TIMEOUT, "s")
        table.print_row(f"{count} commands at once: the last acknowledgement", max(seconds), SLACK_TIMEOUT, "s")


def time_the_same_question(table: Table) -> None:
    """Time fifty people who ask for a pull request that is not cached.

    They ask for a private answer: a channel takes one message a second.
    """
    with open_team() as there, run_processes(there, "web", "worker") as wire:
        there.claude.latency = MODEL_LATENCY
        began = time.perf_counter()
        ask_at_once(there, wire, ["7 private"] * ASKERS)
        eventually(lambda: len(there.slack.ephemerals) == ASKERS)
        seconds, calls = time.perf_counter() - began, len(there.claude.requests)
    table.print_row(f"{ASKERS} people, one pull request: model calls", calls, 1, "calls")
    table.print_row(f"{ASKERS} people: the last answer, against the model's time", seconds, 5 * MODEL_LATENCY, "s")


def time_cached_answers(table: Table) -> None:
    with open_team() as there:
        with run_processes(there, "web", "worker") as wire:
            ask_at_once(there, wire, ["7 private"])
            eventually(lambda: there.slack.ephemerals)
        with run_processes(there, "web") as wire:
            ask_at_once(there, wire, ["7 private"] * CACHED)
        with run_processes(there, "worker"):
            eventually(lambda: len(there.slack.ephemerals) > 1)
            began, before = time.perf_counter(), len(there.slack.ephemerals)
            eventually(lambda: len(there.slack.ephemerals) == CACHED + 1)
            each = 1_000 * (time.perf_counter() - began) / (CACHED + 1 - before)
    print(f"cached /prsummary: {1_000 / each:,.0f} answers a second from one worker")
    table.print_row("cached /prsummary: one worker's time for an answer", each, MAX_PER_ANSWER, "ms")
