from datetime import UTC, datetime

import pytest
from localslack.server.views import Values
from localslack.users.person import Person

from bot.platform.slack.blocks import write_id
from bot.platform.store.due_queue import DueQueue, NextDigest
from tests.helpers.checks import is_one_sentence
from tests.helpers.world import as_read
from tests.scenarios import RISKY, Bot, both_transports, labels, old_button
from tests.scenarios.conversations.asking import answer, answering, begin_thread, text_of
from tests.scenarios.subscriptions.regularly import (
    direct,
    form_of,
    is_planned,
    last,
    read_replaced_id,
    subscriptions,
    type_command,
    value,
)

BUTTONS = ["Preview", "Change", "Pause", "Unsubscribe"]


# --- the verbs and their buttons


def test_once_a_week_with_a_vacation(http_bot: Bot) -> None:
    channel, ada = http_bot.channel(), http_bot.person()
    command = f"subscribe weekly monday 09:00 {http_bot.repository()} tz UTC"
    assert ada.send_command("/prdigest", command, channel).ack.text == ""
    http_bot.settle()
    (made,) = subscriptions(http_bot, channel)
    assert (made.timing.weekday, f"{made.timing.at:%H:%M}") == (0, "09:00")
    assert f"{made.repository}, every Monday at 09:00 (UTC), in #" in as_read(last(http_bot, ada))
    shown = type_command(http_bot, ada, "snooze 1 until 4w", channel)
    assert as_read(shown).startswith("Snoozed. /prdigest resume ends that sooner.")
    due = DueQueue(http_bot.store).get_time(NextDigest(made.id))
    assert due
    assert (due - datetime.now(UTC)).days in range(27, 35)
    ada.send_command("/prdigest", command, channel)
    http_bot.settle()
    assert last(http_bot, ada)["text"] == f"Nothing changed: {made.repository}"


@both_transports
def test_from_subscribing_to_unsubscribing_by_words_and_buttons(bot: Bot) -> None:
    channel, ada, ben = bot.channel(), bot.person(), bot.person()
    text = f"subscribe {bot.repository()} at 6am tz Europe/Berlin weekdays path:vllm/v1 not-author:bots only:risky"
    shown = type_command(bot, ada, text, channel)
    (made,) = subscriptions(bot, channel)
    assert as_read(shown).startswith(
        f"Subscribed: {made.repository}, from Monday to Friday at 06:00 (Europe/Berlin), "
        "path:vllm/v1 not-author:bots only:risky, in #"
    )
    assert (labels(shown), is_planned(bot, made)) == (BUTTONS, True)
    ada.press(shown, "subscription_pause", channel=channel)
    assert last(bot, ada)["text"] == f"Paused: {made.repository}"
    assert not is_planned(bot, made)
    listed = type_command(bot, ben, "LIST", channel)
    assert (" · paused" in as_read(listed), labels(listed)) == (True, ["New subscription"])
    ben.press(listed, "subscription_resume", channel=channel)
    assert last(bot, ben)["text"] == f"Resumed: {made.repository}"
    assert is_planned(bot, made)
    ben.press(listed, "subscription_remove", channel=channel)
    assert last(bot, ben)["text"] == f"Unsubscribed: {made.repository}"
    assert (subscriptions(bot, channel), is_planned(bot, made)) == ([], False)
    # nobody who reads there wonders where it is
    rest = f"the digest of {made.repository}, from Monday to Friday at 06:00 (Europe/Berlin), "
    rest += "path:vllm/v1 not-author:bots only:risky."
    assert [as_read(message) for message in bot.list_posts(channel)] == [
        f"@{ada.user} paused {rest}",
        f"@{ben.user} resumed {rest}",
        f"@{ben.user} removed {rest}",
    ]


def test_several_are_told_apart_by_repository_and_id(http_bot: Bot) -> None:
    bot, channel, ada = http_bot, http_bot.channel(), http_bot.person()
    for text in (
        "subscribe at 06:00",
        "subscribe\tonly:risky  at 06:00",
        f"subscribe {bot.repository()} at 06:00",
    ):
        type_command(bot, ada, text, channel)
    made = subscriptions(bot, channel)
    assert len(made) == 3
    (risky,) = [each for each in made if each.view]
    choice = type_command(bot, ada, "pause octo/engine", channel)
    assert (choice["text"], [block["type"] for block in choice["blocks"]].count("actions")) == ("Which one?", 2)
    ada.press(choice, "subscription_pause", value=f"2|{risky.id}")
    assert last(bot, ada)["text"] == "Paused: octo/engine"
    assert [each.is_paused for each in subscriptions(bot, channel) if each.view] == [True]
    type_command(bot, ada, f"resume {risky.id}", channel)
    assert type_command(bot, ada, f"pause {risky.id}", channel)["text"] == "Paused: octo/engine"
    type_command(bot, ada, "unsubscribe all", channel)
    assert subscriptions(bot, channel) == []


def test_what_is_said_again_changes_only_that(http_bot: Bot) -> None:
    channel, ada, ben = http_bot.channel(), http_bot.person(), http_bot.person()
    type_command(http_bot, ada, "subscribe at 06:00 tz Europe/Berlin weekdays", channel)
    type_command(http_bot, ben, "subscribe at 5:30", channel)
    (made,) = subscriptions(http_bot, channel)
    assert (f"{made.timing.at:%H:%M}", str(made.timing.zone), made.timing.weekdays) == (
        "05:30",
        "Europe/Berlin",
        True,
    )


AT_ONCE = {
    "subscribe please": "I don't understand 'please': write owner/repo, at 09:00,",
    "subscribe at noon": "'noon' is not a time: write it as 09:00 or 9am.",
    "subscribe tz Mars": "'Mars' is not a time zone:",
    "subscribe other/secret": "I'm not set up for other/secret:",
    "subscribe path:[x]": "path:'[x]' can't be used:",
    "subscribe <!channel>": "I don't understand '&lt;!channel&gt;': write",
    "unsubscribe everything": "I don't understand 'everything': write a repository,",
    "pause the first": "Which one? Add its repository,",
    "list all": "The list takes no options:",
    "schedule octo/engine": "Write schedule alone,",
    "subscribe " + "x" * 1_001: "That command is too long:",
}
LATER = {
    "unsubscribe": "There is no subscription here: create one with /prdigest subscribe.",
    "pause all": "There is no subscription here: create one with /prdigest subscribe.",
    "resume octo/engine": "There is no subscription here: create one with /prdigest subscribe.",
    "schedule deadbeef": "That subscription no longer exists.",
}


def test_what_can_not_be_done_is_one_sentence_to_the_asker(http_bot: Bot) -> None:
    channel, away, ada = http_bot.channel(), http_bot.channel(member=False), http_bot.person()
    for text, sentence in AT_ONCE.items():
        refusal = ada.send_command("/prdigest", text, channel).ack.text
        assert refusal.startswith(sentence)
        # the names of all repositories may be cut
        assert is_one_sentence(refusal.partition(" Usage: /prdigest ")[0]) or refusal.endswith("…")
    for text, sentence in LATER.items():
        assert type_command(http_bot, ada, text, channel)["text"].partition(" [")[0] == sentence
    refusal = type_command(http_bot, ada, "subscribe", away)["text"]
    assert refusal == "I'm not in that channel: invite me with /invite, then subscribe again."
    assert (subscriptions(http_bot, channel), http_bot.list_posts(channel)) == ([], [])


def test_a_command_or_click_that_is_delivered_again_is_answered_once(http_bot: Bot) -> None:
    channel, ada = http_bot.channel(), http_bot.person()
    for text in ("subscribe at 06:00", "pause", "resume", "list", "unsubscribe"):
        again = ada.redeliver(ada.send_command("/prdigest", text, channel))
        assert (again.ack.status, again.ack.text) == (200, "")
        http_bot.settle()
    texts = [shown["text"] for shown in http_bot.list_whispers(ada)]
    assert texts == [
        "Subscribed to octo/engine",
        "Paused: octo/engine",
        "Resumed: octo/engine",
        "1 digest comes here",
        "Unsubscribed: octo/engine",
    ]
    shown = type_command(http_bot, ada, "subscribe at 06:00", channel)
    ada.redeliver(ada.press(shown, "subscription_remove", channel=channel))
    assert [each["text"] for each in http_bot.list_whispers(ada)[6:]] == ["Unsubscribed: octo/engine"]


# --- the form


@both_transports
def test_the_form_says_what_is_wrong_at_its_field_and_saves_what_is_right(bot: Bot) -> None:
    channel, other, ada = bot.channel(), bot.channel(), bot.person()
    assert ada.send_command("/prdigest", "schedule", channel).ack.text == ""
    view = form_of(bot, ada)
    assert (value(view, "channel"), value(view, "zone"), read_replaced_id(view)) == (channel, bot.zone.key, "")
    assert ada.submit(view, filter="vllm/v1", channel=None).errors == {
        "channel": "Choose a channel, or send the digest to yourself.",
        "filter": "I don't understand 'vllm/v1': write path:…, [not-]author:… or label:… here.",
    }
    assert bot.world.slack.get_modal(ada.user)
    offered = [option["value"] for option in ada.suggest(view, "zone", "los ang")]
    assert offered == ["America/Los_Angeles"]
    chosen: Values = {"zone": "America/Los_Angeles", "days": "weekdays", "only": "substantial", "at": "06:30"}
    assert ada.submit(view, chosen, filter="path:vllm/v1", channel=other).errors == {}
    bot.settle()
    assert bot.world.slack.get_modal(ada.user) is None
    (made,) = subscriptions(bot, other)
    assert last(bot, ada)["channel"] == channel
    assert as_read(last(bot, ada)).startswith(
        "Subscribed: octo/engine, from Monday to Friday at 06:30 (America/Los_Angeles), "
        "path:vllm/v1 only:substantial, in #"
    )
    assert (str(made.view), subscriptions(bot, channel)) == ("path:vllm/v1 only:substantial", [])


def test_change_opens_it_as_it_is_and_puts_the_new_one_in_its_place(http_bot: Bot) -> None:
    channel, ada, repository = http_bot.channel(), http_bot.person(), http_bot.repository()
    shown = type_command(http_bot, ada, "subscribe at 06:00 tz Asia/Tokyo path:src only:risky", channel)
    (old,) = subscriptions(http_bot, channel)
    ada.press(shown, "subscription_change", channel=channel)
    view = form_of(http_bot, ada)
    fields = ("repository", "channel", "at", "zone", "days", "only", "filter")
    assert [value(view, name) for name in fields] == [
        *("octo/engine", channel, "06:00", "Asia/Tokyo", "daily", "risky", "path:src")
    ]
    ada.close(view)
    assert subscriptions(http_bot, channel) == [old]
    ada.press(shown, "subscription_change", channel=channel)
    view = form_of(http_bot, ada)
    # there are more than a menu of Slack holds, so that a part of the name is typed
    assert repository in [each["value"] for each in ada.suggest(view, "repository", repository)]
    delivery = ada.submit(view, repository=repository, filter=None)
    assert ada.redeliver(delivery).ack.status == 200
    (made,) = subscriptions(http_bot, channel)
    assert (str(made.repository), str(made.view), made.timing) == (repository, "only:risky", old.timing)
    assert (is_planned(http_bot, old), is_planned(http_bot, made)) == (False, True)
    assert len(http_bot.list_whispers(ada)) == 2


def test_who_sends_the_form_where_the_bot_is_not_is_answered_too(http_bot: Bot) -> None:
    away, channel, ada = http_bot.channel(member=False), http_bot.channel(), http_bot.person()
    ada.send_command("/prdigest", "schedule", away)
    ada.submit(form_of(http_bot, ada))
    assert last(http_bot, ada)["text"].startswith("I'm not in that channel: invite me with /invite,")
    ada.send_command("/prdigest", "schedule", away)
    ada.submit(form_of(http_bot, ada), channel=channel, at="06:00")
    assert last(http_bot, ada)["text"] == "Subscribed to octo/engine"
    assert len(subscriptions(http_bot, channel)) == 1


# --- to one person alone


def by_command(bot: Bot, person: Person, channel: str) -> None:
    type_command(bot, person, "subscribe me at 06:00 label:rocm", channel)


def by_message(bot: Bot, person: Person, _: str) -> None:
    person.send_message("Subscribe at 06:00 label:rocm", direct(person))


def by_form(bot: Bot, person: Person, channel: str) -> None:
    person.send_command("/prdigest", "schedule", channel)
    view = form_of(bot, person)
    person.suggest(view, "zone")
    person.submit(view, where="me", zone="mine", at="06:00", filter="label:rocm")


@pytest.mark.parametrize("way", [by_command, by_message, by_form])
def test_a_personal_digest_is_in_the_persons_own_zone_and_theirs_alone(way: object, http_bot: Bot) -> None:
    assert callable(way)
    channel, ada, ben = http_bot.channel(), http_bot.person(), http_bot.person()
    http_bot.world.slack.set_person(ada.user, tz="Asia/Kolkata")
    way(http_bot, ada, channel)
    (made,) = subscriptions(http_bot, direct(ada))
    assert as_read(last(http_bot, ada)).startswith(
        "Subscribed: octo/engine, every day at 06:00 (Asia/Kolkata, as your Slack is set), label:rocm, "
        "in your direct messages with me. Next: "
    )
    assert (made.follows, made.by, subscriptions(http_bot, channel)) == (ada.user, ada.user, [])
    assert (
        "There is no subscription here" in type_command(http_bot, ben, f"unsubscribe {made.id}", channel)["text"]
    )
    for action in ("subscription_remove", "subscription_pause", "subscription_change", "subscription_preview"):
        ben.press(old_button(action, write_id(made.id)), action, channel=channel)
        # that a preview is looked at may be told before or after what came of it
        texts = [as_read(shown) for shown in http_bot.list_whispers(ben)[-2:]]
        assert any("no subscription here" in text or "personal subscription" in text for text in texts)
        assert not any("octo/engine" in text or "rocm" in text for text in texts)
    assert http_bot.world.slack.get_modal(ben.user) is None
    assert subscriptions(http_bot, direct(ada)) == [made]
    assert type_command(http_bot, ada, "unsubscribe", direct(ada))["text"] == "Unsubscribed: octo/engine"


# --- in messages


def test_in_a_message_that_names_the_bot_the_verbs_are_the_same(bot: Bot) -> None:
    channel, ada = bot.channel(), bot.person()
    thread = ada.mention("subscribe at 06:00 weekdays", channel).payload["event"]["ts"]
    assert (last(bot, ada)["text"], last(bot, ada)["thread_ts"]) == ("Subscribed to octo/engine", None)
    (made,) = subscriptions(bot, channel)
    assert made.timing.weekdays
    ada.mention("list", channel)
    assert last(bot, ada)["text"] == "1 digest comes here"
    ada.mention("subscribe at noon", channel)
    assert last(bot, ada)["text"].startswith(
        "'noon' is not a time: write it as 09:00 or 9am. Usage: /prdigest sub"
    )
    ada.mention("Unsubscribe", channel)
    assert last(bot, ada)["text"] == "Unsubscribed: octo/engine"
    (told,) = bot.list_posts(channel)
    assert (told["text"], bot.list_thread_posts(channel, thread)) == ("The digest of octo/engine was removed.", [])


@pytest.mark.parametrize(
    "text",
    [
        "list the changes that touch ROCm",
        "test coverage went down, why",
        "pause of the scheduler: what changed",
        "subscribe or not, does it matter?",
    ],
    ids=["list", "test", "pause", "subscribe"],
)
def test_a_sentence_that_begins_like_a_verb_is_a_question(text: str, http_bot: Bot) -> None:
    channel, ada = http_bot.channel(), http_bot.person()
    with answering(http_bot, answer("Nothing.")) as asked:
        thread = begin_thread(http_bot, ada.mention(text, channel))
        assert [text_of(message) for message in thread.answers()] == ["Nothing."]
    assert asked.questions == [text]
    assert (subscriptions(http_bot, channel), http_bot.list_whispers(ada)) == ([], [])


# --- the preview


def test_a_preview_shows_the_asker_alone_what_would_be_posted(bot: Bot) -> None:
    repository, channel, ada = bot.repository(), bot.channel(), bot.person()
    numbers = [bot.pull(repository, merged_at=bot.noon(1), **more) for more in ({}, RISKY)]
    before = len(bot.world.slack.list_calls_to("chat.postMessage"))
    text = f"{repository} at 06:00 tz {bot.zone.key} path:csrc only:risky"
    assert ada.send_command("/prdigest", f"test {text}", channel).ack.text == ""
    thought = last(bot, ada)
    type_command(bot, ada, f"subscribe {text}", channel)
    assert ada.send_command("/prdigest", "test", channel).ack.text == ""
    shown = last(bot, ada)
    # all but the line of what was read from the cache
    assert (shown["text"], shown["blocks"][:3]) == (thought["text"], thought["blocks"][:3])
    assert "Preview, visible only to you. Nothing was posted." in as_read(shown)
    assert "1 of 2 merged" in shown["text"]
    assert [f"#{number}" in as_read(shown) for number in numbers] == [False, True]
    assert bot.list_posts(channel) == []
    assert len(bot.world.slack.list_calls_to("chat.postMessage")) == before
    (listed,) = [type_command(bot, ada, "list", channel)]
    ada.press(listed, "subscription_preview", channel=channel)
    assert last(bot, ada)["text"] == shown["text"]


def test_a_preview_of_what_nobody_can_mean_is_one_sentence(http_bot: Bot) -> None:
    channel, ada = http_bot.channel(), http_bot.person()
    assert ada.send_command("/prdigest", "test please", channel).ack.text.startswith("I don't understand 'please'")
    assert ada.send_command("/prdigest", "test deadbeef", channel).ack.text == ""
    assert last(http_bot, ada)["text"].startswith("There is no subscription")


def test_a_preview_in_direct_messages_is_of_ones_own(http_bot: Bot) -> None:
    ada = http_bot.person()
    http_bot.pull(merged_at=http_bot.noon(1))
    ada.send_message("test", direct(ada))
    assert "Preview, visible only to you. Nothing was posted." in as_read(last(http_bot, ada))
    assert http_bot.list_whispers(ada) == []
