"""First contact: whatever somebody writes first gets an answer that they see, and says what else to write."""

import pytest
from localslack.state.workspace import Json

from tests.helpers.world import as_read
from tests.scenarios import Bot, both_transports
from tests.scenarios.conversations.asking import answer, answering, begin_thread, text_of
from tests.scenarios.subscriptions.regularly import direct, subscriptions

HELLO = "Hello, I'm prdigest. I read the pull requests merged into octo/engine."
HELP = "Ask me anything about the pull requests of octo/engine."
FIRST = {
    "": HELLO,
    "hi": HELLO,
    "Hello there!": HELLO,
    "help": HELP,
    "help contract": "*/prdigest contract*: what merges changed for others.\nUsage: ",
    "list": "There are no subscriptions here",
    "subscribe": "Subscribed to octo/engine",
    "subscribe at 09:00": "Subscribed to octo/engine",
    "subscribe at 25:00": "'25:00' is not a time",
    "risks 7d path:": "path: needs a value",
    "unsubscribe": "There is no subscription here",
    "schedule": "Slack opens a form only after a command",
}


def codes(message: Json) -> list[str]:
    rich = message["blocks"][0]["elements"]
    sections = [
        part for each in rich for part in (each["elements"] if each["type"] == "rich_text_list" else [each])
    ]
    return [e["text"] for s in sections for e in s["elements"] if e.get("style", {}).get("code")]


@pytest.mark.parametrize("text", FIRST)
def test_at_top_level_of_a_channel_the_asker_sees_it_below_what_they_wrote(text: str, bot: Bot) -> None:
    channel, ada = bot.channel(), bot.person()
    ada.mention(text, channel, twin=True)
    (shown,) = bot.list_whispers(ada)
    assert (shown["text"].startswith(FIRST[text]), shown["channel"], shown["thread_ts"]) == (True, channel, None)
    assert not bot.list_posts(channel)


@pytest.mark.parametrize("text", [text for text in FIRST if text])
def test_in_direct_messages_it_is_an_ordinary_message_at_top_level(text: str, bot: Bot) -> None:
    ada = bot.person()
    thread = begin_thread(bot, ada.send_message(text, direct(ada)))
    (message,) = bot.list_posts(thread.channel)
    assert message["text"].startswith(FIRST[text])
    assert not thread.replies()
    assert not bot.list_whispers(ada)


@both_transports
def test_in_a_thread_of_direct_messages_it_is_an_ordinary_reply(bot: Bot) -> None:
    ada = bot.person()
    lead = bot.world.slack.add_message(direct(ada), "lead", ada.user)
    ada.send_message("help", direct(ada), lead)
    bot.settle()
    ada.send_message("35617 35618 35619 35620 35621 35622", direct(ada), lead)
    first, second = bot.list_thread_posts(direct(ada), lead)
    assert first["text"].startswith(HELP)
    assert second["text"] == "6 are too many at once: name up to 5 pull requests."
    assert not bot.list_posts(direct(ada))
    assert not bot.list_whispers(ada)


@pytest.mark.parametrize("text", ["", "hi", "help", "list", "subscribe", "subscribe at 09:00"])
def test_in_a_thread_everybody_reads_it(text: str, bot: Bot) -> None:
    channel, ada = bot.channel(), bot.person()
    thread = bot.world.slack.add_message(channel, "lead")
    ada.mention(text, channel, thread)
    (reply,) = bot.list_thread_posts(channel, thread)
    assert reply["text"].startswith(FIRST[text])
    assert not bot.list_whispers(ada)


# what only the asker may read, in a thread that others read too
ALONE = {
    "a private answer": "{number} private",
    "a preview": "test",
    "somebody's own digest": "subscribe me at 06:00",
    "a mistake": "risks 7d path:",
    "another repository": "<https://github.com/other/secret/pull/1>",
    "nothing to remove": "unsubscribe",
}


@pytest.mark.parametrize("kind", ALONE)
def test_what_is_for_the_asker_alone_stays_so_in_a_thread_and_is_seen(kind: str, bot: Bot) -> None:
    channel, ada = bot.channel(), bot.person()
    thread = bot.world.slack.add_message(channel, "lead")
    ada.mention(ALONE[kind].format(number=bot.pull()), channel, thread)
    (shown,) = bot.list_whispers(ada)
    assert (shown["channel"], shown["thread_ts"]) == (channel, thread)
    assert not bot.list_thread_posts(channel, thread)


def test_what_is_done_to_a_digest_of_ones_own_is_told_to_its_owner_alone(bot: Bot) -> None:
    channel, ada = bot.channel(), bot.person()
    thread = bot.world.slack.add_message(channel, "lead")
    ada.mention("subscribe me at 06:00", channel, thread)
    (made,) = subscriptions(bot, direct(ada))
    for text in (f"pause {made.id}", f"resume {made.id}", f"unsubscribe {made.id}"):
        ada.mention(text, channel, thread)
        assert "octo/engine" in bot.list_whispers(ada)[-1]["text"]
    assert not bot.list_thread_posts(channel, thread)


def test_a_greeting_says_what_to_type_as_code(http_bot: Bot) -> None:
    ada = http_bot.person()
    ada.send_message("hi", direct(ada))
    (message,) = http_bot.list_posts(direct(ada))
    assert codes(message) == [
        "what changed in the scheduler this week?",
        "35617",
        "risks 7d",
        "subscribe at 09:00",
        "@prdigest risks 7d",
        "help",
    ]
    assert as_read(message).count("\n") >= 5


def test_colleagues_who_greet_each_other_are_not_greeted(http_bot: Bot) -> None:
    channel, ada = http_bot.channel(), http_bot.person()
    with answering(http_bot, answer("Nothing.")):
        thread = begin_thread(http_bot, ada.mention("What merged?", channel))
        assert len(thread.answers()) == 1
        http_bot.person().send_message("Hello!", channel, thread.ts)
        assert len(thread.replies()) == 1


@both_transports
def test_who_opens_the_messages_is_welcomed_there_once(bot: Bot) -> None:
    ada = bot.person()
    first = ada.open_home("messages")
    assert first.ack.status == 200
    (welcome,) = bot.list_posts(direct(ada))
    assert welcome["text"].startswith(HELLO)
    ada.redeliver(first)
    ada.open_home("messages")
    assert len(bot.list_posts(direct(ada))) == 1
    (kept,) = [key for key in bot.store.scan_iter("welcomed:*") if key.decode().endswith(ada.user)]
    assert (kept.decode(), bot.store.ttl(kept)) == (f"welcomed:{ada.user}", -1)


def test_people_of_another_workspace_are_not_welcomed(http_bot: Bot) -> None:
    stranger = http_bot.person(team="T0OTHER")
    http_bot.world.slack.set_person(stranger.user, team="T0OTHER")
    assert stranger.open_home("messages").ack.status == 200
    assert http_bot.list_posts(direct(stranger)) == []


@both_transports
def test_who_invites_the_bot_is_told_what_it_does(bot: Bot) -> None:
    channel, ada = bot.channel(member=False), bot.person()
    assert ada.invite(channel).ack.status == 200
    (shown,) = bot.list_whispers(ada)
    assert shown["text"].startswith("Thanks for inviting me. I read the pull requests merged into octo/engine.")
    assert (shown["channel"], shown["thread_ts"]) == (channel, None)
    assert not bot.list_posts(channel)


def test_others_who_join_a_channel_are_left_alone(bot: Bot) -> None:
    channel, ada = bot.channel(), bot.person()
    payload = ada.invite(channel).payload
    (_,) = bot.list_whispers(ada)
    other = {**payload["event"], "user": bot.person().user, "event_ts": "1772300000.999900"}
    assert bot.wire.send("events_api", {**payload, "event": other}).status == 200
    assert len(bot.list_whispers(ada)) == 1


# --- group direct messages


def group(bot: Bot, name: str = "C") -> str:
    """Direct messages among several, the bot among them; Slack's ids of them begin as those of channels do."""
    channel = f"{name}0M{bot.unused_number()}"
    bot.world.slack.add_channel(channel, "mpdm-ada--ben--prdigest-1", several=True)
    return channel


@pytest.mark.parametrize("name", ["C", "G"])
@pytest.mark.parametrize("events", ["message alone", "both"])
def test_in_a_group_direct_message_who_names_the_bot_is_answered_once(name: str, events: str, bot: Bot) -> None:
    channel, ada = group(bot, name), bot.person()
    with answering(bot, answer("Nothing."), answer("Nobody.")) as asked:
        if events == "both":
            thread = begin_thread(bot, ada.mention("What merged?", channel, twin=True))
        else:
            thread = begin_thread(bot, ada.send_message("<@U0BOT> What merged?", channel))
        assert [text_of(message) for message in thread.answers()] == ["Nothing."]
        bot.person().send_message("Who wrote it?", channel, thread.ts)
        assert [text_of(message) for message in thread.answers()] == ["Nothing.", "Nobody."]
    assert asked.questions == ["What merged?", "Who wrote it?"]


def test_in_a_group_direct_message_others_talk_undisturbed(bot: Bot) -> None:
    channel, ada = group(bot), bot.person()
    before = bot.calls()
    ada.send_message("What merged?", channel)
    ada.send_message("help", channel)
    assert (bot.list_posts(channel), bot.list_whispers(ada), bot.calls()) == ([], [], before)


def test_a_group_direct_message_can_be_subscribed(bot: Bot) -> None:
    channel, ada = group(bot), bot.person()
    ada.send_message("<@U0BOT> subscribe at 09:00", channel)
    (shown,) = bot.list_whispers(ada)
    assert shown["text"] == "Subscribed to octo/engine"
    (made,) = subscriptions(bot, channel)
    assert not made.is_open
