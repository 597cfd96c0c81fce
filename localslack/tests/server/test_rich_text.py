"""What people type as blocks: the same words, with names, links and formats as elements."""

import pytest
from slack_sdk import WebClient

from localslack.rules.messages import check_message
from localslack.server.rich_text import compose_rich_text
from localslack.testing.emulator import SlackEmulator
from localslack.users.person import Person
from tests.client import HOME, Json
from tests.server.test_payloads import Nowhere


def text(content: str, style: str = "") -> Json:
    return {"type": "text", "text": content, **({"style": {style: True}} if style else {})}


ELEMENTS: dict[str, list[Json]] = {
    "hi there": [text("hi there")],
    "<@U0BOT> why?": [{"type": "user", "user_id": "U0BOT"}, text(" why?")],
    "a &lt;b&gt; &amp; c": [text("a <b> & c")],
    "see <https://x.example/a?b=1&amp;c=2|the page>": [
        text("see "),
        {"type": "link", "url": "https://x.example/a?b=1&c=2", "text": "the page"},
    ],
    "<https://x.example>": [{"type": "link", "url": "https://x.example"}],
    "https://x.example/a.": [{"type": "link", "url": "https://x.example/a."}],
    "<#C0GENERAL|general> <!here> <!subteam^S1|@team>": [
        {"type": "channel", "channel_id": "C0GENERAL"},
        text(" "),
        {"type": "broadcast", "range": "here"},
        text(" "),
        {"type": "usergroup", "usergroup_id": "S1"},
    ],
    "done :tada:": [text("done "), {"type": "emoji", "name": "tada"}],
    "`a *b*` *bold* _it_ ~no~": [
        text("a *b*", "code"),
        text(" "),
        text("bold", "bold"),
        text(" "),
        text("it", "italic"),
        text(" "),
        text("no", "strike"),
    ],
    "a_b_c 2*3*4": [text("a_b_c 2*3*4")],
}


@pytest.mark.parametrize("typed", ELEMENTS)
def test_each_part_is_an_element(typed: str) -> None:
    (block,) = compose_rich_text(typed)
    assert block["elements"] == [{"type": "rich_text_section", "elements": ELEMENTS[typed]}]
    assert check_message({"text": typed, "blocks": [block]}) is None


def test_fences_are_a_part_of_their_own() -> None:
    (block,) = compose_rich_text("see\n```\nx = 1 < 2\n```")
    assert [part["type"] for part in block["elements"]] == ["rich_text_section", "rich_text_preformatted"]
    assert block["elements"][1]["elements"] == [text("x = 1 < 2")]


def test_nothing_typed_has_no_blocks() -> None:
    assert compose_rich_text("") == []


def test_events_and_history_have_the_blocks_of_people(slack: SlackEmulator, web: WebClient) -> None:
    ada = Person(slack, Nowhere(), "U0ADA", "ada")
    event = ada.mention("why?").payload["event"]
    assert event["blocks"] == compose_rich_text("<@U0BOT> why?")
    (kept,) = web.conversations_history(channel=HOME)["messages"]
    assert kept["blocks"] == event["blocks"]
    edited = ada.edit(event["ts"], "how?").payload["event"]
    assert edited["message"]["blocks"] == compose_rich_text("how?")
    assert edited["previous_message"]["blocks"] == event["blocks"]


def test_what_bots_say_has_the_blocks_that_they_made(slack: SlackEmulator, web: WebClient) -> None:
    ada = Person(slack, Nowhere(), "U0ADA", "ada")
    event = ada.send_message("built", subtype="bot_message", bot_id="B0CI").payload["event"]
    web.chat_postMessage(channel=HOME, text="only text")
    assert "blocks" not in event
    assert ["blocks" in message for message in slack.list_messages(HOME)] == [False, False]


def test_a_group_direct_message_says_so(slack: SlackEmulator, web: WebClient) -> None:
    slack.add_channel("C0SEVERAL", "mpdm-ada--ben--carl-1", several=True)
    ada = Person(slack, Nowhere(), "U0ADA", "ada")
    assert ada.send_message("hi", "C0SEVERAL").payload["event"]["channel_type"] == "mpim"
    channel = web.conversations_info(channel="C0SEVERAL")["channel"]
    kinds = ("is_mpim", "is_channel", "is_group", "is_im", "is_private")
    assert [channel[kind] for kind in kinds] == [True, False, False, False, True]
    (kept,) = web.conversations_history(channel="C0SEVERAL")["messages"]
    assert kept["text"] == "hi"
