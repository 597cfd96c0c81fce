import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.waiting import eventually

PROJECT = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Running:
    """A process, and the file that it prints to."""

    process: subprocess.Popen[bytes]
    output: Path

    @property
    def text(self) -> str:
        return self.output.read_text()

    def find(self, pattern: str) -> str:
        """Return the first group of the pattern as soon as it was printed."""
        match = eventually(lambda: re.search(pattern, self.text) or self.process.poll() is not None)
        assert isinstance(match, re.Match), self.text
        return str(match[1])

    def interrupt(self) -> int:
        """Do what Ctrl-C does; return the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=20)


@contextmanager
def run_module(*arguments: str, output: Path, **environment: str) -> Iterator[Running]:
    """Run ``python -m`` with these arguments; it is killed in the end if it runs on."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    with output.open("wb") as file:
        process = subprocess.Popen(
            (sys.executable, "-m", *arguments),
            stdout=file,
            stderr=file,
            cwd=PROJECT,
            env={**kept, "PYTHONUNBUFFERED": "1", **environment},
        )
    try:
        yield Running(process, output)
    finally:
        process.kill()
        process.wait(timeout=20)
