"""People of the Slack emulator before a real Bolt app: the same over HTTP and over Socket Mode."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from slack_sdk import WebClient

from localslack.socket_mode import SocketTransport
from localslack.testing.emulator import SlackEmulator
from localslack.users.person import Delivery, Person
from localslack.users.transport import HttpTransport, Transport
from tests.client import HOME, Json
from tests.parts import actions, button, entry, group, home, menu, modal, option, section
from tests.tiny_app import SECRET, BoltServer, TinyApp, connect_app
from tests.waiting import eventually


@pytest.fixture
def tiny(slack: SlackEmulator) -> TinyApp:
    return TinyApp(slack)


@pytest.fixture
def http(tiny: TinyApp) -> Iterator[HttpTransport]:
    with BoltServer(tiny.app) as server:
        yield HttpTransport(f"{server.url}/slack/events", SECRET)


@pytest.fixture(params=["http", "socket"])
def ada(request: pytest.FixtureRequest, slack: SlackEmulator, tiny: TinyApp) -> Iterator[Person]:
    if request.param == "http":
        yield Person(slack, request.getfixturevalue("http"))
        return
    with connect_app(tiny.app, slack):
        yield Person(slack, SocketTransport(slack.socket))


VOTE = button(action_id="vote", value="yes")
MENU: Json = {"type": "static_select", "action_id": "vote", "options": [option("one"), option("two")]}
BALLOT: list[Json] = [section(), actions(VOTE), section(accessory=MENU, block_id="menu")]

# Over both transports


def test_a_command_is_acknowledged_and_answered(slack: SlackEmulator, tiny: TinyApp, ada: Person) -> None:
    delivery = ada.send_command("/echo", "hi & bye ü")
    assert (delivery.ack.status, delivery.ack.text) == (200, "You said hi & bye ü")
    (shown,) = eventually(lambda: slack.ephemerals)
    assert (shown["user"], shown["channel"], shown["text"]) == ("U0ASKER", HOME, "later")
    assert {key: tiny.seen[0][1][key] for key in delivery.payload} == delivery.payload
    assert ada.send_command("/json").ack.text == "as JSON"


def test_a_mention_is_in_the_channel_and_its_twin_has_the_same_ts(
    slack: SlackEmulator, tiny: TinyApp, ada: Person
) -> None:
    lead = slack.add_message(HOME, "lead")
    delivery = ada.mention("why?", thread_ts=lead, twin=True)
    assert delivery.ack.status == 200
    assert [message["text"] for message in slack.list_replies(HOME, lead)] == ["<@U0BOT> why?"]
    (first, mention), (second, message) = eventually(lambda: len(tiny.seen) == 2 and sorted(tiny.seen, key=name))
    assert (first, second) == ("mention", "message")
    assert mention["event"]["ts"] == message["event"]["ts"] == delivery.payload["event"]["ts"]
    assert mention["event"]["thread_ts"] == message["event"]["thread_ts"] == lead
    assert mention["event_id"] != message["event_id"]


def name(seen: tuple[str, Json]) -> str:
    return seen[0]


def test_shortcuts_of_both_kinds_arrive_and_that_of_a_message_is_answered(
    slack: SlackEmulator, tiny: TinyApp, ada: Person
) -> None:
    ts = slack.add_message(HOME, "hi & bye")
    uses: list[Callable[[], Delivery]] = [
        lambda: ada.use_message_shortcut("explain", ts),
        lambda: ada.use_shortcut("explain"),
    ]
    for use in uses:
        tiny.seen.clear()
        delivery = use()
        assert delivery.ack.status == 200
        ((kind, body),) = eventually(lambda: list(tiny.seen))
        assert (kind, {key: body[key] for key in delivery.payload}) == ("shortcut", delivery.payload)
    (shown,) = eventually(lambda: slack.ephemerals)
    assert (shown["user"], shown["channel"], shown["text"]) == ("U0ASKER", HOME, "It says: hi & bye")


def test_all_kinds_of_messages_arrive(slack: SlackEmulator, tiny: TinyApp, ada: Person) -> None:
    message = ada.send_message("hi", "D0ASKER").payload["event"]
    ada.send_message("again", "D0ASKER", message["ts"])
    ada.send_message("built", subtype="bot_message", bot_id="B0CI")
    ada.edit(message["ts"], "hello", "D0ASKER")
    eventually(lambda: len(tiny.seen) == 4)
    events = sorted((body["event"] for _, body in tiny.seen), key=lambda event: str(event["event_ts"]))
    assert [event["channel_type"] for event in events] == ["im", "im", "channel", "im"]
    assert [event.get("subtype") for event in events] == [None, None, "bot_message", "message_changed"]
    assert (events[1]["thread_ts"], events[1]["parent_user_id"]) == (message["ts"], "U0ASKER")


def test_a_button_tells_of_itself_and_its_message(web: WebClient, tiny: TinyApp, ada: Person) -> None:
    message = web.chat_postMessage(channel=HOME, text="vote", blocks=BALLOT)["message"]
    delivery = ada.press(message, "vote", value="yes")
    assert delivery.ack.status == 200
    (action,) = eventually(lambda: tiny.seen)[0][1]["actions"]
    assert (action["type"], action["value"], action["block_id"]) == ("button", "yes", "block1")


def test_a_redelivery_is_the_same_and_says_that_it_is_one(tiny: TinyApp, ada: Person) -> None:
    first = ada.send_message("hello")
    second = ada.redeliver(ada.redeliver(first))
    assert second.payload == first.payload
    eventually(lambda: len(tiny.seen) == 3)
    assert sorted(tiny.retries)[1:] == ["1", "2"]


def test_what_no_listener_takes_is_not_acknowledged(
    slack: SlackEmulator, tiny: TinyApp, http: HttpTransport
) -> None:
    over_http = Person(slack, http).send_command("/nothing").ack
    with connect_app(tiny.app, slack):
        over_socket = Person(slack, SocketTransport(slack.socket, patience=0.2)).send_command("/nothing").ack
    assert (over_http.status, over_socket.status, over_socket.text) == (404, 0, "")


# Views


def test_a_form_goes_to_and_fro(slack: SlackEmulator, web: WebClient, tiny: TinyApp, ada: Person) -> None:
    repo = entry(menu("external_select", action_id="repo"), block_id="which")
    vote = entry(MENU, block_id="vote", dispatch_action=True)
    trigger = ada.send_command("/json").payload["trigger_id"]
    web.views_open(trigger_id=trigger, view=modal(repo, vote, callback_id="form"))
    view = slack.get_modal("U0ASKER") or {}
    tiny.options = {"option_groups": [group(option("octo/engine"), label="Recent")]}
    assert [choice["value"] for choice in ada.suggest(view, "repo", "oct")] == ["octo/engine"]
    assert ada.press_in(view, "vote", value="two").ack.status == 200
    tiny.answer = {"response_action": "errors", "errors": {"which": "Not this one: ü."}}
    assert ada.submit(view, repo="octo/engine").errors == {"which": "Not this one: ü."}
    tiny.answer = {"response_action": "update", "view": modal(section(), callback_id="form")}
    assert ada.submit(view).errors == {}
    tiny.answer = {}
    assert ada.submit(view).ack.status == 200
    assert slack.get_modal("U0ASKER") is None
    kinds = eventually(lambda: len(tiny.seen) == 5 and [kind for kind, _ in tiny.seen])
    assert kinds == ["find", "vote", "form", "form", "form"]
    values = tiny.seen[2][1]["view"]["state"]["values"]
    chosen = [
        values[block][name]["selected_option"]["value"] for block, name in (("which", "repo"), ("vote", "vote"))
    ]
    assert chosen == ["octo/engine", "two"]


def test_a_home_is_opened_and_a_form_closed(
    slack: SlackEmulator, web: WebClient, tiny: TinyApp, ada: Person
) -> None:
    web.views_publish(user_id="U0ASKER", view=home(actions(VOTE)))
    assert ada.open_home().ack.status == 200
    ((kind, body),) = eventually(lambda: tiny.seen)
    assert (kind, body["event"]["tab"], body["event"]["view"]["type"]) == ("home", "home", "home")
    web.views_open(
        trigger_id=slack.make_trigger_id("U0ASKER"), view=modal(callback_id="form", notify_on_close=True)
    )
    closed = ada.close(slack.get_modal("U0ASKER") or {})
    assert closed
    assert (closed.ack.status, slack.get_modal("U0ASKER"), tiny.seen[-1][0]) == (200, None, "closed")


# What only HTTP has


@pytest.mark.parametrize(("how", "status"), [({}, 200), ({"secret": "forged"}, 401), ({"age": 301}, 401)])
def test_a_forged_or_stale_request_is_refused(
    slack: SlackEmulator, http: HttpTransport, how: Json, status: int
) -> None:
    payload = Person(slack, http).send_command("/echo", "x").payload
    assert http.send("slash_commands", payload, **how).status == status


def test_a_wire_can_be_stale_or_forged_for_good(slack: SlackEmulator, http: HttpTransport) -> None:
    for bad in (replace(http, signing_secret="forged"), replace(http, age=301)):
        assert Person(slack, bad).send_command("/echo").ack.status == 401
    assert http.post(b"x=1", {"Content-Type": "application/x-www-form-urlencoded"}).status == 401


def test_nobody_there_is_no_answer(slack: SlackEmulator) -> None:
    wires: list[Transport] = [
        HttpTransport("http://127.0.0.1:9/", SECRET),
        SocketTransport(slack.socket, patience=0.05),
    ]
    assert [Person(slack, wire).send_command("/echo").ack.status for wire in wires] == [0, 0]
