import threading
from typing import Any

import pytest

from localslack.errors import InvalidAction
from localslack.page.connection import Connection
from localslack.page.visitor import Visitor
from localslack.users.person import Person
from tests.client import client_of
from tests.page.conftest import DIRECT, HOME, YOU, Stage
from tests.parts import actions, button, entry, home, menu, modal, option

FIELD = {"type": "plain_text_input", "action_id": "text"}


def events(stage: Stage) -> list[tuple[str, str]]:
    return [(sent["event"]["type"], sent["event"]["text"]) for sent in stage.bot.sent]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("hello", [("message", "hello")]),
        ("@helper why?", [("app_mention", "<@U0BOT> why?"), ("message", "<@U0BOT> why?")]),
        ("so @HELPER, why?", [("app_mention", "so <@U0BOT>, why?"), ("message", "so <@U0BOT>, why?")]),
        ("me@helper.example", [("message", "me@helper.example")]),
        ("@helpering", [("message", "@helpering")]),
        ("<!channel> & <@U0BOT>", [("message", "&lt;!channel&gt; &amp; &lt;@U0BOT&gt;")]),
        ("  spaced\n", [("message", "spaced")]),
        ("half \ud83d", [("message", "half ?")]),
    ],
)
def test_what_is_typed_reaches_the_app_as_slack_sends_it(stage: Stage, text: str, kinds: Any) -> None:
    assert stage.do("say", place=HOME, text=text)["notice"] == ""
    assert events(stage) == kinds
    assert [message["text"] for message in stage.slack.list_messages(HOME)] == [kinds[0][1]]


def test_a_mention_tells_where_it_will_be_answered(stage: Stage) -> None:
    reply = stage.do("say", place=HOME, text="@helper why?")
    assert reply["thread"] == stage.slack.list_messages(HOME)[0]["ts"]
    assert stage.do("say", place=HOME, text="@helper why?", thread=reply["thread"])["thread"] == ""
    assert stage.do("say", place=HOME, text="why?")["thread"] == ""


def test_in_direct_messages_the_bot_needs_no_name(stage: Stage) -> None:
    stage.do("say", place=DIRECT, text="@helper 35617")
    assert events(stage) == [("message", "<@U0BOT> 35617")]


def test_shortcuts_reach_the_app_and_others_are_refused(stage: Stage) -> None:
    ts = stage.slack.add_message(HOME, "hello")
    assert stage.do("shortcut", shortcut="note")["notice"] == ""
    assert stage.do("message_shortcut", place=HOME, ts=ts, shortcut="explain")["notice"] == ""
    assert [(sent["type"], sent["callback_id"]) for sent in stage.bot.sent] == [
        ("shortcut", "note"),
        ("message_action", "explain"),
    ]
    for refused in (
        stage.do("shortcut", shortcut="explain"),
        stage.do("message_shortcut", place=HOME, ts=ts, shortcut="note"),
        stage.do("message_shortcut", place=HOME, ts="1.000001", shortcut="explain"),
        stage.do("message_shortcut", place="C0NO", ts=ts, shortcut="explain"),
    ):
        assert refused["failed"]
    assert len(stage.bot.sent) == 2


def test_a_reply_goes_into_its_thread(stage: Stage) -> None:
    root = client_of(stage.slack).chat_postMessage(channel=HOME, text="lead")["ts"]
    stage.do("say", place=HOME, thread=root, text="why?")
    assert [reply["text"] for reply in stage.slack.list_replies(HOME, root)] == ["why?"]


def test_a_command_is_answered_to_the_person_alone(stage: Stage) -> None:
    stage.bot.body = "You said it"
    assert stage.do("say", place=HOME, text="/echo a  b")["notice"] == ""
    [sent] = stage.bot.sent
    assert (sent["command"], sent["text"], sent["channel_id"], sent["user_id"]) == ("/echo", "a  b", HOME, YOU)
    [whisper] = stage.slack.ephemerals
    assert (whisper["text"], whisper["user"]) == ("You said it", YOU)
    [piece] = stage.screen.render_place(HOME)["pieces"][1:]
    assert "Only visible to you" in piece["html"]
    stage.do("dismiss", ts=whisper["ts"])
    assert stage.screen.render_place(HOME)["pieces"] == []


def test_a_command_without_a_word_shows_nothing(stage: Stage) -> None:
    stage.do("say", place=HOME, text="/echo")
    assert stage.screen.render_place(HOME)["pieces"] == []


@pytest.mark.parametrize(
    ("text", "thread", "part"),
    [
        ("", "", "Type a message"),
        (" \n", "", "Type a message"),
        ("x" * 4_001, "", "4,000"),
        ("/nothing here", "", "no command here. There are: /echo"),
        ("/echo hi", "1.5", "does not work in threads"),
    ],
)
def test_what_slack_does_not_send_is_said(stage: Stage, text: str, thread: str, part: str) -> None:
    assert part in stage.do("say", place=HOME, text=text, thread=thread)["notice"]
    assert stage.bot.sent == []


@pytest.mark.parametrize(("status", "part"), [(500, "HTTP 500"), (401, "HTTP 401"), (0, "within three seconds")])
@pytest.mark.parametrize("text", ["hello", "/echo hi"])
def test_an_app_that_does_not_take_it_is_said(stage: Stage, status: int, part: str, text: str) -> None:
    stage.bot.status = status
    assert part in stage.do("say", place=HOME, text=text)["notice"]


def test_an_answer_for_all_is_in_the_channel_and_one_for_the_person_is_not(stage: Stage) -> None:
    stage.bot.body = {"response_type": "in_channel", "text": "for all"}
    assert stage.do("say", place=HOME, text="/echo hi")["notice"] == ""
    stage.bot.body = {"text": "for you"}
    stage.do("say", place=HOME, text="/echo hi")
    assert [message["text"] for message in stage.slack.list_messages(HOME)] == ["for all"]
    assert [message["text"] for message in stage.slack.ephemerals] == ["for you"]


def test_an_answer_that_slack_would_not_take_is_said(stage: Stage) -> None:
    stage.bot.body = {"response_type": "in_channel", "blocks": [{"type": "nonsense"}]}
    assert stage.do("say", place=HOME, text="/echo hi")["notice"] == "Slack: invalid_blocks"


def test_without_commands_none_is_offered(stage: Stage) -> None:
    plain = Visitor(stage.slack, Person(stage.slack, stage.bot, YOU, "you"), ())
    with pytest.raises(InvalidAction, match=r"^/echo is no command here\.$"):
        plain.send_text(HOME, "/echo hi")


def test_while_the_bot_starts_it_is_said(stage: Stage) -> None:
    early = Visitor(stage.slack, Person(stage.slack, Connection(patience=0), YOU, "you"), stage.visitor.commands)
    with pytest.raises(InvalidAction, match="still starting"):
        early.send_text(HOME, "/echo hi")


def test_what_is_done_while_the_bot_starts_waits_for_it(stage: Stage) -> None:
    connection = Connection(patience=5)
    early = Visitor(stage.slack, Person(stage.slack, connection, YOU, "you"), ())
    waiting = threading.Thread(target=early.go_home)
    waiting.start()
    connection.connect(stage.bot)
    waiting.join(timeout=5)
    assert [sent["event"]["type"] for sent in stage.bot.sent] == ["app_home_opened"]


def test_a_button_of_the_block_that_is_meant(stage: Stage) -> None:
    rows = [actions(button(action_id="go", value=str(n)), block_id=f"row{n}") for n in range(2)]
    ts = client_of(stage.slack).chat_postMessage(channel=HOME, text="x", blocks=rows)["ts"]
    stage.do("press", place=HOME, ts=ts, action="go", block="row1", value="1")
    [sent] = stage.bot.sent
    assert [(act["block_id"], act["value"]) for act in sent["actions"]] == [("row1", "1")]
    assert "has no go=3" in stage.do("press", place=HOME, ts=ts, action="go", block="row1", value="3")["notice"]


def test_a_button_of_what_only_one_person_sees(stage: Stage) -> None:
    row = actions(button(action_id="go", value="1"), block_id="row")
    ts = stage.slack.show_ephemeral(HOME, YOU, "x", blocks=[row])
    stage.do("press", place=HOME, ts=ts, action="go", block="row", value="1")
    assert stage.bot.sent[0]["container"]["is_ephemeral"]


def open_form(stage: Stage, *blocks: Any, **more: Any) -> Any:
    trigger = stage.slack.make_trigger_id(YOU, HOME)
    return client_of(stage.slack).views_open(trigger_id=trigger, view=modal(*blocks, **more))["view"]


def test_a_form_is_filled_in_and_its_errors_are_read(stage: Stage) -> None:
    view = open_form(stage, entry(FIELD, block_id="what"), callback_id="form")
    stage.bot.body = {"response_action": "errors", "errors": {"what": "Too short"}}
    filled = [{"block": "what", "action": "text", "value": "x"}]
    assert stage.do("submit", view=view["id"], values=filled)["errors"] == {"what": "Too short"}
    assert stage.screen.render_place(HOME)["window"] is not None
    stage.bot.body = ""
    assert stage.do("submit", view=view["id"], values=filled)["errors"] == {}
    assert stage.screen.render_place(HOME)["window"] is None


def test_a_window_is_closed(stage: Stage) -> None:
    view = open_form(stage, entry(FIELD), notify_on_close=True)
    stage.do("close", view=view["id"])
    assert stage.screen.render_place(HOME)["window"] is None
    assert [sent["type"] for sent in stage.bot.sent] == ["view_closed"]


def test_home_is_opened_shown_and_used(stage: Stage) -> None:
    assert stage.screen.render_place("home")["pieces"][0]["html"] == ""
    stage.do("home")
    assert stage.bot.sent[0]["event"]["type"] == "app_home_opened"
    row = actions(
        button(action_id="go", value="1"),
        menu("static_select", option("a"), option("b"), action_id="pick"),
        block_id="row",
    )
    client_of(stage.slack).views_publish(user_id=YOU, view=home(row))
    [piece] = stage.screen.render_place("home")["pieces"]
    assert f'data-view="VHOME{YOU}"' in piece["html"]
    stage.do("press_in", view=f"VHOME{YOU}", action="pick", block="row", value="b")
    assert stage.bot.sent[1]["actions"][0]["selected_option"]["value"] == "b"


def test_who_opens_the_direct_messages_is_told_to_the_bot(stage: Stage) -> None:
    stage.do("direct")
    assert [(sent["event"]["type"], sent["event"]["tab"]) for sent in stage.bot.sent] == [
        ("app_home_opened", "messages")
    ]


def test_a_stream_is_stopped(stage: Stage) -> None:
    bot = client_of(stage.slack)
    root = bot.chat_postMessage(channel=HOME, text="lead")["ts"]
    begun = bot.chat_startStream(
        channel=HOME, thread_ts=root, recipient_team_id="T0TEAM", recipient_user_id=YOU, markdown_text="So"
    )["ts"]
    assert f'data-stop="{begun}"' in stage.screen.render_place(HOME, root)["thread"][-1]["html"]
    stage.do("stop", place=HOME, ts=begun)
    assert "data-stop" not in stage.screen.render_place(HOME, root)["thread"][-1]["html"]
    assert "not streaming any more" in stage.do("stop", place=HOME, ts=begun)["notice"]


def test_an_agents_prompts_and_its_button_to_stop_are_on_the_page(stage: Stage) -> None:
    direct, app = f"D{YOU[1:]}", client_of(stage.slack)
    assert stage.screen.render_place(direct)["prompts"] == {"title": "", "prompts": []}
    stage.slack.declare_agent()
    prompts = [{"title": "<b>Why?</b>", "message": "Why is it risky?"}]
    app.assistant_threads_setSuggestedPrompts(channel_id=direct, title="Ask", prompts=prompts)
    assert stage.screen.render_place(direct)["prompts"] == {"title": "Ask", "prompts": prompts}
    stage.do("say", place=direct, text="Why is it risky?")
    thread = stage.bot.sent[-1]["event"]["ts"]
    assert stage.screen.render_place(direct, thread)["stops"] == ""
    app.agents_sessions_setStatus(channel_id=direct, thread_ts=thread, status="processing")
    screen = stage.screen.render_place(direct, thread)
    assert (screen["stops"], "is working…" in screen["status"]) == (thread, True)
    assert stage.do("stop", place=direct, ts=thread)["notice"] == ""
    event = stage.bot.sent[-1]["event"]
    assert (event["type"], event["thread_ts"], event["user"]) == ("agent_session_stopped", thread, YOU)
    app.agents_sessions_setStatus(channel_id=direct, thread_ts=thread, status="active")
    assert stage.screen.render_place(direct, thread)["stops"] == ""
