"""Forks ``python -m`` processes that have imported before they begin: ``python -m …fork_server LISTENER``.

Most of the time of a short command goes into importing, and the tests run a hundred of them. This process imports
once what the bot imports; each process that it is asked for is a fork of it that goes on as ``python -m`` would.
:mod:`tests.helpers.processes.forks` asks for them. (The forkserver of ``multiprocessing`` ends its forks without
the interpreter's own end, and can't give them a standard input and output.) Of that end, one thing is left out:
see :func:`_spare_libraries`.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import runpy
import selectors
import signal
import socket
import struct
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

# What the bot imports, also what it imports late; ``bot.__main__`` itself is run by each fork. What its libraries
# import late stays late: the order in which modules came is that in which things end.
PRELOADED = (
    "bot.cli",
    "bot.app",
    "bot.processes",
    "bot.platform.models.claude.connection",
    "bot.platform.store.embedded.keeper",
    # the client of HTTP that the model's opens late; nothing of it has an end
    "httpcore2",
)
MOST = 100_000  # bytes of a request; a socket holds more

# what the server has imported besides the standard library, by name; it holds itself, so that it is never freed
_libraries: dict[str, object] = {}


@dataclass(frozen=True)
class Request:
    """What a process is to be: a module as the main one, its arguments, environment and working folder."""

    module: str
    arguments: list[str]
    environment: dict[str, str]
    folder: str

    def dump_json(self) -> bytes:
        return json.dumps(vars(self)).encode()

    @classmethod
    def load_json(cls, text: bytes) -> Request:
        return cls(**json.loads(text))


@dataclass(frozen=True)
class _Fork:
    """A process that runs, and the file in which to say how it ended."""

    pid: int
    told: int


class ForkServer:
    """Takes requests of the processes that run tests, until the last one of them has left."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._clients: set[socket.socket] = set()
        self._selector = selectors.DefaultSelector()
        self._selector.register(listener, selectors.EVENT_READ)

    def serve(self) -> Request | None:
        while True:
            for key, _ in self._selector.select():
                if isinstance(key.data, _Fork):
                    self._reap(key.fd, key.data)
                elif key.fileobj is self._listener:
                    self._accept()
                elif request := self._take(key.fileobj):
                    return request
                elif not self._clients:
                    return None

    def _accept(self) -> None:
        client, _ = self._listener.accept()
        # the name of the socket is open to everybody on this machine
        peer = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        if struct.unpack("3i", peer)[1] != os.getuid():
            client.close()
            return
        self._clients.add(client)
        self._selector.register(client, selectors.EVENT_READ)

    def _take(self, client: object) -> Request | None:
        """What this process is to be, if it is a fork now; None in the server."""
        assert isinstance(client, socket.socket)
        text, files, _, _ = socket.recv_fds(client, MOST, 4)
        if not text:
            self._selector.unregister(client)
            self._clients.remove(client)
            client.close()
            return None
        return Request.load_json(text) if self._fork(files) else None

    def _fork(self, files: list[int]) -> bool:
        """Whether this is the fork. ``files``: its standard files, and where to say its pid and how it ended."""
        assert sys.platform == "linux"
        *standard, told = files
        pid = os.fork()
        if pid == 0:
            self._let_go()
            for number, file in enumerate(standard):
                os.dup2(file, number)
            _close(*files)
            return True
        _close(*standard)
        _say(told, pid)
        self._selector.register(os.pidfd_open(pid), selectors.EVENT_READ, _Fork(pid, told))
        return False

    def _reap(self, ended: int, fork: _Fork) -> None:
        self._selector.unregister(ended)
        _, status = os.waitpid(fork.pid, 0)
        _say(fork.told, os.waitstatus_to_exitcode(status))
        _close(ended, fork.told)

    def _let_go(self) -> None:
        for key in list(self._selector.get_map().values()):
            if isinstance(key.data, _Fork):
                _close(key.fd, key.data.told)
        self._selector.close()
        for each in (self._listener, *self._clients):
            each.close()


def _say(told: int, number: int) -> None:
    # who asked may have forgotten about it
    with suppress(BrokenPipeError):
        os.write(told, f"{number}\n".encode())


def _close(*files: int) -> None:
    for file in files:
        os.close(file)


def _preload() -> None:
    # nothing of what is imported is garbage, and to look for some takes a seventh of the time
    gc.disable()
    for module in PRELOADED:
        importlib.import_module(module)
    _libraries.update(
        (name, module)
        for name, module in sys.modules.items()
        if name != "__main__" and name.partition(".")[0] not in sys.stdlib_module_names
    )
    _libraries[""] = _libraries
    # what is there now is never collected, so that looking for garbage copies no page of it in each fork
    gc.collect()
    gc.freeze()
    gc.enable()
    assert count_threads() == 1


def _spare_libraries() -> None:
    """Keep the end of the interpreter from taking apart what the server has imported.

    That copied most pages of the server in each fork, and took as long as a short command. All else ends as ever:
    threads, callbacks, files, what the command itself has made and imported, and the standard library.
    """
    for name in _libraries:
        sys.modules.pop(name, None)


def _become_program(request: Request) -> None:
    """Go on as ``python -m`` in that folder would, to the end of this interpreter."""
    os.chdir(request.folder)
    os.environ.clear()
    os.environ.update(request.environment)
    time.tzset()
    sys.path[0] = request.folder
    sys.argv[1:] = request.arguments
    unblock_interrupts()
    runpy.run_module(request.module, run_name="__main__", alter_sys=True)


def block_interrupts() -> None:
    """Keep Ctrl-C from this process: it is for the tests. A signal that is blocked keeps its handler in forks."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def unblock_interrupts() -> None:
    """Let Ctrl-C reach a fork, as it reaches a new process."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def count_threads() -> int:
    """Count the threads of this process, those of libraries in C too."""
    # a fork has only the thread that forks: a lock that another one holds would stay locked in it
    return max(threading.active_count(), len(list(Path("/proc/self/task").iterdir())))


def main() -> None:
    block_interrupts()
    # ``nohup`` is meant for the tests, too: a process that ignores this signal at its start goes on doing so
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    # the first one that is registered is the last one that is called
    atexit.register(_spare_libraries)
    _preload()
    request = ForkServer(socket.socket(fileno=int(sys.argv[1]))).serve()
    if request is None:
        # nothing here needs the interpreter's own end
        os._exit(0)
    _become_program(request)


if __name__ == "__main__":
    main()
