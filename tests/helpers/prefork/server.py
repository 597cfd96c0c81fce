"""Collects the tests, and is forked by each process that shares them: ``python -m …server LISTENER``."""

import json
import os
import signal
import socket
import sys
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import execnet
import pytest
from _pytest.config import _prepareconfig

from tests.helpers.prefork.run import RUN, Run
from tests.helpers.processes.fork_server import ForkServer, block_interrupts, count_threads, unblock_interrupts

_SHARED_CAPTURE = pytest.StashKey[object]()


@dataclass(frozen=True)
class CollectedTests:
    """A session of pytest between its collection and its first test, as xdist has it in each of its processes."""

    config: pytest.Config
    session: pytest.Session
    # the module that is the other end of xdist's scheduler
    remote: Any

    def run(self, channel: execnet.Channel) -> None:
        """Run the tests that xdist's scheduler names, to the end of the session."""
        workerinput, _, options, _ = channel.receive()
        os.environ["PYTEST_XDIST_WORKER"] = workerinput["workerid"]
        os.environ["PYTEST_XDIST_WORKER_COUNT"] = str(workerinput["workercount"])
        self.config.workerinput.update(workerinput)  # type: ignore[attr-defined]
        self.config.option.basetemp = options.get("basetemp")
        # its folder is that of the process
        _get_plugin(self.config, "tmpdir").pytest_configure(self.config)
        self._restart_capture()
        interactor = self.remote.WorkerInteractor(self.config, channel)
        # where xdist looks for it when an error of pytest is to be reported
        self.remote.interactor = interactor
        interactor.pytest_sessionstart(self.session)
        interactor.pytest_collection()
        interactor.pytest_collection_finish(self.session)
        try:
            self.config.hook.pytest_runtestloop(session=self.session)
        except (KeyboardInterrupt, pytest.exit.Exception):
            self.session.exitstatus = pytest.ExitCode.INTERRUPTED
        finally:
            # ends what the tests have started, too
            self.config.hook.pytest_sessionfinish(session=self.session, exitstatus=self.session.exitstatus)
            self.config._ensure_unconfigure()

    def _restart_capture(self) -> None:
        """Capture to files of its own: forks share the open ones.

        Those stay open, as a module may have kept ``sys.stderr`` when it was imported.
        """
        capture = _get_plugin(self.config, "capturemanager")
        self.config.stash[_SHARED_CAPTURE] = capture._global_capturing
        capture._global_capturing = None
        capture.start_global_capturing()


# None in a process that has collected nothing
collected: CollectedTests | None = None


def _get_plugin(config: pytest.Config, name: str) -> Any:
    return config.pluginmanager.get_plugin(name)


class _Problems:
    """Tells whether a collection had errors, skipped modules or warnings, which only xdist's own way reports."""

    def __init__(self) -> None:
        self.are_there = False

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self.are_there |= not report.passed

    def pytest_warning_recorded(self) -> None:
        self.are_there = True


class _NotSharedError(Exception):
    """Why a collection can't be shared."""


def collect(run: Run) -> CollectedTests:
    """Do what a process of xdist does before its first test.

    Raises what pytest raises, and _NotSharedError where each process has to collect by itself for another reason.
    """
    os.environ["PYTEST_XDIST_TESTRUNUID"] = run.workerinput["testrunuid"]
    sys.path[:] = run.path
    problems = _Problems()
    config = _prepareconfig(run.arguments, [problems])
    # pytest wants to be the first to import its plugins
    remote = import_module("xdist.remote")
    remote.setup_config(config, None)
    config.workerinput = run.workerinput  # type: ignore[attr-defined]
    config.workeroutput = {}  # type: ignore[attr-defined]
    config._do_configure()
    session = pytest.Session.from_config(config)
    session.exitstatus = pytest.ExitCode.OK
    config.hook.pytest_sessionstart(session=session)
    config.hook.pytest_collection(session=session)
    _get_plugin(config, "capturemanager").suspend_global_capture(in_=True)
    if problems.are_there:
        raise _NotSharedError("there is an error")
    if count_threads() > 1:
        raise _NotSharedError("a module starts a thread when it is imported")
    return CollectedTests(config, session, remote)


def main() -> None:
    global collected  # noqa: PLW0603 - the text that xdist sends looks for it here
    # Ctrl-C ends a collection without a word
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    run = Run(**json.loads(os.environ.pop(RUN)))
    try:
        collected = collect(run)
    except (Exception, pytest.exit.Exception) as error:
        # reported by those that collect again
        os.write(2, f"Each process collects the tests by itself: {error}\n".encode())
    block_interrupts()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    request = ForkServer(socket.socket(fileno=int(sys.argv[1]))).serve()
    if request is None:
        os._exit(0)
    unblock_interrupts()
    *_, code = request.arguments
    if collected is None:
        os.execv(sys.executable, [sys.executable, "-c", code])  # noqa: S606 - there is nothing for a shell
    exec(code, {"__name__": "__main__"})  # noqa: S102 - as Python does with what follows -c


if __name__ == "__main__":
    # as the module that others import, not as the main one
    import_module("tests.helpers.prefork.server").main()
