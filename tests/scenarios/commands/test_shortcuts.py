from typing import Any

import pytest
from localslack.users.person import Person

from tests.helpers.world import as_read
from tests.scenarios import REPO, Bot, both_transports, labels
from tests.scenarios.subscriptions.regularly import direct

OF_MESSAGE, ANYWHERE = "explain_message", "explain_pull_request"
TITLE = "Explain a pull request"
WEB = "https://github.com"


def used_up(bot: Bot) -> list[str]:
    return [refusal.error for refusal in bot.world.slack.refusals if refusal.method == "response_url"]


def numbers_of(messages: list[dict[str, Any]]) -> list[str]:
    return [line.partition(" ")[0] for message in messages for line in message["text"].split("\n")]


@both_transports
def test_what_another_bot_links_is_explained_in_its_thread(bot: Bot) -> None:
    first, second, other = bot.pull(), bot.pull(), bot.repository()
    third, channel, ada = bot.pull(other), bot.channel(), bot.person()
    attachment = {
        "title": f"#{second} x",
        "title_link": f"{WEB}/{REPO}/pull/{second}",
        "text": f"and {other}#{third}",
    }
    ts = bot.world.slack.add_message(
        channel, f"<{WEB}/{REPO}/pull/{first}|Merged>", "U0CI", bot_id="B0CI", attachments=[attachment]
    )
    delivery = ada.use_message_shortcut(OF_MESSAGE, ts, channel)
    assert (delivery.ack.status, delivery.ack.text) == (200, "")
    assert delivery.ack.seconds < 3
    replies = bot.list_thread_posts(channel, ts)
    assert numbers_of(replies) == [f"#{first}", f"#{second}", f"#{third}"]
    assert labels(replies[0]) == ["Details", "Ask about this"]
    assert (bot.list_whispers(ada), used_up(bot)) == ([], [])


@both_transports
def test_a_shortcut_that_is_delivered_again_is_answered_once(bot: Bot) -> None:
    number, channel, ada = bot.pull(), bot.channel(), bot.person()
    ts = bot.world.slack.add_message(channel, f"#{number}")
    delivery = ada.use_message_shortcut(OF_MESSAGE, ts, channel)
    bot.settle()
    assert ada.redeliver(delivery).ack.status == 200
    assert numbers_of(bot.list_thread_posts(channel, ts)) == [f"#{number}"]


def test_five_are_explained_and_the_asker_reads_how_many_are_left_out(http_bot: Bot) -> None:
    bot, numbers, channel, ada = (
        http_bot,
        [http_bot.pull() for _ in range(7)],
        http_bot.channel(),
        http_bot.person(),
    )
    ts = bot.world.slack.add_message(channel, " ".join(f"#{number}" for number in numbers))
    ada.use_message_shortcut(OF_MESSAGE, ts, channel)
    assert numbers_of(bot.list_thread_posts(channel, ts)) == [f"#{number}" for number in numbers[:5]]
    (shown,) = bot.list_whispers(ada)
    assert shown["text"] == (
        "That message names 7 pull requests. I summarize the first 5 and leave out 2: ask for them by number."
    )


def test_a_reply_in_a_thread_is_answered_there(http_bot: Bot) -> None:
    bot, number, channel, ada = http_bot, http_bot.pull(), http_bot.channel(), http_bot.person()
    root = bot.world.slack.add_message(channel, "news")
    ts = bot.world.slack.add_message(channel, f"#{number}?", thread_ts=root)
    ada.use_message_shortcut(OF_MESSAGE, ts, channel)
    assert numbers_of(bot.list_thread_posts(channel, root)) == [f"#{number}"]


@pytest.mark.parametrize("text", ["no number", "other/secret#1", ""])
def test_without_a_pull_request_the_asker_reads_which_repositories_count(text: str, http_bot: Bot) -> None:
    bot, channel, ada = http_bot, http_bot.channel(), http_bot.person()
    ts = bot.world.slack.add_message(channel, text)
    ada.use_message_shortcut(OF_MESSAGE, ts, channel)
    (shown,) = bot.list_whispers(ada)
    assert shown["text"].startswith(f"I found no pull request of {REPO}, octo/part-1, ")
    assert shown["text"].endswith(" and 110 others in that message.")
    assert bot.list_thread_posts(channel, ts) == []


@pytest.mark.parametrize("count", [1, 7])
def test_where_the_bot_is_no_member_the_asker_gets_it_in_few_messages(count: int, http_bot: Bot) -> None:
    bot, channel, ada = http_bot, http_bot.channel(member=False), http_bot.person()
    numbers = [bot.pull(body="What it does. " * 200) for _ in range(count)]
    ts = bot.world.slack.add_message(channel, " ".join(f"#{number}" for number in numbers))
    delivery = ada.use_message_shortcut(OF_MESSAGE, ts, channel)
    shown = bot.list_whispers(ada)
    assert {each["response_url"] for each in shown} == {delivery.payload["response_url"]}
    summaries = [each for each in shown if each["text"].startswith("#")]
    assert numbers_of(summaries) == [f"#{number}" for number in numbers[:5]]
    assert len(shown) <= 4
    assert sum("leave out 2" in each["text"] for each in shown) == (count == 7)
    assert (bot.list_thread_posts(channel, ts), used_up(bot)) == ([], [])


def test_one_that_is_unknown_among_several_is_told_beside_the_others(http_bot: Bot) -> None:
    bot, channel, ada = http_bot, http_bot.channel(member=False), http_bot.person()
    first, unknown, last = bot.pull(), bot.unused_number(), bot.pull()
    ts = bot.world.slack.add_message(channel, f"#{first} #{unknown} #{last}")
    ada.use_message_shortcut(OF_MESSAGE, ts, channel)
    (shown,) = bot.list_whispers(ada)
    assert shown["text"].split("\n") == [
        f"#{first} Change {first}",
        f"{REPO} has no pull request #{unknown}.",
        f"#{last} Change {last}",
    ]


def test_what_can_not_be_posted_any_more_comes_privately(http_bot: Bot) -> None:
    bot, channel, ada = http_bot, http_bot.channel(), http_bot.person()
    numbers = [bot.pull(), bot.pull()]
    ts = bot.world.slack.add_message(channel, " ".join(f"#{number}" for number in numbers))
    bot.world.slack.archive_channel(channel)
    ada.use_message_shortcut(OF_MESSAGE, ts, channel)
    assert numbers_of(bot.list_whispers(ada)) == [f"#{number}" for number in numbers]


def test_who_asks_for_the_same_again_gets_links_and_uses_up_no_address(http_bot: Bot) -> None:
    bot, channel, ada, ben = http_bot, http_bot.channel(), http_bot.person(), http_bot.person()
    numbers = [bot.pull() for _ in range(6)]
    ts = bot.world.slack.add_message(channel, " ".join(f"#{number}" for number in numbers))
    for person in (ada, ben):
        person.use_message_shortcut(OF_MESSAGE, ts, channel)
        bot.settle()
    assert len(bot.list_thread_posts(channel, ts)) == 5
    # how many are left out, and five links
    assert len(bot.list_whispers(ben)) == 6
    assert used_up(bot) == []


def test_in_direct_messages_of_others_only_the_asker_gets_it(http_bot: Bot) -> None:
    bot, ada = http_bot, http_bot.person()
    number, channel = bot.pull(), f"G0{ada.user}"
    bot.world.slack.add_channel(channel, "pair", private=True, member=False, people=(ada.user,))
    ts = bot.world.slack.add_message(channel, f"#{number}", ada.user)
    ada.use_message_shortcut(OF_MESSAGE, ts, channel)
    assert numbers_of(bot.list_whispers(ada)) == [f"#{number}"]


@both_transports
def test_the_form_says_what_is_wrong_and_answers_by_direct_message(bot: Bot) -> None:
    number, ada = bot.pull(), bot.person()
    form = get_form(bot, ada)
    for text, sentence in (
        ("soon", "I couldn't find a pull request number in 'soon'"),
        ("other/secret#1", "I'm not set up for other/secret: ask about "),
        ("1 2 3 4 5 6", "6 are too many at once"),
    ):
        errors = ada.submit(form, reference=text).errors
        assert list(errors) == ["reference"]
        assert errors["reference"].startswith(sentence)
    assert ada.submit(form, reference=f" {WEB}/{REPO}/pull/{number} ").errors == {}
    bot.settle()
    assert bot.world.slack.get_modal(ada.user) is None
    (answer,) = bot.list_posts(direct(ada))
    assert numbers_of([answer]) == [f"#{number}"]
    assert "Details" in labels(answer)


def test_a_form_that_is_sent_twice_is_answered_once_and_several_are_answered_apart(http_bot: Bot) -> None:
    bot, numbers, ada = http_bot, [http_bot.pull() for _ in range(3)], http_bot.person()
    delivery = ada.submit(get_form(bot, ada), reference=" ".join(map(str, numbers)))
    bot.settle()
    ada.redeliver(delivery)
    assert numbers_of(bot.list_posts(direct(ada))) == [f"#{number}" for number in numbers]


def test_a_form_that_comes_too_late_is_told(http_bot: Bot) -> None:
    bot, ada = http_bot, http_bot.person()
    bot.world.slack.triggers.seconds, usual = -1.0, bot.world.slack.triggers.seconds
    try:
        ada.use_shortcut(ANYWHERE)
        bot.settle()
    finally:
        bot.world.slack.triggers.seconds = usual
    assert [as_read(message) for message in bot.list_posts(direct(ada))] == [
        "The window did not open in time: try again."
    ]


def get_form(bot: Bot, person: Person) -> dict[str, Any]:
    assert person.use_shortcut(ANYWHERE).ack.status == 200
    bot.settle()
    form = bot.world.slack.get_modal(person.user)
    assert form is not None
    assert form["title"]["text"] == TITLE
    return form
