"""A new command is its own module: its queue, its help, its words and its places in lists derive from that."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from dramatiq import Message
from localslack.manifest import SlashCommand
from localslack.users.person import Person
from localslack.users.transport import HttpTransport
from redis import Redis

from bot.app import App, open_app, prepare_worker
from bot.demo.run import list_commands
from bot.jobs.queues import DramatiqJobQueue, list_lost_jobs
from bot.platform import deadlines
from bot.platform.deadlines import ShutdownSignal
from bot.platform.dramatiq.broker import MAX_ATTEMPTS
from bot.platform.jobs import JOBS, QueueName
from bot.platform.slack.blocks import read_request
from bot.platform.slack.requests import Audience
from bot.platform.store.tables import Store
from bot.processes import run_processes
from bot.settings import load_settings
from handlers import COMMANDS
from impact.repository import Repository
from tests.handlers.commands import toy
from tests.helpers.checks import closed_port, eventually, waiting_jobs
from tests.helpers.doubles import slack_request
from tests.helpers.processes.command import ROOT
from tests.helpers.world import CHANNEL, World, world
from tests.project.tools.manifest_check import entry_of, find_faults

SECRET = "signing-secret"
WITH_TOY = (*COMMANDS, toy.COMMAND)
ROLLS = "U0ASKER rolls a ball of octo/engine."


@dataclass
class Play:
    """A bot in this process that has one more command, and somebody who uses it."""

    world: World
    base: App
    store: Redis
    person: Person

    def settle(self) -> None:
        eventually(lambda: not waiting_jobs(self.store))

    def list_posts(self) -> list[str]:
        """What the bot wrote in the channel, once nothing is left to do."""
        self.settle()
        return [message["text"] for message in self.world.slack.list_messages(CHANNEL) if "bot_id" in message]

    def read_whisper(self, text: str) -> str:
        """What only the person reads after they mentioned the bot."""
        self.person.mention(text, CHANNEL)
        self.settle()
        return str(self.world.slack.ephemerals[-1]["text"])


@pytest.fixture
def play(store: Redis, store_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Play]:
    with ExitStack() as stack:
        there, port = stack.enter_context(world(store_url)), closed_port()
        own = {"PRDIGEST_REPO": "octo/engine", "SLACK_SIGNING_SECRET": SECRET, "PORT": str(port)}
        for name, value in {**there.settings, **own}.items():
            monkeypatch.setenv(name, value)
        JOBS.append(toy.ANSWER_TOY)
        stack.callback(JOBS.remove, toy.ANSWER_TOY)
        base = stack.enter_context(open_app(load_settings(), lambda: datetime.now(UTC), deadlines.sleep))
        stack.enter_context(run_processes(base, ShutdownSignal(), "127.0.0.1", commands=WITH_TOY))
        wire = HttpTransport(f"http://127.0.0.1:{port}/slack/events", SECRET)
        yield Play(there, base, store, Person(there.slack, wire))


@pytest.mark.slow
def test_who_types_it_is_answered_in_the_channel(play: Play) -> None:
    assert play.person.send_command("/prtoy", "ball", CHANNEL).ack.text == ""
    assert play.list_posts() == [ROLLS]


def test_its_mistakes_and_its_help_are_told(play: Play) -> None:
    texts = [play.person.send_command("/prtoy", text, CHANNEL).ack.text for text in ("ball doll", "help", "")]
    assert texts == ["Which toy? Write one word, such as ball.", *[toy.COMMAND.format_help()] * 2]
    assert play.list_posts() == []


@pytest.mark.slow
def test_its_button_shares_what_was_private(play: Play) -> None:
    play.person.send_command("/prtoy", "ball private", CHANNEL)
    play.settle()
    [private] = play.world.slack.ephemerals
    assert (private["text"], play.list_posts()) == (ROLLS, [])
    play.person.press(private, toy.SHARE, channel=CHANNEL)
    assert play.list_posts() == [ROLLS]


@pytest.mark.slow
def test_it_is_understood_in_a_message_and_part_of_the_help(play: Play) -> None:
    thread = play.person.mention("toy ball", CHANNEL).payload["event"]["ts"]
    play.settle()
    assert ROLLS in [message["text"] for message in play.world.slack.list_replies(CHANNEL, thread)]
    assert "toy ball \u2013 a ball that rolls" in play.read_whisper("help")
    assert "toy ball \u2013 a ball In a channel" in play.read_whisper("hello")


@pytest.mark.slow
def test_a_job_of_it_that_is_lost_is_told_and_named(play: Play) -> None:
    asked = slack_request(response_url=play.world.slack.make_response_url(CHANNEL, "U0ASKER"))
    request = toy.ToyRequest(Repository("octo", "engine"), "ball")
    payload = toy.ANSWER_TOY.encode({"asker": asked, "request": request, "audience": Audience.CHANNEL})
    message: Message[Any] = Message(QueueName.QUICK, "toy", (payload,), {}, {})
    play.store.set(f"attempts:{message.message_id}", MAX_ATTEMPTS)
    services = prepare_worker(play.base)
    with closing(DramatiqJobQueue(play.store, play.base.keyspace, services)) as jobs:
        jobs.make_workers(1)[0].broker.enqueue(message)
        eventually(lambda: bool(list_lost_jobs(Store(play.store), datetime.now(UTC))))
    play.settle()
    [lost] = list_lost_jobs(Store(play.store), datetime.now(UTC))
    assert lost.title == f"the job toy [{asked.reference}]"
    assert "That request crashed three times" in play.world.slack.ephemerals[0]["text"]


def test_a_manifest_without_it_is_one_clear_sentence() -> None:
    manifest = json.loads((ROOT / "manifest.json").read_text())
    [fault] = find_faults(manifest, WITH_TOY)
    assert fault.startswith('manifest.json lacks /prtoy: add {"command": "/prtoy", "url": "https://')
    assert '"usage_hint": "ball | private | help"' in fault
    manifest["features"]["slash_commands"].append(entry_of(toy.COMMAND))
    assert find_faults(manifest, WITH_TOY) == []


def test_the_demo_offers_it() -> None:
    assert list_commands(WITH_TOY)[-1] == SlashCommand("/prtoy", "ball | private | help", "Play with a toy")


def test_its_request_is_what_its_job_and_its_button_carry() -> None:
    request = toy.ToyRequest(Repository("octo", "engine"), "ball")
    payload = {"asker": slack_request(), "request": request, "audience": Audience.ASKER}
    assert toy.ANSWER_TOY.encode(payload) == {
        "version": 2,
        "asker": {
            "key": "command:1.2.3",
            "team": "T0TEAM",
            "channel": "C0DIGEST",
            "user": "U0ASKER",
            "name": "ada",
        },
        "request": {"repository": {"owner": "octo", "name": "engine"}, "toy": "ball"},
        "audience": "asker",
    }
    assert read_request("2|a ball", [toy.ToyRequest]) == "a ball"
