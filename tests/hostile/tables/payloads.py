"""Requests that carry Slack's signature and are nothing that Slack sends."""

import copy
import json
from collections.abc import Callable, Sequence
from urllib.parse import urlencode

from localslack.state.workspace import Json
from localslack.users.person import Person
from localslack.users.transport import FORM, JSON

DEEP = 100_000
LONG_NUMBER = "7" * 5_000


def nest_brackets(depth: int) -> str:
    return "[" * depth + "]" * depth


# bodies that hold no payload at all, with their content type
BODIES: dict[str, tuple[bytes, str]] = {
    "no JSON": (b'{"type": "event_call', JSON),
    "empty": (b"", JSON),
    "list": (b"[]", JSON),
    "null": (b"null", JSON),
    "number": (b"1", JSON),
    "string": (b'"event_callback"', JSON),
    "empty object": (b"{}", JSON),
    "not UTF-8": (b"\xff\xfe", JSON),
    "form that is not UTF-8": (b"command=/prsummary&text=\xff", FORM),
    "nested lists": (nest_brackets(DEEP).encode(), JSON),
    "nested in an event": (f'{{"type":"event_callback","event":{nest_brackets(DEEP)}}}'.encode(), JSON),
    "nested and no type": (f'{{"a":{nest_brackets(DEEP)}}}'.encode(), "text/plain"),
    "long number": (f'{{"type":"event_callback","event":{{"ts":{LONG_NUMBER}}}}}'.encode(), JSON),
    "form without JSON": (b"payload=%7B", FORM),
    "form with a list": (b"payload=%5B%5D", FORM),
    "form with a number": (b"payload=1", FORM),
    "form with null": (b"payload=null", FORM),
    "form with nothing": (b"payload=", FORM),
    "form with another name": (b"note=payload", FORM),
    "form nested deeply": (
        urlencode({"payload": f'{{"type":"block_actions","a":{nest_brackets(DEEP)}}}'}).encode(),
        FORM,
    ),
    "form with a long number": (
        urlencode({"payload": f'{{"type":"view_submission","a":{LONG_NUMBER}}}'}).encode(),
        FORM,
    ),
}

Change = Callable[[Json], object]


def _without(*path: str) -> Change:
    def change(payload: Json) -> None:
        del _holder(payload, path)[path[-1]]

    return change


def _with(value: object, *path: str) -> Change:
    def change(payload: Json) -> None:
        _holder(payload, path)[path[-1]] = value

    return change


def _holder(payload: Json, path: Sequence[str]) -> Json:
    """The object in which the last name of a path stands."""
    for name in path[:-1]:
        payload = payload[name]
    return payload


def command(person: Person) -> tuple[str, Json]:
    return "slash_commands", person.send_command("/prsummary", "help").payload


def mention(person: Person) -> tuple[str, Json]:
    return "events_api", person.mention("help").payload


def links(person: Person) -> tuple[str, Json]:
    kind, sent = mention(person)
    event = {
        "type": "link_shared",
        "channel": "C0DIGEST",
        "user": person.user,
        "message_ts": sent["event"]["ts"],
        "source": "conversations_history",
        "links": [{"domain": "github.com", "url": "https://github.com/octo/engine/pull/1"}],
        "event_ts": sent["event"]["event_ts"],
    }
    return kind, {**sent, "event": event}


def stop(person: Person) -> tuple[str, Json]:
    kind, sent = mention(person)
    time = sent["event"]["ts"]
    event = {"type": "agent_session_stopped", "channel": "C0DIGEST", "user": person.user, "thread_ts": time}
    return kind, {**sent, "event": {**event, "event_ts": sent["event"]["event_ts"], "streaming_message_ts": []}}


def home(person: Person) -> tuple[str, Json]:
    return "events_api", person.open_home().payload


def click(person: Person) -> tuple[str, Json]:
    button = {"type": "button", "action_id": "ask", "text": {"type": "plain_text", "text": "Ask"}, "value": "1"}
    message = {"type": "message", "ts": "1.000100", "blocks": [{"type": "actions", "elements": [button]}]}
    return "interactive", person.press(message, "ask", channel="C0DIGEST").payload


def form(person: Person) -> tuple[str, Json]:
    _, clicked = click(person)
    known = {"version": 2, "id": "", "channel": "C0DIGEST", "answer": ""}
    view = {
        "id": "V1",
        "type": "modal",
        "callback_id": "subscription_form",
        "private_metadata": json.dumps(known),
        "state": {"values": {}},
    }
    kept = {key: clicked[key] for key in ("team", "user", "api_app_id", "token", "trigger_id")}
    return "interactive", {**kept, "type": "view_submission", "view": view}


def ask_options(person: Person) -> tuple[str, Json]:
    kind, sent = form(person)
    fields = {"type": "block_suggestion", "action_id": "zone", "block_id": "zone", "value": "ber"}
    return kind, {**sent, **fields, "container": {"type": "view", "view_id": "V1"}}


def shortcut(person: Person) -> tuple[str, Json]:
    return "interactive", person.use_shortcut("explain_pull_request").payload


def of_message(person: Person) -> tuple[str, Json]:
    ts = person.slack.add_message("C0DIGEST", "no number")
    return "interactive", person.use_message_shortcut("explain_message", ts, "C0DIGEST").payload


def enter_reference(person: Person) -> tuple[str, Json]:
    kind, sent = form(person)
    values = {"reference": {"reference": {"type": "plain_text_input", "value": "x"}}}
    view = {"id": "V1", "type": "modal", "callback_id": "reference_form", "state": {"values": values}}
    return kind, {**sent, "view": view}


Make = Callable[[Person], tuple[str, Json]]

# what is wrong with an otherwise good request
CHANGES: dict[str, tuple[Make, Change]] = {
    "command without trigger_id": (command, _without("trigger_id")),
    "command with an empty trigger_id": (command, _with("", "trigger_id")),
    "command without channel": (command, _without("channel_id")),
    "command without user": (command, _without("user_id")),
    "command without team": (command, _without("team_id")),
    "event that is no object": (mention, _with([], "event")),
    "event that is missing": (mention, _without("event")),
    "event without type": (mention, _without("event", "type")),
    "mention without channel": (mention, _without("event", "channel")),
    "mention with a channel that is an object": (mention, _with({"id": "C1"}, "event", "channel")),
    "mention without ts": (mention, _without("event", "ts")),
    "mention with a number as ts": (mention, _with(17, "event", "ts")),
    "mention with words as ts": (mention, _with("now", "event", "ts")),
    "mention with a list as text": (mention, _with(["help"], "event", "text")),
    "mention with half a character": (mention, _with("help \ud83d", "event", "text")),
    "mention with half a character in its channel": (mention, _with("C\ud83d", "event", "channel")),
    "mention with an object as user": (mention, _with({"id": "U1"}, "event", "user")),
    "message without channel": (
        mention,
        lambda sent: sent["event"].update(type="message") or sent["event"].pop("channel"),
    ),
    "authorizations that are no list": (mention, _with(7, "authorizations")),
    "authorizations of numbers": (mention, _with([7], "authorizations")),
    "links without channel": (links, _without("event", "channel")),
    "links of a channel that is a list": (links, _with([], "event", "channel")),
    "links without the time of their message": (links, _without("event", "message_ts")),
    "links that are missing": (links, _without("event", "links")),
    "links that are no list": (links, _with("https://github.com", "event", "links")),
    "links that are no objects": (links, _with([7, None], "event", "links")),
    "a link whose address is an object": (links, _with([{"url": {}}], "event", "links")),
    "links in a thread without a time": (links, _with("soon", "event", "thread_ts")),
    "stop without channel": (stop, _without("event", "channel")),
    "stop by nobody": (stop, _without("event", "user")),
    "stop at no time": (stop, _with("soon", "event", "event_ts")),
    "stop at a time of another kind": (stop, _with(1e9, "event", "event_ts")),
    "stop of a thread that is an object": (stop, _with({"ts": "1.1"}, "event", "thread_ts")),
    "stop of a thread that is a word": (stop, _with("1.1:*", "event", "thread_ts")),
    "home without user": (home, _without("event", "user")),
    "home without time": (home, _without("event", "event_ts")),
    "click without trigger_id": (click, _without("trigger_id")),
    "click without user": (click, _without("user")),
    "click by a user that is no object": (click, _with("U1", "user")),
    "click by nobody": (click, _with({}, "user")),
    "click without container": (click, _without("container")),
    "click in a container that is no object": (click, _with([], "container")),
    "click without actions": (click, _without("actions")),
    "click with no action": (click, _with([], "actions")),
    "click with an action that is no object": (click, _with(["ask"], "actions")),
    "click with an action without a name": (click, _with([{"type": "button"}], "actions")),
    "click with an option that is no object": (
        click,
        _with([{"type": "button", "action_id": "details", "selected_option": 7}], "actions"),
    ),
    "click in a channel that is a list": (click, _with([], "channel")),
    "click of a team that is a number": (click, _with(7, "team")),
    "form without view": (form, _without("view")),
    "form with a view that is null": (form, _with(None, "view")),
    "form with a view that is a list": (form, _with([], "view")),
    "form without trigger_id": (form, _without("trigger_id")),
    "form without state": (form, _without("view", "state")),
    "form with a state of numbers": (form, _with({"values": {"repository": 7}}, "view", "state")),
    "form with a field that is no object": (
        form,
        _with({"values": {"repository": {"repository": 7}}}, "view", "state"),
    ),
    "form without its metadata": (form, _without("view", "private_metadata")),
    "form with empty metadata": (form, _with("", "view", "private_metadata")),
    "form with metadata that is no JSON": (form, _with("{", "view", "private_metadata")),
    "form with metadata that is a list": (form, _with("[]", "view", "private_metadata")),
    "form with metadata without its channel": (form, _with('{"version": 2}', "view", "private_metadata")),
    "form with metadata of a later version": (
        form,
        _with('{"version": 3, "channel": "C0DIGEST"}', "view", "private_metadata"),
    ),
    "form with metadata nested deeply": (form, _with(nest_brackets(DEEP), "view", "private_metadata")),
    "form with a long number in its metadata": (form, _with(LONG_NUMBER, "view", "private_metadata")),
    "form with response_urls that are no list": (form, _with(7, "response_urls")),
    "shortcut without trigger_id": (shortcut, _without("trigger_id")),
    "shortcut by a user that is no object": (shortcut, _with("U1", "user")),
    "message shortcut without message": (of_message, _without("message")),
    "message shortcut with a message that is a list": (of_message, _with([], "message")),
    "message shortcut with a thread that is a number": (of_message, _with(7, "message", "thread_ts")),
    "message shortcut without channel": (of_message, _without("channel")),
    "message shortcut with words as ts": (of_message, _with("now", "message_ts")),
    "entered without state": (enter_reference, _without("view", "state")),
    "entered with a value that is an object": (
        enter_reference,
        _with({}, "view", "state", "values", "reference", "reference", "value"),
    ),
    "menu without view": (ask_options, _without("view")),
    "menu with an object typed": (ask_options, _with({}, "value")),
}


def make_changed_payload(name: str, person: Person) -> tuple[str, Json]:
    make, change = CHANGES[name]
    kind, payload = make(person)
    payload = copy.deepcopy(payload)
    change(payload)
    return kind, payload
