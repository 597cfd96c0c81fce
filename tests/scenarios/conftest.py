"""The bots that the scenarios talk to: processes that are started when first asked for, and end together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from bot.platform.store.connection import connect_server
from bot.platform.store.embedded.server import start_embedded_url
from tests.helpers.checks import closed_port
from tests.helpers.processes.command import Process, started
from tests.helpers.world import USUAL, Tokens, World, world
from tests.platform.slack.accepted import nodes
from tests.scenarios import REPO, SECRET, Bot, Supply, allowed_repositories, noon_zone

# over HTTP, as a larger installation runs it: a process for each task
APART = "apart"
# the kind whose app is declared as an agent of Slack
AGENT = "agent"
_PARTS = ("web", "worker", "clock")


class Bots:
    """A bot of each kind and transport, on one store; those of a kind share the world around them.

    A bot is one process, ``prdigest run``, and three of them where the transport is ``APART``.
    """

    def __init__(self, folder: Path, store_url: str, module: str = "bot", tokens: Tokens = USUAL) -> None:
        """``module`` is the one whose commands are started; ``tokens`` open the services around them."""
        self._tokens = tokens
        self._module = module
        self._folder = folder
        self._store_url = store_url
        self._databases = count()
        self._started: dict[tuple[str, str], Bot] = {}
        self._worlds: dict[str, World] = {}
        self._processes: list[Process] = []
        self._told_to_end: list[Process] = []
        self._supply = Supply()
        self._stack = ExitStack()

    def bot(self, transport: str, kind: str = "usual", **settings: str) -> Bot:
        if (transport, kind) not in self._started:
            there = self._world(kind)
            self._started[transport, kind] = self._start(transport, f"{kind}-{transport}", there, settings)
        ready_bot = self._started[transport, kind]
        ready_bot.wait()
        return ready_bot

    def end(self, kind: str) -> None:
        """Tell those of a kind to end, as nobody asks them any more: who waits looks for work all the time."""
        for key in [key for key in self._started if key[1] == kind]:
            process = self._started.pop(key).process
            process.terminate()
            self._told_to_end.append(process)

    def _world(self, kind: str) -> World:
        if kind not in self._worlds:
            there = self._worlds[kind] = self._stack.enter_context(world("", tokens=self._tokens))
            there.github.add(REPO)
            if kind == AGENT:
                there.slack.declare_agent()
        return self._worlds[kind]

    def _start(self, transport: str, name: str, there: World, settings: dict[str, str]) -> Bot:
        separator = "?db=" if self._store_url.startswith("unix") else "/"
        url = f"{self._store_url}{separator}{next(self._databases)}"
        store = self._stack.enter_context(connect_server(url))
        store.ping()
        zone = noon_zone()
        entrance = {"SLACK_APP_TOKEN": "xapp-test"} if transport == "socket" else {"SLACK_SIGNING_SECRET": SECRET}
        usual = {
            "PRDIGEST_REPO": REPO,
            "PRDIGEST_REPOS": ",".join(allowed_repositories()),
            "PRDIGEST_TIMEZONE": zone.key,
            "PRDIGEST_USER_LIMIT": "1000",
            "PORT": str(closed_port()),
            "PRDIGEST_METRICS_ADDRESS": "0",
            "REDIS_URL": url,
        }
        own = replace(there, settings={**there.settings, **usual, **entrance, **settings})
        log = self._folder / f"{name}.log"
        with log.open("ab") as file:
            files = (0, 1, file.fileno())
            names = _PARTS if transport == APART else ("run",)
            processes = [
                started(each, settings=own.settings, folder=self._folder, module=self._module, files=files)
                for each in names
            ]
        self._processes += processes
        return Bot(transport, own, store, processes[0], log, zone, self._supply)

    def close(self) -> None:
        """End them by SIGTERM, all at once; each must end cleanly."""
        for process in self._processes:
            # not twice: an interpreter that ends handles no signal, so that the second one would kill it
            if process not in self._told_to_end:
                process.terminate()
        codes = [process.wait(timeout=40) for process in self._processes]
        self._stack.close()
        assert codes == [0] * len(codes)


def guard_bot(bot: Bot) -> Iterator[Bot]:
    """The bot for one test, which leaves nothing to do, met no defect and said nothing where nobody sees it."""
    before = len(bot.log())
    yield bot
    bot.settle()
    assert bot.world.slack.unshown == []
    assert "a defect" not in bot.log()[before:], bot.log()[before:]


def guard_texts(bot: Bot) -> Iterator[Bot]:
    """The bot as ``guard_bot`` has it, which showed no markup as text where nobody planted any.

    An accent in a literal text is one that Slack does not turn into code.
    """
    yield from guard_bot(bot)
    sent = [*(call.arguments for call in bot.world.slack.log), *bot.world.slack.ephemerals]
    literal = [*nodes(sent, "plain_text"), *nodes(list(nodes(sent, "rich_text_section")), "text")]
    assert [each for each in literal if "`" in each["text"] and "code" not in each.get("style", {})] == []


@contextmanager
def bots_in(folder: Path, module: str = "bot") -> Iterator[Bots]:
    url = start_embedded_url(folder / "store")
    with connect_server(url) as keeper:
        keeper.ping()
        bot_pool = Bots(folder, url, module)
        try:
            yield bot_pool
        finally:
            bot_pool.close()


@pytest.fixture(scope="package")
def bots(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bots]:
    """They end with the last scenario: a bot that nobody asks looks for work several times a second."""
    with bots_in(tmp_path_factory.mktemp("scenarios"), module="tests.helpers.processes.quick_posts") as bot_pool:
        yield bot_pool


@pytest.fixture
def transport(request: pytest.FixtureRequest) -> str:
    """HTTP where a test is not of ``both_transports``: how a request came is forgotten once it is a job."""
    return str(getattr(request, "param", "http"))


@pytest.fixture
def bot(bots: Bots, transport: str) -> Iterator[Bot]:
    """The usual bot; everybody may ask it as often as they like."""
    yield from guard_texts(bots.bot(transport))


@pytest.fixture
def http_bot(bots: Bots) -> Iterator[Bot]:
    yield from guard_texts(bots.bot("http"))


@pytest.fixture
def socket_bot(bots: Bots) -> Iterator[Bot]:
    yield from guard_texts(bots.bot("socket"))
