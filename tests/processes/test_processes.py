"""The Procfile's processes, as processes: each does its part, several of a kind do not get in each other's way.

What people do in Slack and what comes of it is in ``scenarios/``.
"""

import ctypes
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from localslack.users.person import Person
from localslack.users.transport import HttpTransport
from redis import Redis

from tests.helpers.checks import closed_port, eventually
from tests.helpers.processes.command import ROOT, Process, Start, prdigest, start_interpreter, started
from tests.helpers.world import CHANNEL, World, add_yesterday, world

pytestmark = pytest.mark.slow

SECRET = "signing-secret"


@pytest.fixture
def there(store: Redis, store_url: str) -> Iterator[World]:
    with world(store_url) as made:
        add_yesterday(made.github)
        made.settings.update(
            PRDIGEST_REPO="octo/engine",
            PRDIGEST_CHANNEL=CHANNEL,
            PRDIGEST_POST_AT="00:00",
            SLACK_SIGNING_SECRET=SECRET,
            PORT=str(closed_port()),
        )
        yield made


@contextmanager
def running(there: World, folder: Path, *names: str, start: Start = started) -> Iterator[list[Process]]:
    """Processes that have started, and end with the block: by SIGTERM, cleanly."""
    logs = [folder / f"{number}-{name}.log" for number, name in enumerate(names)]
    processes = [start_logged(there, name, log, start) for name, log in zip(names, logs, strict=True)]
    try:
        eventually(lambda: all(" started\n" in log.read_text() for log in logs))
        yield processes
    finally:
        for process in processes:
            process.terminate()
        assert [process.wait(timeout=40) for process in processes] == [0] * len(processes)


def start_logged(there: World, name: str, log: Path, start: Start) -> Process:
    with log.open("wb") as file:
        return start(name, settings=there.settings, folder=log.parent, files=(0, 1, file.fileno()))


def test_the_procfile_names_commands_that_exist() -> None:
    lines = (ROOT / "Procfile").read_text().split("\n")
    assert [line.split(": ") for line in lines if line] == [
        # who reads a Procfile routes requests and health checks to a container
        ["web", "PRDIGEST_LISTEN_HOST=${PRDIGEST_LISTEN_HOST:-0.0.0.0} prdigest web"],
        ["worker", "prdigest worker"],
        ["clock", "prdigest clock"],
    ]


@pytest.mark.skipif(sys.platform != "linux", reason="signals of single threads are sent by a call of Linux")
@pytest.mark.parametrize("name", ["web", "worker", "clock"])
def test_a_process_ends_also_if_the_system_hands_its_signal_to_another_thread(
    there: World, tmp_path: Path, name: str
) -> None:
    """As it may after SIGSTOP and SIGCONT: the main thread, which runs handlers, sleeps on."""
    with running(there, tmp_path, name) as [process]:
        others = {int(task.name) for task in Path(f"/proc/{process.pid}/task").iterdir()} - {process.pid}
        assert ctypes.CDLL(None).tgkill(process.pid, max(others), signal.SIGTERM) == 0
        assert process.wait(timeout=15) == 0


def test_two_clocks_and_two_workers_post_yesterdays_digest_once(there: World, tmp_path: Path) -> None:
    with running(there, tmp_path, "clock", "clock", "worker", "worker"):
        eventually(lambda: there.slack.files)
        eventually(lambda: there.slack.list_calls_to("chat.getPermalink"))
    lead, replies = there.digest()
    assert "2 merged" in lead["text"]
    assert len(replies) == 2


def test_what_a_web_process_takes_a_worker_process_answers(there: World, tmp_path: Path) -> None:
    """The worker, which imports most, by its command line, as the Procfile starts it; the others are forks."""
    wire = HttpTransport(f"http://127.0.0.1:{there.settings['PORT']}/slack/events", SECRET)
    with running(there, tmp_path, "web"), running(there, tmp_path, "worker", start=start_interpreter):
        assert Person(there.slack, wire).send_command("/prsummary", "101").ack.text == ""
        eventually(lambda: there.slack.list_messages(CHANNEL))
    (message,) = there.slack.list_messages(CHANNEL)
    assert message["text"] == "#101 Change part 101"


def test_what_is_taken_while_no_worker_runs_is_answered_by_the_next_one(there: World, tmp_path: Path) -> None:
    wire = HttpTransport(f"http://127.0.0.1:{there.settings['PORT']}/slack/events", SECRET)
    with running(there, tmp_path, "web"):
        assert Person(there.slack, wire).send_command("/prsummary", "102").ack.text == ""
    assert not there.slack.list_messages(CHANNEL)
    with running(there, tmp_path, "worker"):
        eventually(lambda: there.slack.list_messages(CHANNEL))


@pytest.mark.parametrize(
    ("name", "missing", "sentence"),
    [
        ("web", "SLACK_SIGNING_SECRET", "Set SLACK_SIGNING_SECRET"),
        ("web", "SLACK_BOT_TOKEN", "Set SLACK_BOT_TOKEN"),
    ],
)
def test_a_process_without_a_setting_ends_with_a_sentence(
    name: str, missing: str, sentence: str, there: World, tmp_path: Path
) -> None:
    done = prdigest(name, settings={**there.settings, missing: ""}, folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(sentence)
