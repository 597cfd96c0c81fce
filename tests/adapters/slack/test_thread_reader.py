"""Threads as they are read back: what people and the bot said, and what the bot's own messages carry."""

from __future__ import annotations

from typing import Any

import pytest
from localslack.state.identity import BOT_USER

from bot.adapters.slack.messenger import SlackMessenger, make_slack_client
from bot.adapters.slack.metadata import EVENT_TYPE
from bot.adapters.slack.thread_reader import SlackThreads
from bot.domain.errors import PrdigestError, SlackCallRefused, SlackUnavailable
from bot.ports import Attachment, Post, ThreadMessage
from tests.emulators.slack.client import HOME
from tests.emulators.slack.server import SCOPES, SlackEmulator


def messenger(slack: SlackEmulator) -> SlackMessenger:
    return SlackMessenger(make_slack_client(slack.token, slack.url))


def read(slack: SlackEmulator, thread: str) -> list[ThreadMessage]:
    return list(SlackThreads(messenger(slack)).list_messages(HOME, thread))


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


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ({"error": "missing_scope"}, SlackCallRefused),
        ({"error": "channel_not_found"}, SlackCallRefused),
        ({"error": "thread_not_found"}, SlackCallRefused),
        ({"status": 500}, SlackUnavailable),
        ({"hang_up": True}, SlackUnavailable),
    ],
    ids=str,
)
def test_a_thread_that_cant_be_read_is_told_in_words(
    slack: SlackEmulator, fault: dict[str, Any], kind: type[PrdigestError]
) -> None:
    lead = slack.add_message(HOME, "Look")
    slack.fail_next("conversations.replies", **fault)
    with pytest.raises(kind):
        read(slack, lead)


def test_without_the_scope_for_a_channel_nothing_is_read() -> None:
    with SlackEmulator(scopes=SCOPES - {"channels:history"}) as slack, pytest.raises(SlackCallRefused):
        read(slack, slack.add_message(HOME, "Look"))
