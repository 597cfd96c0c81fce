"""Starts processes by forking one that has imported before: real ones in all but the start of an interpreter.

Each has its own pid, environment, working folder, standard files and signal handlers, and the end of a normal
process. What it has in common with others of the same run of tests: the seed of its hashes.
"""

import atexit
import errno
import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from weakref import finalize

from tests.helpers.checks import is_readable
from tests.helpers.processes.fork_server import MOST, Request


class Forked:
    """A process that was forked, with what tests use of :class:`subprocess.Popen`."""

    def __init__(self, pid: int, told: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._told = told
        self._lock = threading.Lock()
        finalize(self, os.close, told)

    def poll(self) -> int | None:
        return self._find_end(0)

    def wait(self, timeout: float | None = None) -> int:
        code = self._find_end(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(f"fork {self.pid}", timeout or 0)
        return code

    def send_signal(self, number: int) -> None:
        """Nothing where it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _find_end(self, timeout: float | None) -> int | None:
        """How it ended, minus the number of a signal that ended it; None if it runs on. Any thread may ask."""
        if self.returncode is None and is_readable(self._told, timeout):
            with self._lock:
                if self.returncode is None:
                    self.returncode = _number(self._told)
        return self.returncode


def _number(told: int) -> int:
    """The next that the server says of a process: its pid, then how it ended."""
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(told, 1)
        if not byte:
            raise RuntimeError("the server of forks has ended: its complaint stands above")
        line += byte
    return int(line)


class Forks:
    """A server that the processes of a run of tests share: it takes seconds to import what the bot imports.

    It starts when the first of them asks for a process, and ends when the last of them has, however that was.
    Those with the same ``run``, folder, environment and module ask the same one.
    """

    def __init__(
        self,
        folder: Path,
        environment: Mapping[str, str],
        run: str,
        module: str = "tests.helpers.processes.fork_server",
    ) -> None:
        """``module`` is the main one of the server. It gets the number of the socket at which it is asked."""
        self._folder = folder
        self._environment = environment
        self._module = module
        described = json.dumps([run, str(folder), sorted(environment.items()), module])
        # an abstract name, which is free again as soon as the server has ended
        self._address = f"\0prdigest-forks-{hashlib.sha256(described.encode()).hexdigest()}"
        self._lock = threading.Lock()
        self._server: socket.socket | None = None

    def prepare(self) -> socket.socket:
        """Return the connection to the server; start the server if nobody has."""
        with self._lock:
            if self._server is None:
                self._server = self._connect()
                # called before what was registered earlier
                atexit.register(self._server.close)
            return self._server

    def start(self, request: Request, standard: tuple[int, int, int]) -> Forked:
        server = self.prepare()
        asked = request.dump_json()
        assert len(asked) < MOST
        here, there = os.pipe()
        try:
            socket.send_fds(server, [asked], [*standard, there])
        finally:
            os.close(there)
        return Forked(_number(here), here)

    def _connect(self) -> socket.socket:
        server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            try:
                listener.bind(self._address)
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
                _connect_soon(server, self._address)
                return server
            listener.listen()
            server.connect(self._address)
            self._run(listener)
        return server

    def _run(self, listener: socket.socket) -> None:
        process = subprocess.Popen(
            [sys.executable, "-m", self._module, str(listener.fileno())],
            cwd=self._folder,
            env=self._environment,
            pass_fds=[listener.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        # it ends when the other processes of the run have ended, too
        atexit.register(process.wait)


def _connect_soon(server: socket.socket, address: str) -> None:
    end = time.monotonic() + 10
    while (error := server.connect_ex(address)) == errno.ECONNREFUSED and time.monotonic() < end:
        time.sleep(0.01)
    if error:
        raise OSError(error, "the server of forks does not listen")
