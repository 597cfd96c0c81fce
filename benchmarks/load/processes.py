"""The bot's processes while they are measured: their memory and their processor time."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from localslack.users.transport import HttpTransport
from redis import Redis

from benchmarks.commands import SECRET
from bot.adapters.redis import connect_server
from tests.helpers.checks import eventually
from tests.helpers.command import command, environment

_MEBIBYTE = 1024.0  # kilobytes
_PATIENCE = 60.0  # seconds until a process takes requests, on a machine that does other work too


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

    started: Mapping[str, subprocess.Popen[bytes]]
    wire: HttpTransport
    store: Redis

    def measure_uses(self) -> dict[str, Use]:
        """Return what each process has used; the store is one of them. Fail if one has ended."""
        ended = [name for name, process in self.started.items() if process.poll() is not None]
        assert not ended, f"ended: {ended}"
        uses = {name: measure_use(process.pid) for name, process in self.started.items()}
        return {**uses, "store": measure_use(int(self.store.info("server")["process_id"]))}


@contextmanager
def run_site(settings: Mapping[str, str], names: Mapping[str, str], module: str = "bot") -> Iterator[Site]:
    """Run the bot's processes until the end of the block: ``names`` has the command of each.

    One of them must be ``web`` or ``run``; the block begins when it takes requests.
    """
    with ExitStack() as stack:
        store = stack.enter_context(connect_server(settings["REDIS_URL"]))
        started: dict[str, subprocess.Popen[bytes]] = {}
        stack.callback(_end_processes, started)
        for name, each in names.items():
            line = command(each, module=module)
            started[name] = subprocess.Popen(line, env=environment(**settings), stderr=subprocess.DEVNULL)
        wire = HttpTransport(f"http://127.0.0.1:{settings['PORT']}/slack/events", SECRET, patience=30)
        eventually(lambda: wire.post(b"", {}).status == 401, _PATIENCE)
        yield Site(started, wire, store)


def _end_processes(started: Mapping[str, subprocess.Popen[bytes]]) -> None:
    for process in started.values():
        process.terminate()
    for process in started.values():
        process.wait(timeout=60)


def name_workers(count: int) -> dict[str, str]:
    """Return names for so many workers."""
    return {f"worker {number}": "worker" for number in range(1, count + 1)}


def print_uses(uses: Mapping[str, Use]) -> None:
    """Print one line for each process."""
    for name, use in uses.items():
        memory = f"{use.megabytes:6.0f} MB, {use.peak:4.0f} MB at its peak"
        print(f"  {name:<10} {memory}, {use.seconds:7.1f} s of processor time")
