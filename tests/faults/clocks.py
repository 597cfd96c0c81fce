"""The clock of the day of real processes: shifted for one of them, or put forward for all at the same moment."""

import atexit
import mmap
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from tests.helpers.processes.command import OWN, ROOT, RUN, Files, Process, environment, start_fork
from tests.helpers.processes.fork_server import Request
from tests.helpers.processes.forks import Forks

_SOURCE = Path(__file__).with_name("shifted_clock.c")
_NANOSECONDS = 1_000_000_000


def can_shift() -> bool:
    """Whether the clock of a process can be shifted here: that needs Linux and a C compiler."""
    return sys.platform == "linux" and shutil.which("cc") is not None


@cache
def _shifting_forks() -> Forks:
    """A server of forks whose clocks can be shifted; the library lies in a folder until this process ends."""
    folder = Path(tempfile.mkdtemp(prefix="prdigest-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    library = folder / "shifted_clock.so"
    line = ["cc", "-shared", "-fPIC", "-O2", "-o", str(library), str(_SOURCE), "-ldl"]
    subprocess.run(line, check=True, timeout=60)
    return Forks(ROOT, environment(dramatiq_restart_delay="200", LD_PRELOAD=str(library)), RUN)


def start_shifted(
    *arguments: str, settings: Mapping[str, str], folder: Path, module: str = "bot", files: Files = OWN
) -> Process:
    """Start a process whose clock can be shifted, where that can be done; else a usual one."""
    if not can_shift():
        return start_fork(*arguments, settings=settings, folder=folder, module=module, files=files)
    return _shifting_forks().start(Request(module, list(arguments), environment(**settings), str(folder)), files)


class Clocks:
    """The shifts of the clocks of named processes, in seconds."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, mmap.mmap] = {}
        self._skews: dict[str, float] = {}
        self._ahead = 0.0

    def now(self) -> float:
        """The time of everybody whose clock is right: seconds since 1970."""
        return time.time() + self._ahead

    def setting(self, name: str) -> dict[str, str]:
        path = self._folder / f"clock-{name}"
        if name not in self._files:
            path.write_bytes(struct.pack("q", 0))
            with path.open("r+b") as file:
                self._files[name] = mmap.mmap(file.fileno(), 8)
            self._write(name)
        return {"SHIFTED_CLOCK": str(path)}

    def skew(self, name: str, seconds: float) -> None:
        """Let one clock be wrong by so many seconds; it goes ahead if they are positive."""
        self.setting(name)
        self._skews[name] = seconds
        self._write(name)

    def advance(self, seconds: float) -> None:
        self._ahead += seconds
        for name in self._files:
            self._write(name)

    def _write(self, name: str) -> None:
        shift = self._ahead + self._skews.get(name, 0.0)
        self._files[name][:] = struct.pack("q", int(shift * _NANOSECONDS))
