"""Processes of ``git`` that end in time: at their limit, at the deadline of the work, and with this process.

No settings of this user or machine count for them: they may rewrite addresses, run helpers and ask for passwords.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from bot.platform import deadlines
from bot.redaction import redact_text
from impact.git.commands import MISSING_PROGRAM, build_environment
from impact.text.strings import collapse_lines, truncate_text

# bytes of error output that are read; characters of it in a sentence
_MAX_STDERR, _MAX_DETAIL = 20_000, 200
# seconds for the end of a process that closed its output, and of one that was killed
_GRACE_SECONDS = 5.0
# seconds between two looks at a process
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.001, 0.05
# words of git for objects and files that it can't read
_DAMAGE = (
    *("Could not read", "bad object", "bad signature", "bad tree object", "corrupt", "does not match index"),
    *("inflate", "missing blob object", "not a git repository", "not a tree object", "unable to read"),
)

# where the HTTP client of the rest of the bot finds the certificates of a network of one's own
_CERTIFICATES = ("GIT_SSL_CAINFO", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
_ISOLATION = {
    "GIT_ASKPASS": "",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_LITERAL_PATHSPECS": "1",
    # no .netrc
    "HOME": os.devnull,
}


class GitFailure(Exception):
    """A ``git`` that failed, was missing, or was ended. The message is a clause that names the reason.

    ``stderr`` is what it wrote, without credentials, ``status`` the exit status; 0 if it did not come to an end.
    """

    def __init__(self, reason: str, stderr: str = "", status: int = 0) -> None:
        super().__init__(reason)
        self.stderr = stderr
        self.status = status

    @property
    def hints_at_damage(self) -> bool:
        return any(word in self.stderr for word in _DAMAGE)


class GitTimeout(GitFailure):
    """A ``git`` that was ended at its time limit."""


class GitProcess:
    """A running ``git``, which is killed with all that it started once ``seconds`` are over."""

    def __init__(self, process: subprocess.Popen[bytes], complaints: IO[bytes], seconds: float) -> None:
        self._process = process
        self._complaints = complaints
        self._seconds = seconds
        self._lock = threading.Lock()
        self.is_killed = self._is_over = False

    @property
    def output(self) -> IO[bytes]:
        assert self._process.stdout is not None  # noqa: S101 (opened with a pipe)
        return self._process.stdout

    @property
    def stderr_size(self) -> int:
        return os.fstat(self._complaints.fileno()).st_size

    def kill(self) -> None:
        with self._lock:
            if not self._is_over:
                self.is_killed = True
                # the number of the group stays taken until the process is waited for, which needs the lock
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._process.pid, signal.SIGKILL)

    def has_ended(self, seconds: float) -> bool:
        end, pause = time.monotonic() + seconds, _SHORTEST_PAUSE
        while True:
            with self._lock:
                self._is_over = self._is_over or self._process.poll() is not None
            if self._is_over or time.monotonic() >= end:
                return self._is_over
            time.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)

    def require_success(self) -> None:
        """Wait for the end. Raises ProcessShutdown, and GitFailure if git failed or was ended at the limit."""
        if not self.has_ended(_GRACE_SECONDS):
            self.kill()
            self.has_ended(_GRACE_SECONDS)
        deadlines.get_limit().ending.raise_if_triggered()
        if self.is_killed:
            raise GitTimeout(f"it took longer than {self._seconds:.3g} seconds")
        if status := self._process.returncode:
            stderr = self.read_stderr()
            detail = truncate_text(collapse_lines(stderr), _MAX_DETAIL).rstrip(".")
            raise GitFailure(detail or f"git ended with status {status}", stderr, status)

    def read_stderr(self) -> str:
        self._complaints.seek(0)
        return redact_text(self._complaints.read(_MAX_STDERR).decode("utf-8", "replace"))


@contextmanager
def open_process(
    command: Sequence[str | bytes], environment: Mapping[str, str], seconds: float, lines: bytes = b""
) -> Iterator[GitProcess]:
    """Start ``git``, which ends with the block, with ``lines`` as input. Raises GitFailure and ProcessShutdown."""
    seconds = min(seconds, deadlines.get_seconds_left())
    if seconds <= 0:
        raise GitFailure("no time is left for it")
    # files instead of pipes, so that git and this process never wait for each other
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as complaints:
        stdin.write(lines)
        stdin.seek(0)
        try:
            started = subprocess.Popen(  # noqa: S603 (arguments of ours, and no shell)
                command,
                env=environment,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=complaints,
                start_new_session=True,
            )
        except OSError as error:
            raise GitFailure(MISSING_PROGRAM) from error
        with started:
            process = GitProcess(started, complaints, seconds)
            timer = threading.Timer(seconds, process.kill)
            timer.daemon = True
            try:
                with deadlines.get_limit().ending.call_on_trigger(process.kill):
                    timer.start()
                    yield process
            finally:
                timer.cancel()
                process.kill()
                process.has_ended(_GRACE_SECONDS)


def run_git(
    command: Sequence[str | bytes], environment: Mapping[str, str], seconds: float, max_bytes: int
) -> bytes:
    """Return the output of ``git``. Raises ProcessShutdown, and GitFailure, also for too much output."""
    with open_process(command, environment, seconds) as process:
        output = process.output.read(max_bytes + 1)
        if len(output) > max_bytes:
            raise GitFailure(f"it wrote more than {max_bytes:,} bytes")
        process.require_success()
        return output


def build_isolated_environment(folder: Path, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment for a repository of the bot's own. ``more`` wins over the rest."""
    certificates = next((os.environ[name] for name in _CERTIFICATES if os.environ.get(name)), "")
    trust = {"GIT_SSL_CAINFO": certificates} if certificates else {}
    return {**build_environment(folder), **_ISOLATION, **trust, **(more or {})}
