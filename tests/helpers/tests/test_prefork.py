import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.processes.command import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="the forks need Linux")]

# two modules, so that two processes have something to do; each waits a while for the other
SHARED = """
import json, os, sys, time
from pathlib import Path

kept = sys.stderr

with open("collected", "a") as file:
    print(os.getpid(), file=file)

def test_{name}(tmp_path, request):
    print("said by {name}")
    kept.fileno()
    seen = [os.getpid(), os.environ["PYTEST_XDIST_WORKER"], request.config.workerinput["workerid"], str(tmp_path)]
    Path("{name}.json").write_text(json.dumps(seen))
    end = time.monotonic() + 3
    while not Path("{other}.json").exists() and time.monotonic() < end:
        time.sleep(0.01)
    assert {name!r} != "two", "too bad"
"""

THREAD = "import threading, time; threading.Thread(target=time.sleep, args=(20,), daemon=True).start()"


def run_tests(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "conftest.py").write_text('pytest_plugins = ["tests.plugins.prefork"]\n')
    (folder / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
    line = [sys.executable, "-m", "pytest", "-n", "2", "--dist", "loadfile", "--rootdir", ".", *arguments]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    variables = {**kept, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        line, cwd=folder, env=variables, capture_output=True, text=True, timeout=120, check=False
    )


def add_shared_tests(folder: Path) -> None:
    for name, other in (("one", "two"), ("two", "one")):
        (folder / f"test_{name}.py").write_text(SHARED.format(name=name, other=other))


def read_pids(folder: Path) -> list[int]:
    """Which processes collected, once for each module."""
    return [int(line) for line in (folder / "collected").read_text().splitlines()]


def test_the_tests_are_collected_once_and_run_in_processes_of_their_own(tmp_path: Path) -> None:
    add_shared_tests(tmp_path)
    result = run_tests(tmp_path)
    collecting = read_pids(tmp_path)
    assert collecting == [collecting[0]] * 2
    seen = [json.loads((tmp_path / f"{name}.json").read_text()) for name in ("one", "two")]
    pids, workers, inputs, folders = zip(*seen, strict=True)
    assert len({*pids, *collecting}) == 3
    assert sorted(workers) == sorted(inputs) == ["gw0", "gw1"]
    assert [f"popen-{worker}" in folder for worker, folder in zip(workers, folders, strict=True)] == [True, True]
    assert (result.returncode, "1 failed, 1 passed" in result.stdout, result.stderr) == (1, True, "")


def test_a_failure_comes_with_what_its_own_process_printed(tmp_path: Path) -> None:
    add_shared_tests(tmp_path)
    output = run_tests(tmp_path).stdout
    assert "AssertionError: too bad" in output
    assert ("said by two" in output, "said by one" in output) == (True, False)


@pytest.mark.parametrize(
    ("text", "complaint", "reason"),
    [
        ("import nothing_of_this_name", "No module named 'nothing_of_this_name'", "there is an error"),
        (THREAD, "", "a module starts a thread when it is imported"),
    ],
    ids=["an error", "a thread"],
)
def test_what_can_not_be_collected_for_all_is_collected_by_each_and_reported(
    tmp_path: Path, text: str, complaint: str, reason: str
) -> None:
    add_shared_tests(tmp_path)
    (tmp_path / "test_three.py").write_text(f"{text}\n\ndef test_three():\n    pass\n")
    result = run_tests(tmp_path)
    # by the one that would be forked, and by both that run tests
    assert len(set(read_pids(tmp_path))) == 3
    assert complaint in result.stdout
    assert result.stderr == f"Each process collects the tests by itself: {reason}\n"
    assert result.returncode == 1


def test_the_same_seed_gives_the_same_order_in_all_processes(tmp_path: Path) -> None:
    add_shared_tests(tmp_path)
    output = run_tests(tmp_path, "-p", "randomly", "--randomly-seed", "7").stdout
    assert "Using --randomly-seed=7" in output
    assert "Different tests were collected" not in output


def test_one_process_and_no_process_need_no_fork(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("def test_it(): pass\n")
    assert "1 passed" in run_tests(tmp_path, "-n", "0").stdout
    assert "1 passed" in run_tests(tmp_path, "-n", "1").stdout
