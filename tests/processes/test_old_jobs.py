"""Jobs that the version before put on the queues, with positional arguments, are done by this one.

The arguments are written out as that version wrote them: nobody else makes them any more.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from redis import Redis

from bot.app import App, open_app, prepare_worker
from bot.domain.operations.lane import QueueName
from bot.domain.subscriptions.due_items import NextDigest
from bot.domain.subscriptions.models import Subscription
from bot.jobs import DramatiqJobQueue
from bot.services.operations import deadlines
from bot.services.operations.deadlines import ShutdownSignal
from bot.services.questions.answer_inputs import AnswerInputs
from bot.settings import load_settings
from handlers import COMMANDS
from tests.helpers.checks import eventually, waiting_jobs
from tests.helpers.processes.jobs import working
from tests.helpers.world import CHANNEL, World, add_small_day, world

pytestmark = pytest.mark.slow

DAY = "2026-02-28"
MESSAGE_ID = "0f8fad5b-d9cb-469f-a165-70867728950e"


@dataclass
class Team:
    """Workers of this version on a store of the version before."""

    world: World
    services: App
    store: Redis

    def visit(self, **fields: str) -> dict[str, str]:
        """A request from Slack as that version wrote it: all fields, also the empty ones."""
        return {
            "key": "command:1.2.3",
            "team": "T0TEAM",
            "channel": CHANNEL,
            "user": "U0ASKER",
            "enterprise": "",
            "name": "ada",
            "response_url": self.world.slack.make_response_url(CHANNEL, "U0ASKER"),
            "thread": "",
            "trigger": "",
            "message": "",
            **fields,
        }

    def plant(self, queue: str, name: str, *arguments: Any) -> None:
        """Put a message where Dramatiq's Redis broker keeps those of a queue: in a hash, and its id in a list."""
        message = {
            "queue_name": queue,
            "actor_name": name,
            "args": list(arguments),
            "kwargs": {},
            "options": {"redis_message_id": MESSAGE_ID},
            "message_id": MESSAGE_ID,
            "message_timestamp": 1_772_305_200_000,
        }
        self.store.hset(f"dramatiq:{queue}.msgs", MESSAGE_ID, json.dumps(message))
        self.store.rpush(f"dramatiq:{queue}", MESSAGE_ID)

    def run(self, queue: str, name: str, *arguments: Any) -> None:
        """Plant it, and wait until nothing is left."""
        self.plant(queue, name, *arguments)
        eventually(lambda: not waiting_jobs(self.store))

    def list_posts(self) -> list[str]:
        return [message["text"] for message in self.world.slack.list_messages(CHANNEL) if "bot_id" in message]

    def list_whispers(self) -> list[str]:
        return [shown["text"] for shown in self.world.slack.ephemerals]

    def subscribe(self) -> Subscription:
        """What comes of one of these very jobs."""
        self.world.slack.set_person("U0ASKER")
        self.run(
            "prdigest", "regular", self.visit(key="command:0"), "subscribe", "repo:octo/engine at:09:00", "", ""
        )
        [made] = self.services.subscriptions.list_all()
        return made


@pytest.fixture
def team(store: Redis, store_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Team]:
    with ExitStack() as stack:
        there, ending = stack.enter_context(world(store_url)), ShutdownSignal()
        add_small_day(there.github)
        own = {"PRDIGEST_REPO": "octo/engine", "PRDIGEST_TIMEZONE": "America/Los_Angeles"}
        for name, value in {**there.settings, **own}.items():
            monkeypatch.setenv(name, value)
        base = stack.enter_context(open_app(load_settings(), lambda: datetime.now(UTC), deadlines.sleep))
        base.sources.open_sources()
        services = prepare_worker(base)
        jobs = stack.enter_context(
            closing(DramatiqJobQueue(store, base.keyspace, COMMANDS.jobs, services, ending))
        )
        stack.enter_context(working(jobs.make_workers(1)))
        stack.callback(ending.trigger)
        yield Team(there, services, store)


def test_the_queues_are_those_of_the_version_before() -> None:
    assert [lane.value for lane in QueueName] == ["prdigest", "prdigest-long", "prdigest-questions"]


def test_a_summary(team: Team) -> None:
    team.run("prdigest", "summary", team.visit(), "octo/engine#101 octo/engine#102", "channel")
    assert [text.split()[0] for text in team.list_posts()] == ["#101", "#102"]


@pytest.mark.parametrize(("queue", "name"), [("prdigest", "risks"), ("prdigest-long", "long_risks")])
def test_a_list_of_risks(team: Team, queue: str, name: str) -> None:
    team.run(queue, name, team.visit(), f"{DAY} repo:octo/engine path:engine top:2", "asker")
    assert [text.startswith("Risky changes") for text in team.list_whispers()] == [True]


def test_a_score(team: Team) -> None:
    team.run("prdigest", "score", team.visit(), "score 2026-02-01..2026-02-28 repo:octo/engine", "asker")
    assert ["1 – 28 February 2026" in text for text in team.list_whispers()] == [True]  # noqa: RUF001 (a dash)


def test_an_overview(team: Team) -> None:
    team.run("prdigest-long", "overview", team.visit(), f"{DAY} repo:octo/engine tz:Asia/Tokyo", "shared")
    assert ["Saturday 28 February 2026" in text for text in team.list_posts()] == [True]


def test_a_digest(team: Team) -> None:
    team.run("prdigest-long", "digest", team.visit(), "octo/engine", DAY, "America/Los_Angeles")
    assert ["3 merged" in text for text in team.list_posts()] == [True]


def test_a_window(team: Team) -> None:
    trigger = team.world.slack.make_trigger_id("U0ASKER", CHANNEL)
    team.run("prdigest", "details", team.visit(), trigger, "octo/engine#101")
    [view] = team.world.slack.views
    assert view["title"]["text"] == "#101"


def test_a_sentence_for_the_asker_and_one_for_the_thread(team: Team) -> None:
    team.run("prdigest", "tell", team.visit(), "Only for you.")
    team.run("prdigest", "say", team.visit(key="command:2"), "For everybody.")
    assert (team.list_whispers(), team.list_posts()) == (["Only for you."], ["For everybody."])


@pytest.mark.parametrize(("why", "begins"), [("hello", "Hello"), ("invited", "Thanks"), ("help", "Ask me")])
def test_a_greeting(team: Team, why: str, begins: str) -> None:
    team.run("prdigest", "greet", team.visit(), why)
    assert [text.startswith(begins) for text in team.list_whispers()] == [True]


def test_a_vote(team: Team) -> None:
    team.services.answer_votes.remember_answer(CHANNEL, "100.1", AnswerInputs(question="what?"))
    team.run("prdigest", "votes", team.visit(), "100.1", "good")
    [vote] = team.services.answer_votes.iterate_votes()
    assert (vote.verdict, vote.question, vote.user) == ("good", "what?", "U0ASKER")


def test_what_is_said_of_regular_digests(team: Team) -> None:
    made = team.subscribe()
    assert (str(made.repository), made.timing.at.hour) == ("octo/engine", 9)
    team.run("prdigest", "regular", team.visit(), "pause", made.id, "", "")
    assert [each.is_paused for each in team.services.subscriptions.list_all()] == [True]
    # before the form could change them, there were no more than three arguments
    team.run("prdigest", "regular", team.visit(key="command:2"), "resume", "all")
    assert [each.is_paused for each in team.services.subscriptions.list_all()] == [False]
    team.run("prdigest", "regular", team.visit(key="command:3"), "list", "")
    assert "1 digest comes here" in team.list_whispers()


@pytest.mark.parametrize("text", ["", "repo:octo/engine path:engine"])
def test_a_preview(team: Team, text: str) -> None:
    team.run("prdigest-long", "preview", team.visit(), text)
    assert ["octo/engine" in text or "engine" in text for text in team.list_whispers()] == [True]


def test_the_form_and_home(team: Team) -> None:
    trigger = team.world.slack.make_trigger_id("U0ASKER", CHANNEL)
    team.run("prdigest", "form", team.visit(trigger=trigger), "")
    [view] = team.world.slack.views
    assert view["callback_id"] == "subscription_form"
    team.run("prdigest", "home", team.visit(key="home:U0ASKER:1", channel=""))
    assert team.world.slack.get_home("U0ASKER")


def test_questions(team: Team) -> None:
    thread = team.world.slack.add_message(CHANNEL, "hello there")
    # as it waits in the line of its thread
    waiting = {"text": "what is new?", "ts": thread, "visit": team.visit(thread=thread, message=thread)}
    place = f"{CHANNEL}:{thread}"
    team.store.zadd(f"waiting:{place}", {json.dumps(waiting, sort_keys=True): float(thread)})
    team.run("prdigest-questions", "questions", place)
    assert len(team.world.slack.list_replies(CHANNEL, thread)) == 1
    assert not team.store.exists(f"waiting:{place}")


def test_what_is_due(team: Team, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    made = team.subscribe()
    due = made.timing.find_last_before(datetime.now(UTC))
    team.services.due_queue.put(NextDigest(made.id), due)
    team.run("prdigest-long", "deliver", made.id, due.isoformat())
    assert ["engine" in text for text in team.list_posts()] == [True]
    key = team.services.digest_records.find_digest(made.build_digest_spec(due)).key
    team.run("prdigest-long", "mend", key)
    team.run("prdigest-long", "watch", "octo/engine")
    team.run("prdigest-long", "amend", key)
    # version 2 did not yet say which look asks for it
    team.run("prdigest-long", "amend", {"version": 2, "key": key})
    assert "tried again" not in caplog.text


def test_that_another_job_is_lost(team: Team) -> None:
    at = "2026-03-01T09:00:00+00:00"
    team.run("prdigest", "end", "an-id", "summary", "failed", at, team.visit())
    assert ["without success: ask again" in text for text in team.list_whispers()] == [True]
    team.run("prdigest", "end", "other-id", "mend", "endless", at, "digest:T:C:octo/engine:2026-02-28")
    assert len(team.list_whispers()) == 1


@pytest.mark.parametrize("is_old", [True, False], ids=["text", "typed"])
@pytest.mark.parametrize("name", ["summary", "details"])
def test_what_the_settings_no_longer_allow_is_told(team: Team, name: str, is_old: bool) -> None:
    reference = {"repository": {"owner": "other", "name": "secret"}, "number": 1}
    asked = {"reference": reference} if name == "details" else {"request": {"references": [reference]}}
    texts = ("1.2.3", "other/secret#1") if name == "details" else ("other/secret#1", "channel")
    typed = {"version": 2, "asker": team.visit(), **asked}
    team.run("prdigest", name, *((team.visit(), *texts) if is_old else (typed,)))
    assert team.list_whispers() == ["I'm not set up for other/secret: ask about octo/engine."]
