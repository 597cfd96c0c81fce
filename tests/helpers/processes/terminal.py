"""A person at a terminal: a process on a pseudo terminal, what it shows, and what is typed."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.helpers.processes.command import command, environment

SECONDS = 60.0
# makes the pseudo terminal that of the process, so that Ctrl-C and the end of the connection are signals
_ATTACH = """
import fcntl, os, signal, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])
"""


class Terminal:
    """``shown`` is all that was shown so far, with the line ends of a file."""

    def __init__(self, process: subprocess.Popen[bytes], master: int) -> None:
        self.process = process
        self._master = master
        self._raw = b""
        self._seen = 0

    @property
    def shown(self) -> str:
        return self._raw.decode(errors="replace").replace("\r\n", "\n")

    def wait_for(self, pattern: str, seconds: float = SECONDS) -> re.Match[str]:
        """Wait for a text after the last one that was waited for. Raises AssertionError."""
        until = time.monotonic() + seconds
        while True:
            if match := re.compile(pattern).search(self.shown, self._seen):
                self._seen = match.end()
                return match
            may_come = self._read(0.1) and time.monotonic() < until
            assert may_come, f"no {pattern!r} in\n{self.shown[self._seen :]}"

    def type_text(self, text: str) -> None:
        os.write(self._master, text.encode())

    def answer(self, pattern: str, text: str) -> None:
        """Wait for a question, and type the answer and Enter."""
        self.wait_for(pattern)
        self.type_text(f"{text}\n")

    def press_ctrl_c(self) -> None:
        # later than a prompt appears: Python loses a signal that comes between that and its waiting for a line
        time.sleep(0.5)
        self.type_text("\x03")

    def hang_up(self) -> int:
        """End the connection as a network does, and return the exit code."""
        os.close(self._master)
        self._master = -1
        return self.process.wait(SECONDS)

    def close(self) -> None:
        if self._master >= 0:
            os.close(self._master)
        self.process.kill()
        self.process.wait()

    def wait_for_end(self, seconds: float = SECONDS) -> int:
        """Return the exit code, once all is shown."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and self._read(0.1):
            pass
        return self.process.wait(max(0.1, until - time.monotonic()))

    def _read(self, seconds: float) -> bool:
        """Read what comes within so many seconds; return whether more may come."""
        if not select.select([self._master], [], [], seconds)[0]:
            return True
        part = b""
        # Linux reports the end of the other side as an error
        with suppress(OSError):
            part = os.read(self._master, 65_536)
        self._raw += part
        return bool(part)


@contextmanager
def open_terminal(*arguments: str, settings: Mapping[str, str], folder: Path) -> Iterator[Terminal]:
    """Start ``prdigest`` in a folder; it is killed at the end of the block if it still runs."""
    master, slave = pty.openpty()
    # as of a window: a progress bar has no room otherwise
    termios.tcsetwinsize(slave, (24, 100))
    process = subprocess.Popen(
        [sys.executable, "-ISc", _ATTACH, *command(*arguments)],
        env=environment(**{"TERM": "xterm", **settings}),
        cwd=folder,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    )
    os.close(slave)
    terminal = Terminal(process, master)
    try:
        yield terminal
    finally:
        terminal.close()
