"""Buttons and forms of the version before stand in channels for good; what they carry is read as before."""

from __future__ import annotations

import json

import pytest

from tests.scenarios import RISKY, SECTIONS, Bot, old_button
from tests.scenarios.subscriptions.regularly import form_of, subscriptions


@pytest.mark.parametrize("action", ["details", "details_of"])
def test_a_pull_request_by_its_name_opens_its_window(action: str, http_bot: Bot) -> None:
    number, channel = http_bot.pull(), http_bot.channel()
    http_bot.person().press(old_button(action, f"octo/engine#{number}"), action, channel=channel)
    (view,) = http_bot.windows(f"#{number}")
    assert all(name in str(view["blocks"]) for name in SECTIONS)


def test_a_shared_summary_is_the_text_of_a_command(http_bot: Bot) -> None:
    channel, ada = http_bot.channel(), http_bot.person()
    numbers = [http_bot.pull() for _ in range(2)]
    value = " ".join(f"octo/engine#{number}" for number in numbers)
    ada.press(old_button("share_summary", value), "share_summary", channel=channel)
    assert [message["text"].split()[0] for message in http_bot.list_posts(channel)] == [f"#{n}" for n in numbers]


@pytest.mark.parametrize(
    ("action", "value", "title"),
    [
        ("share_risks", "{day} repo:octo/engine path:csrc top:3", "Risky changes"),
        ("share_risks", "score {day} repo:octo/engine", "How good was the risk list"),
        ("share_digest", "{day}..{day} repo:octo/engine", " merged"),
        ("share_digest", "{day} repo:octo/engine tz:{zone}", " merged"),
    ],
    ids=["risks", "score", "digest", "digest of a zone"],
)
def test_a_shared_answer_is_the_text_of_a_command(action: str, value: str, title: str, http_bot: Bot) -> None:
    channel, ada = http_bot.channel(), http_bot.person()
    http_bot.pull(merged_at=http_bot.noon(5), **RISKY)
    words = value.format(day=http_bot.noon(5).date(), zone=http_bot.zone)
    ada.press(old_button(action, words), action, channel=channel)
    (message,) = http_bot.list_posts(channel)
    assert title in str(message)


def test_a_vote_is_a_word(http_bot: Bot) -> None:
    channel, ada = http_bot.channel(), http_bot.person()
    old = {**old_button("answer_vote", "good"), "ts": "100.000001"}
    ada.press(old, "answer_vote", channel=channel)
    (shown,) = http_bot.list_whispers(ada)
    # the version before answers nobody here: the vote is taken for an answer that is forgotten
    assert shown["text"].startswith("That answer is too old to rate")


def test_a_subscription_is_an_id(http_bot: Bot) -> None:
    channel, ada = http_bot.channel(), http_bot.person()
    ada.send_command("/prdigest", "subscribe at 09:00", channel)
    http_bot.settle()
    (made,) = subscriptions(http_bot, channel)
    for action, is_paused in (("subscription_pause", True), ("subscription_resume", False)):
        ada.press(old_button(action, made.id), action, channel=channel)
        http_bot.settle()
        assert [each.is_paused for each in subscriptions(http_bot, channel)] == [is_paused]
    ada.press(old_button("subscription_preview", made.id), "subscription_preview", channel=channel)
    assert "Preview, visible only to you. Nothing was posted." in str(http_bot.list_whispers(ada))
    ada.press(old_button("subscription_change", made.id), "subscription_change", channel=channel)
    assert form_of(http_bot, ada)
    ada.press(old_button("subscription_new", "new"), "subscription_new", channel=channel)
    ada.press(old_button("subscription_remove", made.id), "subscription_remove", channel=channel)
    http_bot.settle()
    assert subscriptions(http_bot, channel) == []


def test_a_form_that_was_open_carries_its_fields_without_a_version(http_bot: Bot) -> None:
    channel, ada = http_bot.channel(), http_bot.person()
    ada.send_command("/prdigest", "schedule", channel)
    view = form_of(http_bot, ada)
    answer = json.loads(view["private_metadata"])["answer"]
    old = {**view, "private_metadata": json.dumps({"id": "", "channel": channel, "answer": answer})}
    assert ada.submit(old, channel=channel, at="06:00").errors == {}
    http_bot.settle()
    (made,) = subscriptions(http_bot, channel)
    assert f"{made.timing.at:%H:%M}" == "06:00"


@pytest.mark.parametrize(
    ("action", "value"),
    [
        ("details", "3|octo/engine#1"),
        ("subscription_pause", "3|1a2b3c4d"),
        ("answer_vote", "excellent"),
        ("share_risks", '{"version":3,"kind":"risks"}'),
        ("share_risks", '{"version":2,"kind":"summary","references":[]}'),
        ("share_risks", "{"),
    ],
    ids=["later", "later id", "no verdict", "later request", "other kind", "no JSON"],
)
def test_what_no_version_wrote_says_what_to_do_instead(action: str, value: str, http_bot: Bot) -> None:
    channel, ada = http_bot.channel(), http_bot.person()
    ada.press(old_button(action, value), action, channel=channel)
    (shown,) = http_bot.list_whispers(ada)
    assert shown["text"] == "That button no longer works: use a command instead."
    assert not http_bot.list_posts(channel)


@pytest.mark.parametrize(
    ("action", "value"),
    [
        ("details", "2|other/secret#1"),
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
    ids=["details", "summary", "risks"],
)
def test_a_typed_value_opens_no_other_repository(action: str, value: str, http_bot: Bot) -> None:
    channel, ada = http_bot.channel(), http_bot.person()
    ada.press(old_button(action, value), action, channel=channel)
    (shown,) = http_bot.list_whispers(ada)
    assert shown["text"].startswith("I'm not set up for other/secret: ask about octo/engine,")
