import pytest

from tests.helpers.world import as_read
from tests.scenarios import RISKY, Bot, both_transports
from tests.scenarios.conversations.asking import answer, answering, begin_thread, text_of

ADDRESS = "https://github.com/octo/engine/pull/{number}"


@pytest.mark.parametrize(
    "text",
    [
        "{number}",
        "#{number}",
        f"<{ADDRESS}>",
        f"<{ADDRESS}|the change>",
        "summary {number}",
        "  prsummary #{number} ",
    ],
    ids=["number", "hash", "link", "labelled link", "summary", "command's name"],
)
def test_a_pull_request_that_is_named_in_a_thread_is_summarised_there(text: str, bot: Bot) -> None:
    number, channel, ada = bot.pull(), bot.channel(), bot.person()
    thread = bot.world.slack.add_message(channel, "lead")
    assert ada.mention(text.format(number=number), channel, thread).ack.status == 200
    (reply,) = bot.list_thread_posts(channel, thread)
    assert reply["text"] == f"#{number} Change {number}"
    assert not bot.list_whispers(ada)


@both_transports
def test_a_mention_at_top_level_begins_a_thread(bot: Bot) -> None:
    number, channel = bot.pull(), bot.channel()
    mention = bot.person().mention(str(number), channel)
    (reply,) = bot.list_thread_posts(channel, mention.payload["event"]["ts"])
    assert reply["text"] == f"#{number} Change {number}"
    assert not bot.list_posts(channel)


def test_risks_in_a_thread_are_listed_there(bot: Bot) -> None:
    repository, channel = bot.repository(), bot.channel()
    number = bot.pull(repository, merged_at=bot.noon(1), **RISKY)
    thread = bot.world.slack.add_message(channel, "lead")
    bot.person().mention(f"risks 7d repo:{repository}", channel, thread)
    (reply,) = bot.list_thread_posts(channel, thread)
    assert f"#{number} " in as_read(reply)


def test_an_overview_in_a_thread_is_given_there(bot: Bot) -> None:
    repository, channel = bot.repository(), bot.channel()
    bot.pull(repository, merged_at=bot.noon(1))
    thread = bot.world.slack.add_message(channel, "lead")
    bot.person().mention(f"digest 2d repo:{repository}", channel, thread)
    (reply,) = bot.list_thread_posts(channel, thread)
    assert "Day by day" in as_read(reply)


def test_a_private_mention_is_for_the_asker_alone(bot: Bot) -> None:
    number, channel, ada = bot.pull(), bot.channel(), bot.person()
    thread = bot.world.slack.add_message(channel, "lead")
    ada.mention(f"{number} private", channel, thread)
    (shown,) = bot.list_whispers(ada)
    assert (shown["text"], shown["thread_ts"]) == (f"#{number} Change {number}", thread)
    assert not bot.list_thread_posts(channel, thread)


@both_transports
def test_the_message_event_beside_the_mention_gives_no_second_answer(bot: Bot) -> None:
    number, channel, ada = bot.pull(), bot.channel(), bot.person()
    mention = ada.mention(str(number), channel, twin=True)
    assert ada.send_twin(mention).ack.status == 200
    assert len(bot.list_thread_posts(channel, mention.payload["event"]["ts"])) == 1
    assert not bot.list_whispers(ada)


@pytest.mark.parametrize("subtype", [None, "bot_message"])
def test_a_mention_by_another_bot_gets_no_answer(subtype: str | None, bot: Bot) -> None:
    number, channel, ada = bot.pull(), bot.channel(), bot.person()
    mention = ada.mention("", channel)
    event = {**mention.payload["event"], "text": f"<@U0BOT> {number}", "bot_id": "B0OTHER", "subtype": subtype}
    bot.settle()
    before, shown = bot.calls(), len(bot.list_whispers(ada))
    ack = bot.wire.send("events_api", {**mention.payload, "event": {**event, "ts": "1700000000.000100"}})
    assert ack.status == 200
    assert bot.calls() == before
    assert len(bot.list_whispers(ada)) == shown


def test_other_peoples_messages_are_none_of_the_bots_business(bot: Bot) -> None:
    channel, ada, before = bot.channel(), bot.person(), bot.calls()
    assert ada.send_message(f"have you seen {bot.pull()}?", channel).ack.status == 200
    assert not bot.list_posts(channel)
    assert not bot.list_whispers(ada)
    assert bot.calls() == before


def test_another_repository_is_refused_to_the_asker_alone(bot: Bot) -> None:
    channel, ada, before = bot.channel(), bot.person(), bot.calls()
    mention = ada.mention("<https://github.com/other/secret/pull/1>", channel)
    (shown,) = bot.list_whispers(ada)
    assert shown["text"].startswith("I'm not set up for other/secret: ask about octo/engine,")
    assert not bot.list_thread_posts(channel, mention.payload["event"]["ts"])
    assert bot.calls() == before


@pytest.mark.parametrize(
    "text",
    [
        "summary of yesterday?",
        "risks for our fork, and which of them matter",
        "digest me this, what broke and who did it",
        "does {number} change a default?",
        "what is <http://setup.py|setup.py> for?",
    ],
    ids=["summary", "risks", "digest", "number", "file name"],
)
def test_a_sentence_that_begins_like_a_command_is_a_question(text: str, http_bot: Bot) -> None:
    channel, ada = http_bot.channel(), http_bot.person()
    asked_for = text.format(number=http_bot.pull())
    with answering(http_bot, answer("Nothing.")) as asked:
        thread = begin_thread(http_bot, ada.mention(asked_for, channel))
        assert [text_of(message) for message in thread.answers()] == ["Nothing."]
    assert asked.questions == [asked_for.replace("<http://setup.py|setup.py>", "setup.py")]
    assert not http_bot.list_whispers(ada)


def test_a_question_that_is_too_long_is_told_to_the_asker_alone(http_bot: Bot) -> None:
    channel, ada, before = http_bot.channel(), http_bot.person(), http_bot.calls()
    thread = begin_thread(http_bot, ada.mention("why? " * 801, channel))
    (shown,) = http_bot.list_whispers(ada)
    assert shown["text"] == "That question is too long: use up to 4,000 characters."
    assert not thread.replies()
    assert http_bot.calls() == before


@pytest.mark.parametrize("text", ["quiet", "wake"])
def test_in_direct_messages_there_is_nobody_to_be_quiet_for(text: str, http_bot: Bot) -> None:
    ada = http_bot.person()
    thread = begin_thread(http_bot, ada.send_message(text, f"D{ada.user[1:]}"))
    (message,) = http_bot.list_posts(thread.channel)
    assert message["text"] == "In direct messages I always answer, so quiet and wake have no effect here."
    with answering(http_bot, answer("Nothing.")):
        ada.send_message("What merged?", thread.channel, thread.ts)
        assert len(thread.answers()) == 1
