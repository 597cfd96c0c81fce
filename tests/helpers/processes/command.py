"""Runs ``prdigest`` as a process of its own, as a person or a scheduler would."""

import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Protocol
from uuid import uuid4

from tests.helpers.processes.fork_server import Request
from tests.helpers.processes.forks import Forks

ROOT = Path(__file__).parents[3]
# all that the processes trust, which is nobody's: to read the authorities of the system takes 20 ms each time
AUTHORITY = ROOT / "tests" / "data" / "authority.pem"


class Process(Protocol):
    pid: int

    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def send_signal(self, number: int, /) -> None: ...
    def terminate(self) -> None: ...
    def kill(self) -> None: ...


# standard input, output and errors
Files = tuple[int, int, int]
OWN: Files = (0, 1, 2)


class Start(Protocol):
    """Starts a command in a folder, with this process's standard files if no others are given."""

    def __call__(
        self, *arguments: str, settings: Mapping[str, str], folder: Path, module: str = "bot", files: Files = OWN
    ) -> Process: ...


# slack_sdk does not close the answer of a failed call, of which Python 3.14 and later warn
WARNINGS = "error,ignore:Implicitly cleaning up <HTTPError:ResourceWarning"


def environment(**settings: str) -> dict[str, str]:
    """The bare environment of a process: a path, a home, whether to measure coverage, and the settings given."""
    names = ("PATH", "HOME", "TMPDIR", "LANG", "COVERAGE_PROCESS_CONFIG")
    kept = {name: os.environ[name] for name in names if name in os.environ}
    own = {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": WARNINGS, "SSL_CERT_FILE": str(AUTHORITY)}
    # of what a test serves, or none
    own["PRDIGEST_MIRROR"] = "off"
    return {**kept, **own, **settings}


def command(*arguments: str, module: str = "bot") -> list[str]:
    return [sys.executable, "-m", module, *arguments]


# what the processes that share the tests have in common
RUN = os.environ.get("PYTEST_XDIST_TESTRUNUID", uuid4().hex)


def forks_of(run: str) -> Forks:
    # a worker that lost its store looks for it after that many milliseconds; three seconds if nothing is said.
    # Dramatiq reads it when it is imported, so that the forks have what their server was given
    return Forks(ROOT, environment(dramatiq_restart_delay="200"), run)


_forks = forks_of(RUN)


def start_fork(
    *arguments: str, settings: Mapping[str, str], folder: Path, module: str = "bot", files: Files = OWN
) -> Process:
    """Without the second that a new interpreter takes to import: what most tests want."""
    if any(name.startswith(("PYTHON", "LANG", "LC_")) for name in settings):
        # meant for the start of an interpreter
        return start_interpreter(*arguments, settings=settings, folder=folder, module=module, files=files)
    return _forks.start(Request(module, list(arguments), environment(**settings), str(folder)), files)


def start_interpreter(
    *arguments: str, settings: Mapping[str, str], folder: Path, module: str = "bot", files: Files = OWN
) -> Process:
    """By its command line, in an interpreter of its own."""
    stdin, stdout, stderr = files
    line, variables = command(*arguments, module=module), environment(**settings)
    return subprocess.Popen(line, env=variables, cwd=folder, stdin=stdin, stdout=stdout, stderr=stderr)


# the forks need Linux; elsewhere the same tests take longer
started: Start = start_fork if sys.platform == "linux" else start_interpreter


class Caught:
    """A command whose output is caught until it has ended; ``typed`` is its standard input."""

    def __init__(
        self,
        *arguments: str,
        settings: Mapping[str, str],
        folder: Path,
        module: str = "bot",
        typed: str = "",
        start: Start = started,
    ) -> None:
        self._arguments = arguments
        with ExitStack() as stack:
            # files, so that nobody has to read along
            stdin, self._stdout, self._stderr = (stack.enter_context(TemporaryFile()) for _ in range(3))
            stdin.write(typed.encode())
            stdin.seek(0)
            self.process = start(
                *arguments,
                settings=settings,
                folder=folder,
                module=module,
                files=(stdin.fileno(), self._stdout.fileno(), self._stderr.fileno()),
            )
            self._files = stack.pop_all()

    def await_end(self, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        """Wait for its end; it is killed where that takes too long."""
        with self._files:
            try:
                code = self.process.wait(timeout)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise
            output, complaint = (_text(file) for file in (self._stdout, self._stderr))
        return subprocess.CompletedProcess(self._arguments, code, output, complaint)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


def prdigest(
    *arguments: str, settings: Mapping[str, str], folder: Path, typed: str = "", start: Start = started
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end in a folder; ``typed`` is its standard input."""
    return Caught(*arguments, settings=settings, folder=folder, typed=typed, start=start).await_end()
