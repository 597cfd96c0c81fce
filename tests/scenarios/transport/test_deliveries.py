from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from localslack.users.person import Delivery, Person

from tests.scenarios import Bot, both_transports, old_button, slow_claude

pytestmark = both_transports

CROWD = 20


def command(person: Person, number: int, channel: str) -> Delivery:
    return person.send_command("/prsummary", str(number), channel)


def mention(person: Person, number: int, channel: str) -> Delivery:
    thread = person.slack.add_message(channel, "lead")
    return person.mention(str(number), channel, thread)


def click(person: Person, number: int, channel: str) -> Delivery:
    return person.press(old_button("share_summary", f"2|octo/engine#{number}"), "share_summary", channel=channel)


Ask = Callable[[Person, int, str], Delivery]
kinds = pytest.mark.parametrize("ask", [command, mention, click])


def answers(bot: Bot, channel: str) -> int:
    """How many messages the bot has in the channel and its threads, once nothing is left to do."""
    threads = [message["ts"] for message in bot.world.slack.list_messages(channel) if "reply_count" in message]
    return len(bot.list_posts(channel)) + sum(len(bot.list_thread_posts(channel, thread)) for thread in threads)


@kinds
def test_a_request_that_is_delivered_again_after_its_answer_has_no_second_one(ask: Ask, bot: Bot) -> None:
    number, channel, ada = bot.pull(), bot.channel(), bot.person()
    first = ask(ada, number, channel)
    bot.settle()
    again = ada.redeliver(first)
    assert (again.ack.status, again.ack.text) == (200, first.ack.text)
    assert answers(bot, channel) == 1
    assert not bot.list_whispers(ada)


@kinds
def test_a_request_that_is_delivered_again_during_the_work_has_no_second_answer(ask: Ask, bot: Bot) -> None:
    number, channel, ada = bot.pull(), bot.channel(), bot.person()
    with slow_claude(bot, 0.5):
        first = ask(ada, number, channel)
        assert [ada.redeliver(first).ack.text for _ in range(2)] == [first.ack.text] * 2
    assert answers(bot, channel) == 1
    assert not bot.list_whispers(ada)


@pytest.mark.parametrize("text", ["help", "nonsense", "other/secret#1"])
def test_a_refusal_that_is_delivered_again_is_the_same(text: str, bot: Bot) -> None:
    ada = bot.person()
    first = ada.send_command("/prsummary", text, bot.channel())
    assert ada.redeliver(first).ack.text == first.ack.text


def test_a_hint_that_is_delivered_again_is_told_once(bot: Bot) -> None:
    channel, ada, others = bot.channel(), bot.person(), bot.windows("Ask about this")
    ada.redeliver(ada.press(old_button("ask", "thread"), "ask", channel=channel))
    ada.redeliver(ada.mention("help", channel))
    assert (len(bot.windows("Ask about this")) - len(others), len(bot.list_whispers(ada))) == (1, 1)


def test_a_window_that_is_asked_for_again_is_opened_once(bot: Bot) -> None:
    number, ada = bot.pull(), bot.person()
    ada.redeliver(ada.press(old_button("details", f"2|octo/engine#{number}"), "details", channel=bot.channel()))
    bot.settle()
    assert len(bot.windows(f"#{number}")) == 1
    assert not bot.list_whispers(ada)


def test_the_same_asked_twice_by_a_person_gets_two_responses(bot: Bot) -> None:
    number, channel, ada = bot.pull(), bot.channel(), bot.person()
    for _ in range(2):
        command(ada, number, channel)
    # the second is a link to the first
    assert (answers(bot, channel), len(bot.list_whispers(ada))) == (1, 1)


def test_a_crowd_that_asks_for_the_same_at_once_is_answered_from_one_reading(bot: Bot) -> None:
    # a channel takes one answer a second
    number, people = bot.pull(), {bot.channel(): bot.person() for _ in range(CROWD)}
    _, before = bot.calls()
    with slow_claude(bot, 0.3), ThreadPoolExecutor(CROWD) as pool:
        asked = list(pool.map(lambda channel: command(people[channel], number, channel), people))
    assert [(delivery.ack.status, delivery.ack.text) for delivery in asked] == [(200, "")] * CROWD
    assert [answers(bot, channel) for channel in people] == [1] * CROWD
    assert bot.calls()[1] == before + 1
