"""Threads as they are read back: what people and the bot said, and what the bot's own messages carry."""

from typing import Any

import pytest
from localslack.state.identity import BOT_USER

from bot.platform.slack.blocks import Attachment, Post, ThreadMessage
from bot.platform.slack.client import make_slack_client
from bot.platform.slack.messenger import EVENT_TYPE, SlackMessenger
from tests.emulators.slack.client import HOME
from tests.emulators.slack.server import SlackEmulator


def messenger(slack: SlackEmulator) -> SlackMessenger:
    return SlackMessenger(make_slack_client(slack.token, slack.url))


def read(slack: SlackEmulator, thread: str) -> list[ThreadMessage]:
    return list(messenger(slack).list_messages(HOME, thread))


def make_metadata(key: str) -> dict[str, Any]:
    return {"event_type": EVENT_TYPE, "event_payload": {"key": key}}


def test_a_thread_is_read_from_its_beginning(slack: SlackEmulator) -> None:
    bot = messenger(slack)
    lead = bot.post_message(HOME, Post("Digest", ()).build_payload(), "digest:1", about="octo/engine 2026-02-28")
    slack.add_message(HOME, "elsewhere")
    question = slack.add_message(HOME, "Why &lt;here&gt;?", "U0ASKER", lead)
    answer = bot.post_message(HOME, Post("Because.", ()).build_payload(), "answer:1", lead)
    assert read(slack, lead) == [
        ThreadMessage(lead, "Digest", is_own=True, key="digest:1", about="octo/engine 2026-02-28", user=BOT_USER),
        ThreadMessage(question, "Why &lt;here&gt;?", is_own=False, user="U0ASKER"),
        ThreadMessage(answer, "Because.", is_own=True, key="answer:1", user=BOT_USER),
    ]


def test_what_other_bots_say_is_left_out(slack: SlackEmulator) -> None:
    lead = slack.add_message(HOME, "Look")
    slack.add_message(HOME, "Built.", "U0OTHER", lead, bot_id="B0OTHER", metadata=make_metadata("digest:1"))
    assert [message.text for message in read(slack, lead)] == ["Look"]


def test_what_others_messages_carry_is_not_believed(slack: SlackEmulator) -> None:
    lead = slack.add_message(HOME, "Look", metadata=make_metadata("digest:1"))
    assert read(slack, lead) == [ThreadMessage(lead, "Look", is_own=False, user="U0HUMAN")]


def test_own_messages_that_carry_nothing_have_no_key(slack: SlackEmulator) -> None:
    home = slack.workspace.channels[HOME]
    lead = slack.add_message(HOME, "Look")
    slack.workspace.add_bot_message(home, "Plain", lead)
    slack.workspace.add_bot_message(
        home, "Else", lead, metadata={"event_type": "else", "event_payload": {"key": "k"}}
    )
    messenger(slack).attach_file(HOME, lead, Attachment("report.md", "Report", "All of it."))
    assert [(message.is_own, message.key, message.about) for message in read(slack, lead)] == [
        (False, "", ""),
        *[(True, "", "")] * 3,
    ]


@pytest.mark.slow
def test_a_long_thread_is_read_over_several_pages(slack: SlackEmulator) -> None:
    lead = slack.add_message(HOME, "Look")
    timestamps = [slack.add_message(HOME, f"{n}", thread_ts=lead) for n in range(450)]
    assert [message.ts for message in read(slack, lead)] == [lead, *timestamps]


def test_a_stream_that_runs_is_read_as_far_as_it_came(slack: SlackEmulator) -> None:
    lead = slack.add_message(HOME, "Look")
    client = make_slack_client(slack.token, slack.url)
    client.chat_startStream(
        channel=HOME,
        thread_ts=lead,
        markdown_text="Half of",
        recipient_team_id="T0TEAM",
        recipient_user_id="U0ASKER",
    )
    assert [(message.text, message.is_own) for message in read(slack, lead)] == [
        ("Look", False),
        ("Half of", True),
    ]
