import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from localslack.state.workspace import START

from bot.errors import SlackUnavailable
from bot.platform.slack.blocks import Attachment, Post
from bot.platform.slack.client import make_slack_client
from bot.platform.slack.messenger import EVENT_TYPE, SlackMessenger
from tests.emulators.slack.server import SlackEmulator

HOME = "C0DIGEST"
BEFORE = datetime.fromtimestamp(START, UTC) - timedelta(hours=1)
FILE = Attachment("Engine-2026-02-28.md", "Full report", "# Engine\n\nAll of it.\n")


def messenger(slack: SlackEmulator) -> SlackMessenger:
    return SlackMessenger(make_slack_client(slack.token, slack.url))


def payload(text: str = "Hello") -> dict[str, Any]:
    blocks = ({"type": "header", "text": {"type": "plain_text", "text": text}},)
    return Post(text, blocks).build_payload()


def metadata(key: str) -> dict[str, Any]:
    return {"event_type": EVENT_TYPE, "event_payload": {"key": key}}


def test_the_team_is_the_one_of_the_token(slack: SlackEmulator) -> None:
    assert messenger(slack).fetch_team() == "T0TEAM"


def test_a_post_arrives_as_it_was_made_and_unfurls_nothing(slack: SlackEmulator) -> None:
    ts = messenger(slack).post_message(HOME, payload(), "key-1")
    (message,) = slack.list_messages(HOME)
    assert (message["ts"], message["text"], message["blocks"]) == (ts, "Hello", payload()["blocks"])
    (call,) = slack.list_calls_to("chat.postMessage")
    assert (call["unfurl_links"], call["unfurl_media"]) == (False, False)


def test_a_post_is_found_again_by_its_key(slack: SlackEmulator) -> None:
    bot = messenger(slack)
    made = {key: bot.post_message(HOME, payload(), key) for key in ("key-1", "key-2")}
    assert bot.find_posts(HOME, BEFORE) == made


def test_replies_are_found_in_their_thread_and_not_in_the_channel(slack: SlackEmulator) -> None:
    bot = messenger(slack)
    lead = bot.post_message(HOME, payload(), "lead")
    reply = bot.post_message(HOME, payload(), "lead#1", lead)
    assert bot.find_posts(HOME, BEFORE) == {"lead": lead}
    assert bot.find_posts(HOME, BEFORE, lead) == {"lead": lead, "lead#1": reply}
    assert [message["ts"] for message in slack.list_replies(HOME, lead)] == [reply]


@pytest.mark.slow
def test_posts_are_found_over_several_pages_of_a_busy_channel(slack: SlackEmulator) -> None:
    bot = messenger(slack)
    made = bot.post_message(HOME, payload(), "key-1")
    for n in range(450):
        slack.add_message(HOME, f"chat {n}")
    assert bot.find_posts(HOME, BEFORE) == {"key-1": made}
    assert len(slack.list_calls_to("conversations.history")) == 3


@pytest.mark.slow
def test_replies_are_found_over_several_pages_of_a_long_thread(slack: SlackEmulator) -> None:
    bot = messenger(slack)
    lead = bot.post_message(HOME, payload(), "lead")
    for n in range(450):
        slack.add_message(HOME, f"reply {n}", thread_ts=lead)
    reply = bot.post_message(HOME, payload(), "lead#1", lead)
    assert bot.find_posts(HOME, BEFORE, lead)["lead#1"] == reply


def test_posts_from_before_the_time_are_not_looked_at(slack: SlackEmulator) -> None:
    bot = messenger(slack)
    bot.post_message(HOME, payload(), "key-1")
    assert bot.find_posts(HOME, datetime.fromtimestamp(START, UTC) + timedelta(hours=1)) == {}


def test_of_two_posts_with_one_key_the_first_counts(slack: SlackEmulator) -> None:
    bot = messenger(slack)
    first = bot.post_message(HOME, payload(), "key-1")
    bot.post_message(HOME, payload(), "key-1")
    assert bot.find_posts(HOME, BEFORE) == {"key-1": first}


def test_messages_of_others_and_the_bots_other_messages_are_ignored(slack: SlackEmulator) -> None:
    slack.add_message(HOME, "key-1")
    home = slack.workspace.channels[HOME]
    slack.workspace.add_bot_message(home, "without metadata")
    slack.workspace.add_bot_message(
        home, "of another kind", metadata={"event_type": "else", "event_payload": {"key": "k"}}
    )
    slack.workspace.add_message(home, "U0HUMAN", "forged", metadata=metadata("key-1"))
    slack.workspace.add_message(home, "U0OTHER", "a test's", bot_id="B0OTHER", metadata=metadata("key-1"))
    assert messenger(slack).find_posts(HOME, BEFORE) == {}


def test_a_file_is_put_into_a_thread_and_found_there(slack: SlackEmulator) -> None:
    bot = messenger(slack)
    lead = bot.post_message(HOME, payload(), "lead")
    assert not bot.has_attachment(HOME, lead, FILE.name)
    bot.attach_file(HOME, lead, FILE)
    assert bot.has_attachment(HOME, lead, FILE.name)
    assert not bot.has_attachment(HOME, lead, "another.md")
    (file,) = slack.files
    assert (file["name"], file["title"], file["thread_ts"]) == (FILE.name, FILE.title, lead)
    assert file["content"].decode() == FILE.text


def test_a_file_that_somebody_else_put_there_is_not_ours(slack: SlackEmulator) -> None:
    bot = messenger(slack)
    lead = bot.post_message(HOME, payload(), "lead")
    home = slack.workspace.channels[HOME]
    slack.workspace.add_message(home, "U0HUMAN", "my copy", lead, files=[{"id": "F1", "name": FILE.name}])
    assert not bot.has_attachment(HOME, lead, FILE.name)


def test_a_message_has_an_address(slack: SlackEmulator) -> None:
    bot = messenger(slack)
    lead = bot.post_message(HOME, payload(), "lead")
    assert (
        bot.fetch_permalink(HOME, lead) == f"https://emulated.slack.com/archives/C0DIGEST/p{lead.replace('.', '')}"
    )


@pytest.mark.slow
def test_a_rate_limit_is_waited_out_and_the_message_posted_once(slack: SlackEmulator) -> None:
    slack.fail_next("chat.postMessage", retry_after=1)
    begun = time.monotonic()
    messenger(slack).post_message(HOME, payload(), "key-1")
    assert time.monotonic() - begun >= 0.9
    assert (len(slack.list_messages(HOME)), len(slack.list_calls_to("chat.postMessage"))) == (1, 2)


@pytest.mark.parametrize("failure", [{"status": 503}, {"hang_up": True}, {"error": "internal_error"}], ids=str)
def test_a_failure_after_the_effect_is_not_repeated(slack: SlackEmulator, failure: dict[str, Any]) -> None:
    slack.fail_next("chat.postMessage", after_effect=True, **failure)
    with pytest.raises(SlackUnavailable):
        messenger(slack).post_message(HOME, payload(), "key-1")
    assert (len(slack.list_messages(HOME)), len(slack.list_calls_to("chat.postMessage"))) == (1, 1)
