"""Socket Mode of the Slack emulator, with the real client and with a bare WebSocket."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest
from slack_sdk.socket_mode.builtin import SocketModeClient
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from localslack.socket_mode import SocketTransport
from localslack.testing.emulator import SlackEmulator
from localslack.users.person import Person
from tests.client import Json, client_of, refusal
from tests.tiny_app import TinyApp, connect_app
from tests.waiting import eventually

Open = Callable[[], ClientConnection]


def address(slack: SlackEmulator) -> str:
    return str(client_of(slack, "").apps_connections_open(app_token=slack.app_token)["url"])


def receive_envelope(link: ClientConnection) -> Json:
    envelope: Json = json.loads(link.recv(timeout=5))
    return envelope


@pytest.fixture
def dial(slack: SlackEmulator) -> Iterator[Open]:
    """Opens a bare connection, closed at the end of the test."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(connect(address(slack), proxy=None))


@pytest.fixture
def tiny(slack: SlackEmulator) -> TinyApp:
    return TinyApp(slack)


# Opening


@pytest.mark.parametrize(
    ("token", "error"),
    [("xapp-stolen", "invalid_auth"), ("xoxb-test", "not_allowed_token_type"), ("", "not_authed")],
)
def test_only_the_apps_own_token_opens_a_connection(slack: SlackEmulator, token: str, error: str) -> None:
    assert refusal(lambda: client_of(slack, token).api_call("apps.connections.open"))["error"] == error


def test_the_apps_token_does_nothing_else(slack: SlackEmulator) -> None:
    response = refusal(client_of(slack, slack.app_token).auth_test)
    assert response["error"] == "not_allowed_token_type"


def test_a_ticket_is_good_once(slack: SlackEmulator) -> None:
    url = address(slack)
    with connect(url, proxy=None) as link:
        assert receive_envelope(link)["type"] == "hello"
        with pytest.raises(InvalidStatus, match="401"), connect(url, proxy=None):
            pass
    with pytest.raises(InvalidStatus, match="401"), connect(url.partition("?")[0], proxy=None):
        pass


def test_a_failure_to_open_can_be_asked_for(slack: SlackEmulator) -> None:
    slack.fail_next("apps.connections.open", error="internal_error")
    assert refusal(lambda: address(slack))["error"] == "internal_error"
    assert slack.calls == [("apps.connections.open", {})]


def test_ten_connections_and_no_more(slack: SlackEmulator, dial: Open) -> None:
    assert [receive_envelope(dial())["num_connections"] for _ in range(10)] == list(range(1, 11))
    slack.socket.wait_for_connections(10)
    link = dial()
    assert receive_envelope(link)["reason"] == "too_many_websockets"
    with pytest.raises(ConnectionClosed):
        link.recv(timeout=5)
    assert slack.socket.connections == 10


def test_nothing_is_left_of_it(slack: SlackEmulator) -> None:
    before = set(threading.enumerate())
    with ExitStack() as stack, SlackEmulator() as other:
        # is still open when the emulator ends
        stack.enter_context(connect(address(other), proxy=None))
        other.socket.wait_for_connections()
    eventually(lambda: set(threading.enumerate()) <= before, 5)


# Envelopes


@pytest.mark.parametrize(
    ("kind", "payload", "retry", "expected_fields"),
    [
        ("slash_commands", {"command": "/x"}, 0, {"accepts_response_payload": True}),
        ("interactive", {"type": "block_actions"}, 0, {"accepts_response_payload": False}),
        ("interactive", {"type": "view_submission"}, 0, {"accepts_response_payload": True}),
        ("events_api", {"event_id": "Ev1"}, 0, {"retry_attempt": 0, "retry_reason": ""}),
        ("events_api", {"event_id": "Ev1"}, 2, {"retry_attempt": 2, "retry_reason": "timeout"}),
    ],
)
def test_envelopes(
    slack: SlackEmulator, dial: Open, kind: str, payload: Json, retry: int, expected_fields: Json
) -> None:
    link = dial()
    receive_envelope(link)
    with ThreadPoolExecutor() as pool:
        sent = pool.submit(slack.socket.deliver_envelope, kind, payload, retry=retry)
        envelope = receive_envelope(link)
        link.send(json.dumps({"envelope_id": envelope["envelope_id"], "payload": {"text": "hi"}}))
        assert sent.result() == {"envelope_id": envelope["envelope_id"], "payload": {"text": "hi"}}
    assert envelope.items() >= {"type": kind, "payload": payload, **expected_fields}.items()
    assert ("retry_attempt" in envelope) == (kind == "events_api")


def test_connections_take_turns(slack: SlackEmulator, dial: Open) -> None:
    links = [dial(), dial()]
    slack.socket.wait_for_connections(2)
    for _ in range(4):
        slack.socket.deliver_envelope("events_api", {}, patience=0.01)
    assert [[receive_envelope(link)["type"] for _ in range(3)] for link in links] == [
        ["hello", *["events_api"] * 2]
    ] * 2


def test_an_answer_may_come_late_or_through_another_connection(slack: SlackEmulator, dial: Open) -> None:
    first = dial()
    slack.socket.wait_for_connections(1)
    receive_envelope(first)
    with ThreadPoolExecutor() as pool:
        sent = pool.submit(slack.socket.deliver_envelope, "slash_commands", {})
        envelope = receive_envelope(first)
        dial().send(json.dumps({"envelope_id": envelope["envelope_id"]}))
        assert sent.result() == {"envelope_id": envelope["envelope_id"]}
    assert slack.socket.received == [{"envelope_id": envelope["envelope_id"]}]


# The real client


def test_the_client_hears_hello_and_is_answered_when_it_pings(slack: SlackEmulator, tiny: TinyApp) -> None:
    with connect_app(tiny.app, slack, ping_interval=0.05) as handler:
        session = session_of(handler.client)
        first = eventually(lambda: session.last_ping_pong_time)
        eventually(lambda: session.last_ping_pong_time > first)


def session_of(client: object) -> Any:
    assert isinstance(client, SocketModeClient)
    return client.current_session


@pytest.mark.parametrize("reason", ["refresh_requested", "warning"])
def test_the_client_comes_back_when_it_is_told_to_go(slack: SlackEmulator, tiny: TinyApp, reason: str) -> None:
    with connect_app(tiny.app, slack):
        slack.socket.disconnect(reason)
        assert slack.socket.connections == 0
        slack.socket.wait_for_connections(1)
        assert Person(slack, SocketTransport(slack.socket)).send_command("/echo", "x").ack.text == "You said x"
    assert len(slack.list_calls_to("apps.connections.open")) == 2


@pytest.mark.parametrize("reset", [True, False])
def test_the_client_comes_back_after_a_broken_connection(
    slack: SlackEmulator, tiny: TinyApp, *, reset: bool
) -> None:
    with connect_app(tiny.app, slack, ping_interval=0.05):
        slack.socket.drop_connection(reset=reset)
        slack.socket.wait_for_connections(1)
        assert Person(slack, SocketTransport(slack.socket)).send_command("/echo", "x").ack.status == 200


def test_an_event_that_is_lost_with_its_connection(slack: SlackEmulator, dial: Open) -> None:
    dial()
    slack.socket.wait_for_connections(1)
    slack.socket.drop_connection()
    started = time.monotonic()
    assert Person(slack, SocketTransport(slack.socket, patience=0.1)).send_message("x").ack.status == 0
    assert time.monotonic() - started < 5


def test_two_handlers_share_the_events(slack: SlackEmulator) -> None:
    apps = [TinyApp(slack), TinyApp(slack)]
    with connect_app(apps[0].app, slack), connect_app(apps[1].app, slack):
        for n in range(4):
            Person(slack, SocketTransport(slack.socket)).send_command("/echo", str(n))
    assert [len(app.seen) for app in apps] == [2, 2]
