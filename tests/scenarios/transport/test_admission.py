from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count

import pytest
from localslack.users.person import Delivery, Person

from tests.emulators.slack.client import HOME
from tests.scenarios import Bot, both_transports, old_button
from tests.scenarios.conftest import Bots, guard_bot
from tests.scenarios.subscriptions.regularly import direct, form_of, home, subscriptions

ELSEWHERE = "I only answer people of my own workspace: ask the bot's admin to allow yours."
WRONG_CHANNEL = "I don't answer in this channel: use another one, or ask the bot's admin."
WRONG_USER = "I'm not allowed to answer you: ask the bot's admin."
TOO_FAST = "Too many requests: wait a minute, then ask again."
LIMIT = 3
_seats = count(1)


def command(person: Person, channel: str) -> Delivery:
    return person.send_command("/prsummary", "help", channel)


def mention(person: Person, channel: str) -> Delivery:
    return person.mention("help", channel)


def click(person: Person, channel: str) -> Delivery:
    return person.press(old_button("ask", "thread"), "ask", channel=channel)


Ask = Callable[[Person, str], Delivery]
kinds = pytest.mark.parametrize("ask", [command, mention, click])


@pytest.fixture(scope="module", autouse=True)
def _end_guarded(bots: Bots) -> Iterator[None]:
    yield
    bots.end("guarded")


@pytest.fixture
def guarded_bot(bots: Bots, transport: str) -> Iterator[Bot]:
    """A bot that is choosy, and whose environment holds what Bolt would take for an app of many workspaces."""
    settings = {
        "PRDIGEST_ALLOWED_WORKSPACES": "T0PARTNER,E0PARTNER",
        "PRDIGEST_ALLOWED_CHANNELS": HOME,
        "PRDIGEST_ALLOWED_USERS": ",".join(f"U0SEAT{seat}" for seat in range(1, 100)),
        "PRDIGEST_USER_LIMIT": str(LIMIT),
        "SLACK_CLIENT_ID": "1.2",
        "SLACK_CLIENT_SECRET": "secret",
    }
    yield from guard_bot(bots.bot(transport, "guarded", **settings))


def make_asker(bot: Bot, **fields: str) -> Person:
    """Somebody who may ask and did not yet."""
    return bot.person(user=f"U0SEAT{next(_seats)}", **fields)


def read_reply(bot: Bot, person: Person, delivery: Delivery) -> str:
    """What the person got to read, at once or later, and only they."""
    assert delivery.ack.status == 200
    shown, window = bot.list_whispers(person), bot.world.slack.get_modal(person.user) or {}
    return delivery.ack.text or "".join(message["text"] for message in shown) or str(window.get("blocks", ""))


def is_answer(text: str) -> bool:
    return any(word in text for word in ("number", "pull request", "Reply in that message's thread"))


@kinds
@both_transports
def test_people_of_another_workspace_are_refused(ask: Ask, bot: Bot) -> None:
    stranger, channel = bot.person(team="T0OTHER"), bot.channel(shared=True)
    assert read_reply(bot, stranger, ask(stranger, channel)) == ELSEWHERE
    assert not bot.list_posts(channel)


def test_a_refused_stranger_causes_no_work(bot: Bot) -> None:
    stranger, channel, before = bot.person(team="T0OTHER"), bot.channel(shared=True), bot.calls()
    number = bot.pull()
    read_reply(bot, stranger, stranger.send_command("/prsummary", str(number), channel))
    stranger.mention(str(number), channel)
    stranger.press(old_button("share_summary", f"2|octo/engine#{number}"), "share_summary", channel=channel)
    assert bot.calls() == before
    assert not bot.list_posts(channel)


@kinds
def test_people_of_a_listed_workspace_are_answered(ask: Ask, guarded_bot: Bot) -> None:
    partner = make_asker(guarded_bot, team="T0PARTNER")
    assert is_answer(read_reply(guarded_bot, partner, ask(partner, HOME)))


@kinds
def test_people_of_an_unlisted_workspace_are_refused_beside_a_listed_one(ask: Ask, guarded_bot: Bot) -> None:
    stranger = make_asker(guarded_bot, team="T0OTHER")
    assert read_reply(guarded_bot, stranger, ask(stranger, HOME)) == ELSEWHERE


def test_people_of_a_listed_organisation_are_answered_to_commands(guarded_bot: Bot) -> None:
    # mentions and clicks do not say of which organisation a guest is
    partner = make_asker(guarded_bot, team="T0OTHER", enterprise="E0PARTNER")
    assert is_answer(read_reply(guarded_bot, partner, command(partner, HOME)))


@kinds
def test_an_unlisted_channel_is_refused(ask: Ask, guarded_bot: Bot) -> None:
    ada, channel = make_asker(guarded_bot), guarded_bot.channel()
    assert read_reply(guarded_bot, ada, ask(ada, channel)) == WRONG_CHANNEL
    assert not guarded_bot.list_posts(channel)


@kinds
def test_unlisted_people_are_refused(ask: Ask, guarded_bot: Bot) -> None:
    eve = guarded_bot.person()
    assert read_reply(guarded_bot, eve, ask(eve, HOME)) == WRONG_USER


@kinds
def test_listed_people_in_a_listed_channel_are_answered(ask: Ask, guarded_bot: Bot) -> None:
    ada = make_asker(guarded_bot)
    assert is_answer(read_reply(guarded_bot, ada, ask(ada, HOME)))


@kinds
def test_who_asks_too_often_waits_and_nobody_else_does(ask: Ask, guarded_bot: Bot) -> None:
    ada, ben = make_asker(guarded_bot), make_asker(guarded_bot)
    for _ in range(LIMIT):
        assert is_answer(command(ada, HOME).ack.text)
    assert read_reply(guarded_bot, ada, ask(ada, HOME)) == TOO_FAST
    assert is_answer(read_reply(guarded_bot, ben, ask(ben, HOME)))


def test_unlisted_people_find_nothing_in_app_home(guarded_bot: Bot) -> None:
    eve = guarded_bot.person()
    assert eve.open_home().ack.status == 200
    assert (home(guarded_bot, eve), guarded_bot.list_whispers(eve), guarded_bot.list_posts(direct(eve))) == (
        "",
        [],
        [],
    )


def test_listed_people_find_app_home(guarded_bot: Bot) -> None:
    ada = make_asker(guarded_bot)
    ada.open_home()
    assert "Status" in home(guarded_bot, ada)


def test_listed_people_subscribe_for_listed_channels_only(guarded_bot: Bot) -> None:
    ada, channel = make_asker(guarded_bot), guarded_bot.channel()
    ada.send_command("/prdigest", "schedule", HOME)
    ada.submit(form_of(guarded_bot, ada), channel=channel, at="06:00")
    assert guarded_bot.list_whispers(ada)[-1]["text"].startswith(WRONG_CHANNEL)
    assert subscriptions(guarded_bot, channel) == []


def test_a_form_that_is_sent_too_soon_may_be_sent_again(guarded_bot: Bot) -> None:
    ada = make_asker(guarded_bot)
    ada.send_command("/prdigest", "schedule", HOME)
    view = form_of(guarded_bot, ada)
    for _ in range(LIMIT - 1):
        command(ada, HOME)
    assert ada.submit(view).errors == {"filter": TOO_FAST}
    # as if a minute had passed
    guarded_bot.store.delete(*guarded_bot.store.keys(f"*rate:*{ada.user}*"))
    assert ada.submit(view, channel=HOME, at="06:00", filter=f"label:{ada.user}").errors == {}
    assert guarded_bot.list_whispers(ada)[-1]["text"] == "Subscribed to octo/engine"


def test_a_request_that_is_delivered_again_does_not_count(guarded_bot: Bot) -> None:
    ada = make_asker(guarded_bot)
    first = command(ada, HOME)
    for _ in range(LIMIT):
        ada.redeliver(first)
    assert is_answer(command(ada, HOME).ack.text)


def test_with_the_settings_of_an_app_for_many_workspaces_the_bots_token_is_used(guarded_bot: Bot) -> None:
    number, ada = guarded_bot.pull(), make_asker(guarded_bot)
    ada.send_command("/prsummary", str(number))
    assert f"#{number} Change {number}" in [message["text"] for message in guarded_bot.list_posts(HOME)]
