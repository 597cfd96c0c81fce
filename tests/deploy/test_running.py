"""A process as the image runs it: it writes to its own folder alone, and the image's health check sees it."""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from localslack.socket_mode import SocketTransport
from localslack.users.person import Person
from redis import Redis

from tests.deploy.files import list_arguments, read_health_check
from tests.helpers.checks import closed_port, eventually
from tests.helpers.processes.command import environment
from tests.helpers.world import CHANNEL, World, add_yesterday, world

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
                eventually(lambda: process.poll() is not None or check_health(port) == 0, 60)
            finally:
                process.terminate()
            assert process.wait(timeout=40) == 0, errors.read_text(encoding="utf-8")
    written = {line for line in log.read_text(encoding="utf-8").splitlines() if line != "/dev/null"}
    assert written
    assert {line for line in written if not line.startswith(str(tmp_path / "data"))} == set()
    assert list(home.iterdir()) == []


SECRETS = ("SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "GITHUB_TOKEN")
# of what stands for the services here
ADDRESSES = ("SLACK_API_URL", "GITHUB_API_URL")


def list_image_variables(data: Path) -> dict[str, str]:
    """Return the variables of the image, with its volume at ``data``."""
    variables = dict(part.split("=", 1) for part in list_arguments("ENV")[-1].split())
    return {name: value.replace("/data", str(data)) for name, value in variables.items() if name != "PATH"}


@contextmanager
def run_as_image(there: World, data: Path, command: Sequence[str | Path] = ()) -> Iterator[str]:
    """Run the image's own command with three secrets and the addresses of services; yield the port.

    ``command`` takes the place of ``prdigest``.
    """
    port = str(closed_port())
    started = [word for name in ("ENTRYPOINT", "CMD") for word in json.loads(list_arguments(name)[0])]
    assert started == ["prdigest", "run"]
    secrets = {name: {**there.settings, "SLACK_APP_TOKEN": there.slack.app_token}[name] for name in SECRETS}
    addresses = {name: there.settings[name] for name in ADDRESSES}
    settings = {**list_image_variables(data), **secrets, **addresses, "PORT": port}
    bare = {name: value for name, value in environment(**settings).items() if name != "PRDIGEST_MIRROR"}
    data.mkdir(exist_ok=True)
    log = data / "log"
    with log.open("ab") as file:
        line = [*(command or (sys.executable, "-m", "bot")), "run"]
        process = subprocess.Popen(line, cwd=data, env=bare, stderr=file)
    try:
        eventually(lambda: process.poll() is not None or check_health(int(port)) == 0, 60)
        there.slack.socket.wait_for_connections(1, 30)
        yield port
    finally:
        process.terminate()
        assert process.wait(timeout=40) == 0, log.read_text(encoding="utf-8")
    assert "a defect" not in log.read_text(encoding="utf-8"), log.read_text(encoding="utf-8")


def test_three_variables_serve_and_the_rest_is_said_in_slack(tmp_path: Path) -> None:
    with world("") as there:
        add_yesterday(there.github)
        there.github.add("octo/secret")
        secret = there.github.store.find("octo/secret")
        assert secret
        secret.is_private = True
        there.slack.remove_bot(CHANNEL)
        person = Person(there.slack, SocketTransport(there.slack.socket), user="U0ADA")

        def read() -> str:
            """All that the bot wrote where this person sees it."""
            shown = [each for each in there.slack.ephemerals if each["user"] == person.user]
            return str([*there.slack.list_messages(CHANNEL), *shown])

        with run_as_image(there, tmp_path / "data"):
            person.invite(CHANNEL)
            person.open_home()
            eventually(lambda: "No repository is chosen yet" in str(there.slack.get_home(person.user)))
            eventually(lambda: "No repository is chosen yet" in read())
            assert "No repository is chosen yet" in person.send_command("/prsummary", "101").ack.text
            assert "No repository is chosen yet" in person.send_command("/prdigest", "subscribe at 9am").ack.text
            for name in ("octo/secret", "octo/nowhere"):
                person.send_command("/prdigest", f"subscribe {name} at 9am")
                eventually(lambda name=name: f"no public repository {name}" in read())  # type: ignore[misc]
            person.send_command("/prdigest", "subscribe octo/engine at 9am")
            eventually(lambda: "every day at 09:00" in read())
            person.send_command("/prsummary", "101")
            eventually(lambda: "#101 Change part 101" in read())
            person.send_command("/prdigest", "yesterday")
            eventually(lambda: "2 merged" in read())
            assert "not set up for octo/secret" in person.send_command("/prsummary", "octo/secret#1").ack.text
        # what is kept on the volume is known to the next container
        with run_as_image(there, tmp_path / "data"):
            person.send_command("/prsummary", "102")
            eventually(lambda: "#102 Change part 102" in read())
