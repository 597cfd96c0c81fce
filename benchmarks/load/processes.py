"""The bot's processes while they are measured: their memory and their processor time."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from localslack.users.transport import HttpTransport
from redis import Redis

from benchmarks.commands import SECRET
from bot.platform.store.connection import connect_server
from tests.helpers.checks import eventually
from tests.helpers.processes.command import Process, Start, start_interpreter

_MEBIBYTE = 1024.0  # kilobytes
_PATIENCE = 60.0  # seconds until a process takes requests, on a machine that does other work too
WEB = {"web": "web"}


@dataclass(frozen=True)
class Use:
    """What a process has used: megabytes now and at its peak, seconds of processor time."""

    megabytes: float
    peak: float
    seconds: float


def measure_use(pid: int) -> Use:
    """Return what a process has used so far. Works on Linux only."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    # the name of a process may contain blanks: the fields begin after its parenthesis
    times = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    ticks = int(times[11]) + int(times[12])
    return Use(
        _read_megabytes(status["VmRSS"]), _read_megabytes(status["VmHWM"]), ticks / os.sysconf("SC_CLK_TCK")
    )


def _read_megabytes(field: str) -> float:
    return int(field.split(maxsplit=1)[0]) / _MEBIBYTE


@dataclass(frozen=True)
class Site:
    """The processes of one bot, each with a name, and the transport of Slack's requests to it."""

    started: Mapping[str, Process]
    wire: HttpTransport
    store: Redis

    def measure_uses(self) -> dict[str, Use]:
        """Return what each process has used; the store is one of them."""
        uses = measure_started(self.started)
        return {**uses, "store": measure_use(int(self.store.info("server")["process_id"]))}


def measure_started(started: Mapping[str, Process]) -> dict[str, Use]:
    ended = [name for name, process in started.items() if process.poll() is not None]
    assert not ended, f"ended: {ended}"
    return {name: measure_use(process.pid) for name, process in started.items()}


@contextmanager
def run_site(
    settings: Mapping[str, str], names: Mapping[str, str], start: Start = start_interpreter, module: str = "bot"
) -> Iterator[Site]:
    """Run the bot's processes until the end of the block: ``names`` has the command of each.

    One of them must be ``web`` or ``run``; the block begins when it takes requests.
    """
    with connect_server(settings["REDIS_URL"]) as store, run_named(settings, names, start, module) as started:
        wire = HttpTransport(f"http://127.0.0.1:{settings['PORT']}/slack/events", SECRET, patience=30)
        eventually(lambda: wire.post(b"", {}).status == 401, _PATIENCE)
        yield Site(started, wire, store)


@contextmanager
def run_named(
    settings: Mapping[str, str], names: Mapping[str, str], start: Start = start_interpreter, module: str = "bot"
) -> Iterator[Mapping[str, Process]]:
    """Run processes until the end of the block, without their log."""
    started: dict[str, Process] = {}
    with ExitStack() as stack, Path(os.devnull).open("r+b") as nothing:
        stack.callback(_end_processes, started)
        for name, command in names.items():
            files = (nothing.fileno(),) * 3
            started[name] = start(command, settings=settings, folder=Path.cwd(), module=module, files=files)
        yield started


def _end_processes(started: Mapping[str, Process]) -> None:
    for process in started.values():
        process.terminate()
    for process in started.values():
        process.wait(timeout=60)


def name_workers(count: int) -> dict[str, str]:
    return {f"worker {number}": "worker" for number in range(1, count + 1)}


def print_uses(uses: Mapping[str, Use]) -> None:
    for name, use in uses.items():
        memory = f"{use.megabytes:6.0f} MB, {use.peak:4.0f} MB at its peak"
        print(f"  {name:<10} {memory}, {use.seconds:7.1f} s of processor time")
