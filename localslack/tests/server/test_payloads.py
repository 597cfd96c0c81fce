"""What Slack's deliveries look like: every field that an app may read, as the emulator's people send it."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from slack_sdk import WebClient

from localslack.errors import InvalidAction, SlackError
from localslack.testing.emulator import SlackEmulator
from localslack.users.person import Person
from localslack.users.transport import Ack
from tests.client import HOME, Json, client_of, refusal
from tests.parts import FEEDBACK, actions, button, plain, section


class Nowhere:
    """A wire that takes everything and tells nobody."""

    def send(self, kind: str, payload: Json, *, retry: int = 0) -> Ack:
        return Ack(200, "", 0.0)


@pytest.fixture
def bob(slack: SlackEmulator) -> Person:
    return Person(slack, Nowhere(), "U0BOB", "bob")


@pytest.fixture
def guest(slack: SlackEmulator) -> Person:
    return Person(slack, Nowhere(), "U0GUEST", "eve", team="T0ELSE", enterprise="E0ELSE")


def option(value: str) -> Json:
    return {"text": plain(value), "value": value}


def menu(kind: str, *values: str) -> Json:
    return {"type": kind, "action_id": kind, "options": [option(value) for value in values]}


YES, NO = button(action_id="vote", value="yes"), button(action_id="vote", value="no")
BLOCKS: list[Json] = [
    section(accessory=button(action_id="single", style="danger"), block_id="first"),
    {"type": "actions", "elements": [YES]},
    actions(NO, menu("overflow", "up", "down")),
    section(accessory=menu("static_select", "one", "two")),
    {"type": "context_actions", "elements": [{**FEEDBACK, "action_id": "feedback"}]},
]

# Commands


def test_a_command_has_all_that_slack_sends(slack: SlackEmulator, bob: Person) -> None:
    payload = bob.send_command("/echo", "today").payload
    assert payload["response_url"].startswith(slack.url)
    assert (
        payload.items()
        >= {
            "token": "verification-token",
            "team_id": "T0TEAM",
            "team_domain": "emulated",
            "channel_id": HOME,
            "channel_name": "general",
            "user_id": "U0BOB",
            "user_name": "bob",
            "command": "/echo",
            "text": "today",
            "api_app_id": "A0LOCAL",
            "is_enterprise_install": "false",
        }.items()
    )
    assert "enterprise_id" not in payload
    assert payload["trigger_id"] != bob.send_command("/echo").payload["trigger_id"]


@pytest.mark.parametrize(
    ("channel", "shown"), [(HOME, "general"), ("D0BOB", "directmessage"), ("G0TEAM", "privategroup")]
)
def test_private_places_are_not_named(slack: SlackEmulator, bob: Person, channel: str, shown: str) -> None:
    slack.add_channel("G0TEAM", "team")
    assert bob.send_command("/x", channel=channel).payload["channel_name"] == shown


# Events


def test_a_mention_has_all_that_slack_sends(bob: Person) -> None:
    payload = bob.mention("hi").payload
    event = payload["event"]
    assert (event["type"], event["text"], event["user"]) == ("app_mention", "<@U0BOT> hi", "U0BOB")
    assert (event["channel"], event["event_ts"], event["team"]) == (HOME, event["ts"], "T0TEAM")
    assert not {"thread_ts", "user_team", "channel_type"} & event.keys()
    assert (payload["type"], payload["team_id"], payload["api_app_id"]) == ("event_callback", "T0TEAM", "A0LOCAL")
    assert payload["event_time"] == 1_772_300_000
    assert (
        payload["authorizations"][0].items() >= {"team_id": "T0TEAM", "user_id": "U0BOT", "is_bot": True}.items()
    )
    assert payload["is_ext_shared_channel"] is False


@pytest.mark.parametrize(("channel", "kind"), [(HOME, "channel"), ("D0BOB", "im"), ("G0TEAM", "group")])
def test_a_message_says_where_it_is(slack: SlackEmulator, bob: Person, channel: str, kind: str) -> None:
    slack.add_channel("G0TEAM", "team")
    event = bob.send_message("hello", channel).payload["event"]
    assert (event["type"], event["channel_type"]) == ("message", kind)
    assert slack.list_messages(channel)[0]["text"] == "hello"


@pytest.mark.parametrize(("channel", "kind"), [(HOME, "channel"), ("D0BOB", "im"), ("G0TEAM", "group")])
def test_a_reply_names_its_thread(slack: SlackEmulator, bob: Person, channel: str, kind: str) -> None:
    slack.add_channel("G0TEAM", "team")
    lead = bob.send_message("why, <@U123>?", channel).payload["event"]
    assert not {"thread_ts", "parent_user_id", "subtype"} & lead.keys()
    event = bob.send_message("and <@U0EVE>?", channel, lead["ts"]).payload["event"]
    where = {"channel": channel, "channel_type": kind, "thread_ts": lead["ts"], "parent_user_id": "U0BOB"}
    assert event.items() >= {**where, "type": "message", "user": "U0BOB", "text": "and <@U0EVE>?"}.items()
    assert [reply["ts"] for reply in slack.list_replies(channel, lead["ts"])] == [event["ts"]]


def test_a_message_may_have_files(slack: SlackEmulator, bob: Person) -> None:
    files = [{"id": "F1", "name": "log.txt", "mimetype": "text/plain"}]
    event = bob.send_message("see this", subtype="file_share", files=files, upload=False).payload["event"]
    assert (event["subtype"], event["files"], event["user"]) == ("file_share", files, "U0BOB")
    assert slack.list_messages(HOME)[0]["files"] == files


def test_another_bots_message_says_so(slack: SlackEmulator, bob: Person) -> None:
    lead = slack.add_message(HOME, "lead")
    event = bob.send_message("built", HOME, lead, subtype="bot_message", bot_id="B0CI").payload["event"]
    assert (event["bot_id"], event["subtype"], event["thread_ts"]) == ("B0CI", "bot_message", lead)
    assert "client_msg_id" not in event
    assert slack.list_replies(HOME, lead)[0]["bot_id"] == "B0CI"


def test_an_edit_tells_of_both_messages(slack: SlackEmulator, bob: Person) -> None:
    lead = slack.add_message(HOME, "lead")
    reply_event = bob.send_message("old", HOME, lead).payload["event"]
    event = bob.edit(reply_event["ts"], "<@U0BOT> new").payload["event"]
    assert (event["type"], event["subtype"], event["hidden"]) == ("message", "message_changed", True)
    assert (event["channel"], event["channel_type"]) == (HOME, "channel")
    assert not {"text", "user", "thread_ts", "bot_id"} & event.keys()
    assert (event["previous_message"]["text"], event["message"]["text"]) == ("old", "<@U0BOT> new")
    assert (event["message"]["ts"], event["message"]["edited"]["user"]) == (reply_event["ts"], "U0BOB")
    assert event["ts"] == event["event_ts"] > reply_event["ts"]
    assert [reply["text"] for reply in slack.list_replies(HOME, lead)] == ["<@U0BOT> new"]


def test_what_happens_to_others_is_no_new_message(slack: SlackEmulator, bob: Person) -> None:
    ts = slack.add_message(HOME, "x")
    event = bob.send_message("", subtype="message_deleted", deleted_ts=ts, hidden=True).payload["event"]
    assert (event["subtype"], event["deleted_ts"]) == ("message_deleted", ts)
    assert [message["text"] for message in slack.list_messages(HOME)] == ["x"]


def test_a_shared_channel_says_so(slack: SlackEmulator, bob: Person) -> None:
    slack.add_channel("C0SHARED", "shared", shared=True)
    assert bob.send_message("hello", "C0SHARED").payload["is_ext_shared_channel"] is True


# Actions


@pytest.mark.parametrize(
    ("name", "value", "expected_fields"),
    [
        ("single", None, {"type": "button", "block_id": "first", "style": "danger", "text": plain("x")}),
        ("vote", "yes", {"type": "button", "block_id": "block1", "value": "yes"}),
        ("vote", "no", {"type": "button", "block_id": "block2", "value": "no"}),
        ("overflow", "down", {"type": "overflow", "selected_option": option("down")}),
        ("static_select", "two", {"type": "static_select", "selected_option": option("two")}),
        ("feedback", "bad", {"type": "feedback_buttons", "value": "bad", "text": plain("Bad")}),
    ],
)
def test_a_control_tells_what_was_done(
    web: WebClient, bob: Person, name: str, value: str | None, expected_fields: Json
) -> None:
    message = web.chat_postMessage(channel=HOME, text="x", blocks=BLOCKS)["message"]
    (action,) = bob.press(message, name, value=value).payload["actions"]
    assert action.items() >= {"action_id": name, "action_ts": "1772300000.000000", **expected_fields}.items()
    assert ("value" in action) == ("value" in expected_fields)


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("veto", None, "the message has no veto; it has single, vote=yes"),
        ("vote", "perhaps", "the message has no vote=perhaps"),
        ("vote", None, "say which value: vote=yes, vote=no"),
        ("static_select", None, "say which value: static_select=one"),
    ],
)
def test_what_is_not_there_cannot_be_pressed(bob: Person, name: str, value: str | None, complaint: str) -> None:
    with pytest.raises(InvalidAction, match=complaint):
        bob.press({"ts": "1.1", "blocks": BLOCKS}, name, value=value, channel=HOME)


def test_a_message_without_blocks_has_nothing_to_press(bob: Person) -> None:
    with pytest.raises(InvalidAction, match="nothing to press"):
        bob.press({"ts": "1.1", "text": "x"}, "vote")


def test_an_action_has_all_that_slack_sends(slack: SlackEmulator, web: WebClient, bob: Person) -> None:
    lead = slack.add_message(HOME, "lead")
    message = web.chat_postMessage(channel=HOME, text="x", blocks=BLOCKS, thread_ts=lead)["message"]
    payload = bob.press(slack.list_replies(HOME, lead)[0], "static_select", value="two").payload
    assert payload["type"] == "block_actions"
    assert payload["team"] == {"id": "T0TEAM", "domain": "emulated"}
    assert payload["user"] == {"id": "U0BOB", "username": "bob", "name": "bob", "team_id": "T0TEAM"}
    assert payload["channel"] == {"id": HOME, "name": "general"}
    where = {"message_ts": message["ts"], "channel_id": HOME, "is_ephemeral": False, "thread_ts": lead}
    assert payload["container"] == {"type": "message", **where}
    assert (payload["message"]["ts"], payload["message"]["bot_id"]) == (message["ts"], "B0LOCAL")
    assert [block["block_id"] for block in payload["message"]["blocks"]][:2] == ["first", "block1"]
    state = payload["state"]["values"]["block3"]["static_select"]
    assert state == {"type": "static_select", "selected_option": option("two")}
    assert web.views_open(trigger_id=payload["trigger_id"], view=MODAL)["ok"]


def test_feedback_below_a_streamed_answer(slack: SlackEmulator, web: WebClient, bob: Person) -> None:
    lead = slack.add_message(HOME, "why?", user="U0BOB")
    stream = web.chat_stream(
        channel=HOME, thread_ts=lead, recipient_user_id="U0BOB", recipient_team_id="T0TEAM", buffer_size=1
    )
    stream.append(markdown_text="because")
    stream.stop(blocks=[{"type": "context_actions", "elements": [{**FEEDBACK, "action_id": "feedback"}]}])
    (answer,) = slack.list_replies(HOME, lead)
    payload = bob.press(answer, "feedback", value="good").payload
    where = {"message_ts": stream.ts, "channel_id": HOME, "is_ephemeral": False, "thread_ts": lead}
    assert payload["container"] == {"type": "message", **where}
    assert payload["message"]["text"] == "because"
    (action,) = payload["actions"]
    shown = {"type": "feedback_buttons", "action_id": "feedback", "block_id": "block1", "value": "good"}
    assert action.items() >= {**shown, "text": plain("Good")}.items()
    assert bob.press(answer, "feedback", value="bad").payload["actions"][0]["value"] == "bad"


MODAL: Json = {"type": "modal", "title": plain("x"), "blocks": []}


def test_an_ephemeral_message_is_not_in_the_payload(slack: SlackEmulator, web: WebClient, bob: Person) -> None:
    web.chat_postEphemeral(channel=HOME, user="U0BOB", text="x", blocks=BLOCKS)
    payload = bob.press(slack.ephemerals[0], "single").payload
    assert payload["container"]["is_ephemeral"] is True
    assert payload["channel"]["id"] == HOME
    assert "message" not in payload


# Shortcuts


def test_a_message_shortcut_has_all_that_slack_sends(slack: SlackEmulator, web: WebClient, bob: Person) -> None:
    lead = slack.add_message(HOME, "lead", attachments=[{"text": "below"}], bot_id="B0CI")
    ts = web.chat_postMessage(channel=HOME, text="x", blocks=BLOCKS, thread_ts=lead)["ts"]
    payload = bob.use_message_shortcut("explain", ts).payload
    url, action = payload.pop("response_url"), payload.pop("action_ts")
    assert url.startswith(slack.url)
    assert float(action) > float(ts)
    trigger = payload.pop("trigger_id")
    assert payload == {
        "type": "message_action",
        "token": "verification-token",
        "team": {"id": "T0TEAM", "domain": "emulated"},
        "enterprise": None,
        "is_enterprise_install": False,
        "user": {"id": "U0BOB", "username": "bob", "name": "bob", "team_id": "T0TEAM"},
        "channel": {"id": HOME, "name": "general"},
        "callback_id": "explain",
        "message_ts": ts,
        "message": slack.get_message(HOME, ts),
    }
    assert payload["message"]["thread_ts"] == lead
    assert bob.use_message_shortcut("explain", lead).payload["message"]["attachments"] == [{"text": "below"}]
    assert web.views_open(trigger_id=trigger, view=MODAL)["ok"]


def test_a_global_shortcut_names_neither_a_conversation_nor_an_address(web: WebClient, bob: Person) -> None:
    payload = bob.use_shortcut("ask").payload
    assert payload.keys() == {
        *("type", "token", "action_ts", "team", "enterprise", "is_enterprise_install", "user", "callback_id"),
        "trigger_id",
    }
    assert (payload["type"], payload["callback_id"]) == ("shortcut", "ask")
    assert payload["user"] == {"id": "U0BOB", "username": "bob", "team_id": "T0TEAM"}
    assert web.views_open(trigger_id=payload["trigger_id"], view=MODAL)["ok"]


def test_a_trigger_of_a_shortcut_opens_one_view_within_three_seconds(slack: SlackEmulator, bob: Person) -> None:
    web, shortcut = client_of(slack), bob.use_shortcut("ask").payload
    web.views_open(trigger_id=shortcut["trigger_id"], view=MODAL)
    again = refusal(lambda: web.views_open(trigger_id=shortcut["trigger_id"], view=MODAL))
    assert again["error"] == "exchanged_trigger_id"


def test_ephemeral_messages_and_private_channels_of_others_have_no_shortcuts(
    slack: SlackEmulator, web: WebClient, bob: Person
) -> None:
    web.chat_postEphemeral(channel=HOME, user="U0BOB", text="x")
    with pytest.raises(SlackError, match="message_not_found"):
        bob.use_message_shortcut("explain", slack.ephemerals[0]["ts"])
    slack.add_channel("C0SECRET", "secret", private=True, people=("U0ADA",))
    ts = slack.add_message("C0SECRET", "hidden", "U0ADA")
    with pytest.raises(InvalidAction):
        bob.use_message_shortcut("explain", ts, "C0SECRET")


# Other teams


def test_somebody_of_another_team_is_told_apart(slack: SlackEmulator, web: WebClient, guest: Person) -> None:
    command = guest.send_command("/x").payload
    assert (command["team_id"], command["enterprise_id"]) == ("T0ELSE", "E0ELSE")
    mention = guest.mention("hi").payload
    # Slack's own SDK takes the installation from the authorizations, since this one may be another team
    assert (mention["team_id"], mention["authorizations"][0]["team_id"]) == ("T0ELSE", "T0TEAM")
    assert (mention["context_team_id"], mention["is_ext_shared_channel"]) == ("T0TEAM", True)
    assert {mention["event"][key] for key in ("team", "user_team", "source_team")} == {"T0ELSE"}
    assert "enterprise_id" not in mention
    message = web.chat_postMessage(channel=HOME, text="x", blocks=BLOCKS)["message"]
    action = guest.press(message, "single").payload
    assert (action["team"]["id"], action["user"]["team_id"]) == ("T0TEAM", "T0ELSE")


def test_a_grid_is_named_to_its_own_people(slack: SlackEmulator, web: WebClient) -> None:
    amy = Person(slack, Nowhere(), enterprise="E0GRID")
    message = web.chat_postMessage(channel=HOME, text="x", blocks=BLOCKS)["message"]
    assert amy.send_command("/x").payload["enterprise_id"] == "E0GRID"
    assert amy.send_message("x").payload["enterprise_id"] == "E0GRID"
    assert amy.press(message, "single").payload["enterprise"]["id"] == "E0GRID"


def test_nobody_uses_what_they_do_not_see(slack: SlackEmulator, guest: Person) -> None:
    """People write only where they are; buttons of public channels are there for everybody of the team."""
    ada, ben = (
        replace(guest, user="U0ADA", team=None, enterprise=None),
        replace(guest, user="U0BEN", team=None, enterprise=None),
    )
    slack.add_channel("C0SECRET", "secret", private=True, people=("U0ADA",))
    slack.add_channel("C0OPEN", "open", people=("U0ADA",))
    assert ada.send_command("/x", channel="C0SECRET").payload["user_id"] == "U0ADA"
    acts: list[Callable[[], object]] = [
        lambda: ben.send_command("/x", channel="C0OPEN"),
        lambda: ben.mention("hi", "C0OPEN"),
        lambda: ben.send_message("hi", "C0SECRET"),
    ]
    for act in acts:
        with pytest.raises(InvalidAction):
            act()
    slack.set_person("U0BEN", ultra_restricted=True)
    with pytest.raises(InvalidAction):
        ben.send_command("/x")
