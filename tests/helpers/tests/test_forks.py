import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.checks import eventually
from tests.helpers.processes.command import Caught, Start, environment, start_fork, start_interpreter
from tests.helpers.processes.fork_server import Request
from tests.helpers.processes.forks import Forks
from tests.platform.store.embedded.test_server import lives

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="the forks need Linux")]

LOOK = """
import json, os, random, signal, sys, threading, warnings
from pathlib import Path

assert __name__ == "__main__"
found = sorted(int(file.name) for file in Path("/proc/self/fd").iterdir() if file.exists())
json.dump({
    "same": {
        "arguments": sys.argv,
        "folder": os.getcwd(),
        "environment": {name: value for name, value in os.environ.items() if name != "LC_CTYPE"},
        "open": found,
        "read": sys.stdin.read(),
        "path": sys.path,
        "session": [os.getsid(0), os.getpgrp()],
        # tests under ``nohup`` keep the one from their forks (``fork_server.py``), tests in the background of a
        # shell the other
        "handlers": {
            number: str(signal.getsignal(number))
            for number in signal.valid_signals() - {signal.SIGHUP, signal.SIGINT}
        },
        "blocked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ())),
        "threads": threading.active_count(),
        "warnings": [("error", None, Warning, None, 0) in warnings.filters, sys.warnoptions],
        "buffers": [sys.stdout.line_buffering, sys.stderr.line_buffering, sys.stdout.encoding, sys.stderr.errors],
        "tests": [name for name in sys.modules if name.startswith(("pytest", "_pytest", "hypothesis"))],
    },
    "pid": os.getpid(),
    "random": random.random(),
}, sys.stdout)
"""
BEGIN = "import atexit, signal, sys, threading; atexit.register(print, 'at last'); print('begun', end=' ')\n"
ENDS = {
    "through": ("", 0),
    "a code": ("sys.exit(3)", 3),
    "a sentence": ("sys.exit('Too bad.')", 1),
    "an error": ("raise ValueError('Too bad.')", 1),
    # who runs the tests in the background of a shell has Ctrl-C ignored
    "Ctrl-C": (
        "signal.signal(signal.SIGINT, signal.default_int_handler); signal.raise_signal(signal.SIGINT)",
        -signal.SIGINT,
    ),
    "a signal": ("signal.raise_signal(signal.SIGTERM)", -signal.SIGTERM),
    "what was left open": ("left = open('program.py')", 0),
    "a thread": ("threading.Timer(0.1, lambda: print('on', end=' ')).start()", 0),
}
STAY = "import signal; signal.pause()"
ASK = """
import os, signal
from pathlib import Path
from tests.helpers.processes.command import start_fork
staying = start_fork(settings={}, folder=Path.cwd(), module="program")
server = Path(f"/proc/{staying.pid}/stat").read_text().rpartition(")")[2].split()[1]
print(staying.pid, server, flush=True)
signal.pause()
"""
Program = Callable[..., Caught]


def write_program(folder: Path, text: str) -> Program:
    (folder / "program.py").write_text(text)

    def start(*arguments: str, start: Start = start_fork, typed: str = "", **settings: str) -> Caught:
        return Caught(*arguments, settings=settings, folder=folder, module="program", typed=typed, start=start)

    return start


def test_what_a_fork_finds_is_what_a_process_of_the_command_line_finds(tmp_path: Path) -> None:
    program = write_program(tmp_path, LOOK)
    reports: list[dict[str, Any]] = []
    for start in (start_fork, start_fork, start_interpreter):
        process = program("one", "--two", start=start, typed="typed", PRDIGEST_NAME="Größe")
        done = process.await_end()
        assert (done.returncode, done.stderr) == (0, "")
        reports.append(json.loads(done.stdout))
        assert reports[-1]["pid"] == process.process.pid
    first, second, other = (each["same"] for each in reports)
    assert first == second == other
    assert first["environment"] == environment(PRDIGEST_NAME="Größe")
    assert first["open"] == [0, 1, 2]
    assert first["tests"] == []
    assert len({each["random"] for each in reports}) == 3


def test_what_is_set_for_the_start_of_an_interpreter_holds(tmp_path: Path) -> None:
    program = write_program(tmp_path, "import sys; print(sys.stdout.encoding)")
    assert program(PYTHONIOENCODING="ascii").await_end().stdout == "ascii\n"


@pytest.mark.parametrize(("text", "code"), ENDS.values(), ids=ENDS)
def test_a_fork_ends_as_a_process_of_the_command_line_does(text: str, code: int, tmp_path: Path) -> None:
    program = write_program(tmp_path, BEGIN + text)
    fork, other = (program(start=start).await_end() for start in (start_fork, start_interpreter))
    assert fork.returncode == other.returncode == code
    assert fork.stdout == other.stdout
    # above the error itself stands who called it
    assert fork.stderr.splitlines()[-1:] == other.stderr.splitlines()[-1:]


def test_a_fork_that_has_ended_is_gone_and_whoever_asks_hears_how(tmp_path: Path) -> None:
    running = write_program(tmp_path, STAY)()
    process = running.process
    assert process.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=0.01)
    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(process.wait, 10) for _ in range(4)]
        process.kill()
        assert {each.result() for each in waiting} == {-signal.SIGKILL}
    assert not Path(f"/proc/{process.pid}").exists()
    process.terminate()
    assert process.poll() == running.await_end().returncode == -signal.SIGKILL


def test_many_ask_at_once_and_some_do_not_wait(tmp_path: Path) -> None:
    program = write_program(tmp_path, "import sys; sys.exit(int(sys.argv[1]))")
    for code in range(4):
        start_fork(str(code), settings={}, folder=tmp_path, module="program")
    with ThreadPoolExecutor(8) as pool:
        ends = list(pool.map(lambda code: program(str(code)).await_end().returncode, range(8)))
    assert ends == list(range(8))


def test_a_server_ends_when_its_tests_are_killed_and_what_runs_goes_on(tmp_path: Path) -> None:
    write_program(tmp_path, STAY)
    command = [sys.executable, "-c", ASK]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment(), cwd=tmp_path, stdout=pipe, text=True) as tests:
        assert tests.stdout is not None
        fork, server = map(int, tests.stdout.readline().split())
        assert lives(server)
        tests.kill()
    eventually(lambda: not lives(server))
    assert lives(fork)
    os.kill(fork, signal.SIGKILL)


def test_processes_of_one_run_share_a_server_until_the_last_one_ends(tmp_path: Path) -> None:
    write_program(tmp_path, STAY)
    line, pipe = [sys.executable, "-c", ASK], subprocess.PIPE
    variables = environment(PYTEST_XDIST_TESTRUNUID=tmp_path.name + str(os.getpid()))
    with ExitStack() as stack:
        tests = []
        forks = []
        servers = set()
        for _ in range(3):
            started = subprocess.Popen(line, env=variables, cwd=tmp_path, stdout=pipe, text=True)
            tests.append(stack.enter_context(started))
        for each in tests:
            assert each.stdout is not None
            fork, server = map(int, each.stdout.readline().split())
            forks.append(fork)
            servers.add(server)
        assert servers == {server}
        for each, fork in zip(tests, forks, strict=True):
            assert lives(server)
            os.kill(fork, signal.SIGKILL)
            each.kill()
            each.wait()
    eventually(lambda: not lives(server))


def test_a_server_that_can_not_start_is_told(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "__init__.py").write_text("raise SystemExit('Too bad.')")
    forks = Forks(tmp_path, {}, "run")
    with pytest.raises(RuntimeError, match="ended"):
        forks.start(Request("bot", [], {}, str(tmp_path)), (0, 1, 2))
