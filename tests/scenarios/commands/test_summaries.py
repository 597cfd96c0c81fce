import pytest

from tests.helpers.world import as_read
from tests.scenarios import REPO, SECTIONS, Bot, both_transports, labels

HELP = "*/prsummary*: a summary of a pull request, or of several.\nUsage: `/prsummary 35617 |"


@pytest.mark.parametrize(
    "form",
    ["{number}", "#{number}", "octo/engine#{number}", "https://github.com/octo/engine/pull/{number}/files"],
    ids=["number", "hash", "qualified", "address"],
)
@both_transports
def test_a_pull_request_is_summarised_in_the_channel(form: str, bot: Bot) -> None:
    number, channel, ada = bot.pull(), bot.channel(), bot.person()
    ack = ada.send_command("/prsummary", form.format(number=number), channel).ack
    # who gets an answer within seconds needs no word before it
    assert (ack.status, ack.text) == (200, "")
    (message,) = bot.list_posts(channel)
    assert message["text"] == f"#{number} Change {number}"
    assert all(name in as_read(message) for name in (*SECTIONS, "Asked for by ada"))
    assert labels(message) == ["Details", "Ask about this"]
    assert not bot.list_whispers(ada)


@pytest.mark.parametrize("many", [2, 5])
def test_several_are_answered_in_the_order_in_which_they_are_named(many: int, bot: Bot) -> None:
    numbers, channel = [bot.pull() for _ in range(many)][::-1], bot.channel()
    ack = bot.person().send_command("/prsummary", " ".join(map(str, numbers)), channel).ack
    assert (ack.status, ack.text) == (200, "")
    assert [message["text"].partition(" ")[0] for message in bot.list_posts(channel)] == [f"#{n}" for n in numbers]


def test_one_that_is_unknown_among_several_does_not_keep_the_others_back(bot: Bot) -> None:
    first, unknown, last = bot.pull(), bot.unused_number(), bot.pull()
    channel, ada = bot.channel(), bot.person()
    ada.send_command("/prsummary", f"{first} {unknown}, {last}", channel)
    assert [message["text"].partition(" ")[0] for message in bot.list_posts(channel)] == [f"#{first}", f"#{last}"]
    (shown,) = bot.list_whispers(ada)
    assert shown["text"] == f"{REPO} has no pull request #{unknown}."


def test_private_is_for_the_asker_alone_and_can_be_shared(bot: Bot) -> None:
    number, channel, ada = bot.pull(), bot.channel(), bot.person()
    ada.send_command("/prsummary", f"{number} private", channel)
    (shown,) = bot.list_whispers(ada)
    assert shown["text"] == f"#{number} Change {number}"
    assert labels(shown) == ["Details", "Share in channel"]
    assert not bot.list_posts(channel)


def test_where_the_bot_is_no_member_only_the_asker_gets_it_by_response_url(bot: Bot) -> None:
    number, channel, ada = bot.pull(), bot.channel(member=False), bot.person()
    delivery = ada.send_command("/prsummary", str(number), channel)
    (shown,) = bot.list_whispers(ada)
    assert shown["response_url"] == delivery.payload["response_url"]
    assert shown["text"] == f"#{number} Change {number}"
    assert labels(shown) == ["Details", "Share in channel"]
    assert not bot.list_posts(channel)


@pytest.mark.parametrize("text", ["", "  ", "help", "HELP"], ids=["empty", "blank", "help", "shouted"])
@both_transports
def test_help_is_given_in_the_acknowledgement(text: str, bot: Bot) -> None:
    channel, ada = bot.channel(), bot.person()
    assert ada.send_command("/prsummary", text, channel).ack.text.startswith(HELP)
    assert not bot.list_posts(channel)
    assert not bot.list_whispers(ada)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("1 2 3 4 5 6", "6 are too many at once: name up to 5 pull requests."),
        ("nonsense", ": write 35617, #35617, owner/repo#35617 or its web address."),
        ("<!channel>", "&lt;!channel&gt;"),
        ("private", "Which pull request? Add its number, such as 35617."),
        ("1" * 1_001, "That command is too long: use up to 1,000 characters."),
        ("other/secret#1", "I'm not set up for other/secret: ask about octo/engine, octo/part-1,"),
        ("https://github.com/other/secret/pull/1", "I'm not set up for other/secret: ask about octo/engine,"),
    ],
    ids=["six", "nonsense", "hostile", "only private", "long", "other repository", "other address"],
)
def test_what_can_not_be_asked_is_told_to_the_asker_alone_without_a_call(
    text: str, sentence: str, bot: Bot
) -> None:
    channel, ada, before = bot.channel(), bot.person(), bot.calls()
    ack = ada.send_command("/prsummary", text, channel).ack
    assert ack.status == 200
    assert sentence in ack.text
    assert "<!channel>" not in ack.text
    assert bot.calls() == before
    assert not bot.list_posts(channel)
    assert not bot.list_whispers(ada)


def test_whether_another_repository_exists_is_not_told(bot: Bot) -> None:
    number = bot.pull("other/private")
    real, channel = f"other/private#{number}", bot.channel()
    made_up = real.replace("private", "nothing")
    answers = [bot.person().send_command("/prsummary", text, channel).ack.text for text in (real, made_up)]
    assert answers[0].replace("private", "nothing") == answers[1]
    assert not any("other/" in call.path or b"private" in call.body for call in bot.world.github.calls)


def test_an_allowed_repository_may_be_spelt_otherwise(bot: Bot) -> None:
    repository, channel = bot.repository(), bot.channel()
    number = bot.pull(repository)
    bot.person().send_command("/prsummary", f"{repository.upper()}#{number}", channel)
    (message,) = bot.list_posts(channel)
    assert f"https://github.com/{repository}/pull/{number}" in str(message["blocks"])


def test_an_open_pull_request_says_that_it_is_not_merged(bot: Bot) -> None:
    number, channel = bot.pull(state="OPEN"), bot.channel()
    bot.person().send_command("/prsummary", str(number), channel)
    (message,) = bot.list_posts(channel)
    assert "not merged (open)" in as_read(message)


def test_one_that_was_closed_unmerged_is_a_sentence_to_the_asker(bot: Bot) -> None:
    number, channel, ada = bot.pull(state="CLOSED"), bot.channel(), bot.person()
    ada.send_command("/prsummary", str(number), channel)
    (shown,) = bot.list_whispers(ada)
    assert shown["text"] == f"#{number} was closed without being merged: there is nothing to summarize."
    assert not bot.list_posts(channel)


def test_an_unknown_number_is_a_sentence_to_the_asker(bot: Bot) -> None:
    number, channel, ada = bot.unused_number(), bot.channel(), bot.person()
    assert ada.send_command("/prsummary", str(number), channel).ack.text == ""
    (shown,) = bot.list_whispers(ada)
    assert shown["text"] == f"{REPO} has no pull request #{number}."
    assert not bot.list_posts(channel)


def test_asking_again_asks_neither_github_nor_the_model(bot: Bot) -> None:
    number, channel, other = bot.pull(), bot.channel(), bot.channel()
    bot.person().send_command("/prsummary", str(number), channel)
    before = bot.calls()
    bot.person().send_command("/prsummary", f"#{number}", other)
    ((first,), (second,)) = bot.list_posts(channel), bot.list_posts(other)
    assert bot.calls() == before
    assert first["blocks"] == second["blocks"]
