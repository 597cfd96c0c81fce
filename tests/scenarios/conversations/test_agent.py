"""The bot as an agent of Slack: what it reads is shown, and whoever asked can stop it."""

import time
from collections.abc import Iterator

import pytest
from localslack.state.agents import Session
from localslack.state.workspace import Json

from bot.platform.store.spending import SpendingStore
from tests.emulators.claude.script import Stall, ToolUse
from tests.helpers.checks import eventually
from tests.scenarios import TRANSPORTS, Bot
from tests.scenarios.conftest import AGENT, APART, Bots, bots_in, guard_texts
from tests.scenarios.conversations.asking import (
    LONG,
    Thread,
    answer,
    answering,
    begin_thread,
    hold_answers,
    small_print,
    summary,
)
from tests.scenarios.subscriptions.regularly import direct

# seconds from the press of the button until the answer stands as it is
MOST = 2.0


@pytest.fixture(scope="module")
def bots_apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bots]:
    with bots_in(tmp_path_factory.mktemp("apart")) as bot_pool:
        yield bot_pool


@pytest.fixture(params=[*TRANSPORTS, APART])
def agent(request: pytest.FixtureRequest, bots: Bots, bots_apart: Bots) -> Iterator[Bot]:
    """An agent over each transport, and as a process for each task: the press comes to another than the answer."""
    yield from guard_texts((bots_apart if request.param == APART else bots).bot(request.param, AGENT))


def cards(message: Json) -> list[tuple[str, str]]:
    return [(each["title"], each["status"]) for each in message["blocks"] if each["type"] == "task_card"]


def texts(message: Json) -> list[str]:
    return [each["text"] for each in message["blocks"] if each["type"] == "markdown"]


def session_of(bot: Bot, thread: Thread) -> Session:
    session = bot.world.slack.get_session(thread.channel, thread.ts)
    assert session
    return session


def press_stop(bot: Bot, thread: Thread, user: str) -> float:
    """Press the button; return how many seconds it takes until the session is at rest."""
    began = time.monotonic()
    delivery = bot.person(user=user).stop_session(thread.channel, thread.ts)
    assert delivery.ack.status == 200
    eventually(lambda: session_of(bot, thread).status == "active")
    return time.monotonic() - began


def list_done(bot: Bot, thread: Thread) -> list[Json]:
    """The bot's whole messages in a thread, whatever is left to do."""
    replies = bot.world.slack.list_replies(thread.channel, thread.ts)
    return [each for each in replies if "bot_id" in each and each.get("streaming_state") != "in_progress"]


def count_spent(bot: Bot) -> float:
    return SpendingStore(bot.store).get_spending(f"{bot.noon(0).date()}")


def test_what_is_read_is_shown_as_cards_in_a_session(agent: Bot) -> None:
    thread, ada = summary(agent), agent.person()
    missing = agent.unused_number()
    read = [ToolUse("read_diff", {"number": number}) for number in (thread.number, missing)]
    with answering(agent, *read, answer("It does.")):
        ada.send_message("Does it <!channel> change a default?", thread.channel, thread.ts)
        (reply,) = thread.answers()
    assert cards(reply) == [(f"Diff of #{thread.number}", "complete"), (f"Diff of #{missing}", "error")]
    assert texts(reply) == ["It does."]
    session = session_of(agent, thread)
    assert (session.status, session.initiator) == ("active", ada.user)
    assert session.title.startswith("Does it")
    refused = [each for each in agent.world.slack.refusals if thread.channel in str(each.arguments)]
    assert refused == []


def test_an_answer_of_which_nothing_is_written_yet_stops_at_once(agent: Bot) -> None:
    thread, ada = summary(agent), agent.person()
    with hold_answers(agent, lambda _: answer("Too late.")) as (asked, gate):
        ada.send_message("Does it?", thread.channel, thread.ts)
        eventually(lambda: asked.bodies)
        assert press_stop(agent, thread, ada.user) < MOST
        gate.set()
        (reply,) = thread.answers()
    assert texts(reply) == ["Stopped, as you asked."]
    with answering(agent, answer("It does.")) as later:
        ada.send_message("And now?", thread.channel, thread.ts)
        assert [texts(each) for each in thread.answers()] == [["Stopped, as you asked."], ["It does."]]
    assert later.questions == ["And now?"]


def test_a_stopped_answer_keeps_what_it_said_and_its_cost_is_booked(agent: Bot) -> None:
    thread, ada = summary(agent), agent.person()
    before, half = count_spent(agent), LONG[: len(LONG) // 2]
    with answering(agent, Stall(f"<answer>{half}", 60, pings=60)):
        ada.send_message("Does it?", thread.channel, thread.ts)
        thread.growing()
        assert press_stop(agent, thread, ada.user) < MOST
        (reply,) = thread.answers()
    (shown,) = texts(reply)
    assert shown
    assert half.startswith(shown.rstrip())
    assert "Stopped, as you asked." in small_print(reply)
    assert not agent.world.slack.is_streaming(thread.channel, reply["ts"])
    assert count_spent(agent) > before


def test_all_that_was_asked_before_is_stopped_and_nothing_that_comes_later(agent: Bot) -> None:
    thread, ada = summary(agent), agent.person()
    with hold_answers(agent, lambda _: answer("It does.")) as (asked, gate):
        ada.send_message("First?", thread.channel, thread.ts)
        ada.send_message("Second?", thread.channel, thread.ts)
        eventually(lambda: asked.bodies)
        agent.person().stop_session(thread.channel, thread.ts)
        eventually(lambda: len(list_done(agent, thread)) == 2)
        gate.set()
        ada.send_message("Third?", thread.channel, thread.ts)
        assert [texts(each)[0] for each in thread.answers()] == [*["Stopped, as you asked."] * 2, "It does."]
    assert asked.questions[-1] == "Third?"


def test_who_opens_the_direct_messages_sees_prompts_and_gets_an_answer_to_one(agent: Bot) -> None:
    ada = agent.person()
    assert ada.open_home("messages").ack.status == 200
    agent.settle()
    prompts = agent.world.slack.get_prompts(direct(ada))["prompts"]
    assert [each["title"] for each in prompts][:1] == ["What was merged yesterday?"]
    with answering(agent, answer("Nothing.")) as asked:
        thread = begin_thread(agent, ada.send_message(prompts[0]["message"], direct(ada)))
        assert [texts(each) for each in thread.answers()] == [["Nothing."]]
    assert asked.questions == [prompts[0]["message"]]


def test_a_press_stops_nothing_in_another_thread(agent: Bot) -> None:
    thread, ada = summary(agent), agent.person()
    with hold_answers(agent, lambda _: answer("It does.")) as (asked, gate):
        ada.send_message("Does it?", thread.channel, thread.ts)
        eventually(lambda: asked.bodies)
        elsewhere = {"type": "agent_session_stopped", "user": ada.user, "event_ts": agent.world.slack.make_ts()}
        for place in (
            {"channel": thread.channel},
            {"channel": agent.channel(), "thread_ts": thread.ts},
            {"channel": thread.channel, "thread_ts": "1.000001"},
        ):
            assert ada._send_event({**elsewhere, **place}).ack.status == 200
        time.sleep(1.0)
        gate.set()
        assert [texts(each) for each in thread.answers()] == [["It does."]]
