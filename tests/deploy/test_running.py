"""A process as the image runs it: it writes to its own folder alone, and the image's health check sees it."""

import subprocess
import sys
from pathlib import Path

import pytest
from redis import Redis

from tests.deploy.files import read_health_check
from tests.helpers.checks import closed_port, eventually
from tests.helpers.processes.command import environment
from tests.helpers.world import world

pytestmark = pytest.mark.slow

# writes down each file that the process opens to change it; `O_ACCMODE` of open(2) is 3
RUN = """
import os, sys
log = os.open(sys.argv.pop(1), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
CHANGES = {"os.mkdir", "os.remove", "os.rename", "os.symlink", "os.chmod"}
def note(event, arguments):
    changes = event in CHANGES or event == "open" and arguments[2] & (os.O_ACCMODE | os.O_CREAT)
    # a number is a file that is open already
    if changes and not isinstance(arguments[0], int):
        os.write(log, os.fsencode(os.path.abspath(os.fsdecode(arguments[0]))) + b"\\n")
sys.addaudithook(note)
from bot.__main__ import main
main()
"""


def check_health(port: int) -> int:
    command = [sys.executable, *read_health_check()[1:]]
    done = subprocess.run(command, env=environment(PORT=str(port)), capture_output=True, check=False, timeout=30)
    return done.returncode


def test_it_writes_only_to_its_folder_and_is_seen_to_be_well(store: Redis, store_url: str, tmp_path: Path) -> None:
    state, home, log = tmp_path / "data" / "state", tmp_path / "home", tmp_path / "written"
    home.mkdir()
    port = closed_port()
    assert check_health(port) != 0
    with world(store_url) as there:
        settings = environment(
            **{name: value for name, value in there.settings.items() if name != "REDIS_URL"},
            PRDIGEST_REPO="octo/engine",
            PRDIGEST_STATE_DIR=str(state),
            SLACK_SIGNING_SECRET="secret",
            PORT=str(port),
            HOME=str(home),
            PYTHONDONTWRITEBYTECODE="1",
        )
        command = [sys.executable, "-c", RUN, str(log), "run"]
        errors = tmp_path / "errors"
        with errors.open("wb") as file, subprocess.Popen(command, cwd=home, env=settings, stderr=file) as process:
            try:
                eventually(lambda: process.poll() is not None or check_health(port) == 0)
            finally:
                process.terminate()
            assert process.wait(timeout=40) == 0, errors.read_text(encoding="utf-8")
    written = {line for line in log.read_text(encoding="utf-8").splitlines() if line != "/dev/null"}
    assert written
    assert {line for line in written if not line.startswith(str(tmp_path / "data"))} == set()
    assert list(home.iterdir()) == []
