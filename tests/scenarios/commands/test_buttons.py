from __future__ import annotations

import pytest
from localslack.state.workspace import Json
from localslack.users.person import Person

from tests.scenarios import RISKY, SECTIONS, Bot, both_transports, old_button

COLD = "Reading octo/engine#{number}…"


def summary(bot: Bot, channel: str, person: Person, *words: str) -> Json:
    """The answer to ``/prsummary`` about a new pull request: posted, or whispered to the person."""
    number = bot.pull()
    person.send_command("/prsummary", " ".join([str(number), *words]), channel)
    return [*bot.list_posts(channel), *bot.list_whispers(person)][-1]


def window(bot: Bot, number: int) -> str:
    """The window about a pull request as Slack shows it now."""
    (view,) = bot.windows(f"#{number}")
    return str(view["blocks"])


@both_transports
def test_details_opens_a_window_with_the_four_sections(bot: Bot) -> None:
    ada, channel = bot.person(), bot.channel()
    message = summary(bot, channel, ada)
    assert ada.press(message, "details").ack.status == 200
    shown = window(bot, int(message["text"][1:].split()[0]))
    assert all(name in shown for name in SECTIONS)


def test_details_of_what_nobody_read_yet_says_so_and_then_fills_the_window(bot: Bot) -> None:
    number, channel = bot.pull(), bot.channel()
    bot.person().press(old_button("details", f"2|octo/engine#{number}"), "details", channel=channel)
    assert all(name in window(bot, number) for name in SECTIONS)
    opened, filled = (
        bot.world.slack.list_calls_to("views.open")[-1],
        bot.world.slack.list_calls_to("views.update")[-1],
    )
    assert COLD.format(number=number) in str(opened["view"])
    assert COLD.format(number=number) not in str(filled["view"])


def test_details_of_an_unknown_pull_request_says_so_in_the_window(bot: Bot) -> None:
    number, channel = bot.unused_number(), bot.channel()
    bot.person().press(old_button("details", f"2|octo/engine#{number}"), "details", channel=channel)
    assert f"octo/engine has no pull request #{number}." in window(bot, number)


@both_transports
def test_the_menu_below_a_risk_list_opens_the_one_that_is_chosen(bot: Bot) -> None:
    repository, channel, ada = bot.repository(), bot.channel(), bot.person()
    numbers = [bot.pull(repository, merged_at=bot.noon(1), **RISKY) for _ in range(2)]
    ada.send_command("/prrisks", f"repo:{repository}", channel)
    (message,) = bot.list_posts(channel)
    ada.press(message, "details_of", value=f"2|{repository}#{numbers[1]}")
    assert all(name in window(bot, numbers[1]) for name in SECTIONS)


def test_the_menu_below_a_digests_lead_opens_the_one_that_is_chosen(bot: Bot) -> None:
    repository, channel, ada = bot.repository(), bot.channel(), bot.person()
    number = bot.pull(repository, merged_at=bot.noon(2), **RISKY)
    ada.send_command("/prdigest", f"{bot.noon(2).date()} repo:{repository}", channel)
    (lead,) = bot.list_posts(channel)
    ada.press(lead, "details_of", value=f"2|{repository}#{number}")
    assert all(name in window(bot, number) for name in SECTIONS)


@pytest.mark.parametrize(
    ("command", "text"),
    [("/prsummary", "{number} private"), ("/prrisks", "{day} private"), ("/prdigest", "{day} private")],
    ids=["summary", "risks", "digest"],
)
@both_transports
def test_share_in_channel_shows_everybody_what_the_asker_saw(command: str, text: str, bot: Bot) -> None:
    repository, channel, ada = bot.repository(), bot.channel(), bot.person()
    number = bot.pull(repository, merged_at=bot.noon(2))
    named = text.format(number=f"{repository}#{number}", day=f"{bot.noon(2).date()} repo:{repository}")
    ada.send_command(command, named, channel)
    (private,) = bot.list_whispers(ada)
    ada.press(private, command.replace("/pr", "share_"))
    (public,) = bot.list_posts(channel)
    assert public["text"] == private["text"]
    # all but the buttons, and the line of what was read from the cache
    assert public["blocks"][0] == private["blocks"][0]
    assert len(bot.list_whispers(ada)) == 1


def test_sharing_where_the_bot_is_no_member_says_how_to_invite_it(bot: Bot) -> None:
    channel, ada = bot.channel(member=False), bot.person()
    ada.press(summary(bot, channel, ada), "share_summary")
    _, shown = bot.list_whispers(ada)
    assert shown["text"] == "I'm not in this channel: invite me with /invite, then share again."
    assert not bot.list_posts(channel)


def ask(bot: Bot, person: Person, message: Json) -> Json:
    """Press the button; the paragraph in the window, which is seen wherever the message stands."""
    person.press(message, "ask")
    bot.settle()
    view = bot.world.slack.get_modal(person.user)
    assert view
    assert not bot.list_whispers(person)
    return dict(view["blocks"][0])


def test_ask_about_this_says_how_and_where(bot: Bot) -> None:
    channel, ada = bot.channel(), bot.person()
    message = summary(bot, channel, ada)
    hint, link = ask(bot, ada, message)["elements"][0]["elements"][::2]
    assert hint["text"].startswith("Reply in that message's thread, in your own words:")
    assert (link["text"], link["url"].endswith(message["ts"].replace(".", ""))) == ("Open the message", True)


def test_where_slack_gives_no_address_ask_about_this_says_how(bot: Bot) -> None:
    channel, ada = bot.channel(), bot.person()
    message = summary(bot, channel, ada)
    bot.world.slack.fail_next("chat.getPermalink", error="internal_error")
    assert "Open the message" not in str(ask(bot, ada, message))


def test_a_button_in_a_thread_is_answered_there(bot: Bot) -> None:
    channel, ada = bot.channel(), bot.person()
    mention = ada.mention(str(bot.pull()), channel)
    (reply,) = bot.list_thread_posts(channel, mention.payload["event"]["ts"])
    shared = {**reply, "blocks": old_button("share_summary", f"2|octo/engine#{bot.pull()}")["blocks"]}
    ada.press(shared, "share_summary", channel=channel)
    assert len(bot.list_thread_posts(channel, mention.payload["event"]["ts"])) == 2
    assert not bot.list_posts(channel)


def test_a_button_that_no_version_has_says_what_to_do_instead(bot: Bot) -> None:
    channel, ada = bot.channel(), bot.person()
    assert ada.press(old_button("details_v0", "x"), "details_v0", channel=channel).ack.status == 200
    (shown,) = bot.list_whispers(ada)
    assert shown["text"] == "That button no longer works: use a command instead."


@pytest.mark.parametrize(
    ("action", "value"),
    [
        ("details", "2|other/secret#1"),
        ("details_of", "2|other/secret#1"),
        ("share_summary", "2|other/secret#1"),
        ("share_risks", "2|2026-02-28 repo:other/secret"),
        ("share_digest", "2|2026-02-27..2026-02-28 repo:other/secret"),
        (
            "share_summary",
            '{"version":2,"kind":"summary","references":[{"repository":{"owner":"other","name":"secret"},"number":1}]}',
        ),
        (
            "share_risks",
            (
                '{"version":2,"kind":"risks","repository":{"owner":"other","name":"secret"},'
                '"span":{"first":"2026-02-28","last":"2026-02-28","zone":"UTC"}}'
            ),
        ),
    ],
    ids=["details", "menu", "summary", "risks", "digest", "typed summary", "typed risks"],
)
def test_a_forged_button_opens_no_other_repository(action: str, value: str, bot: Bot) -> None:
    channel, ada, before = bot.channel(), bot.person(), bot.calls()
    assert ada.press(old_button(action, value), action, channel=channel).ack.status == 200
    (shown,) = bot.list_whispers(ada)
    assert shown["text"].startswith("I'm not set up for other/secret: ask about octo/engine,")
    assert bot.calls() == before
    assert not bot.list_posts(channel)


@pytest.mark.parametrize("value", ["", "nonsense", "octo/engine", "#0x1"], ids=["empty", "words", "bare", "hex"])
def test_a_button_that_says_nothing_usable_is_a_sentence(value: str, bot: Bot) -> None:
    channel, ada = bot.channel(), bot.person()
    ada.press(old_button("details", f"2|{value}"), "details", channel=channel)
    (shown,) = bot.list_whispers(ada)
    assert "number in " in shown["text"]


@pytest.mark.parametrize(
    ("action", "value"),
    [
        ("details", "3|octo/engine#1"),
        ("details", "octo/engine#1"),
        ("share_summary", "octo/engine#1"),
        ("subscription_pause", "3|1a2b3c4d"),
        ("answer_vote", "2|excellent"),
        ("share_risks", '{"version":3,"kind":"risks"}'),
        ("share_risks", '{"version":2,"kind":"summary","references":[]}'),
        ("share_risks", "{"),
    ],
    ids=["later", "unmarked", "unmarked text", "later id", "no verdict", "later request", "other kind", "no JSON"],
)
def test_what_this_version_did_not_write_says_what_to_do_instead(action: str, value: str, bot: Bot) -> None:
    channel, ada = bot.channel(), bot.person()
    ada.press(old_button(action, value), action, channel=channel)
    (shown,) = bot.list_whispers(ada)
    assert shown["text"] == "That button no longer works: use a command instead."
    assert not bot.list_posts(channel)
