"""Stands for a process of pytest-xdist: asks for a fork with its own standard files, and ends as that one does."""

import json
import os
import signal
import sys
from pathlib import Path

from tests.helpers.prefork.run import RUN, Run
from tests.helpers.processes.fork_server import Request, block_interrupts
from tests.helpers.processes.forks import Forks


def main() -> int:
    """Ask with the arguments that xdist's library gives a Python: ``-c`` and a line of code."""
    # Ctrl-C ends the wait for the collection without a word; later it is meant for the fork
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    run = Run(**json.loads(os.environ[RUN]))
    forks = Forks(Path.cwd(), os.environ, run.workerinput["testrunuid"], module="tests.helpers.prefork.server")
    worker = forks.start(Request("", sys.argv[1:], {}, ""), (0, 1, 2))
    block_interrupts()
    # the other end sees the end of the fork only where nobody else has its files
    for number in (0, 1):
        os.close(number)
    return worker.wait()


if __name__ == "__main__":
    os._exit(main())
