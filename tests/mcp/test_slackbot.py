"""Slackbot as a client of the server over HTTP: who Slack signs for is answered as in Slack, and nobody else."""

import http.client
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from slack_sdk.signature import SignatureVerifier

from bot.app import App
from bot.mcp.http import HttpLimits, HttpServer
from bot.mcp.server import build_server
from bot.mcp.slackbot import SlackbotDoor
from bot.settings import ListenAddress
from tests.emulators.slack.client import TOKEN as SLACK_TOKEN
from tests.helpers.agents import TOKEN, AgentWorld, add_profile, is_alive, make_tools, open_base, serve_http
from tests.helpers.checks import eventually
from tests.helpers.processes.command import environment

pytestmark = pytest.mark.slow

SECRET = "the-signing-secret-of-the-app"
ADA, BEN, MALLORY = "U0ADA", "U0BEN", "U0MALLORY"
HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
LIMITS = HttpLimits(body_bytes=4_000)


@contextmanager
def open_door(there: AgentWorld, **settings: str) -> Iterator[tuple[int, App]]:
    slack = {"SLACK_BOT_TOKEN": SLACK_TOKEN, "PRDIGEST_ALLOWED_USERS": f"{ADA}, {BEN}"}
    with open_base({**there.settings, **slack, **settings}) as base:
        # what the operator keeps is put before the tools see less of it
        for name in ("plugin", "bens"):
            add_profile(base, name)
        entry = base.profiles.get_entry("bens")
        assert entry
        base.profiles.put(replace(entry, owners=(BEN,)))
        address = ListenAddress("127.0.0.1", 0)
        protocol = build_server(make_tools(base))
        server = HttpServer(protocol, TOKEN, address, frozenset(), LIMITS, SlackbotDoor(base, SECRET))
        thread = threading.Thread(target=server.run)
        thread.start()
        eventually(lambda: is_alive(server.port))
        try:
            yield server.port, base
        finally:
            server.stop()
            thread.join(20)


@pytest.fixture(scope="module")
def port(there: AgentWorld) -> Iterator[int]:
    for user in (ADA, BEN, MALLORY):
        there.world.slack.set_person(user)
    with open_door(there, PRDIGEST_MCP_PROFILES="plugin,bens") as (served, _):
        yield served


def sign(body: str, age: float = 0.0, secret: str = SECRET) -> dict[str, str]:
    at = str(int(time.time() - age))
    signature = SignatureVerifier(secret).generate_signature(timestamp=at, body=body)
    return {"X-Slack-Request-Timestamp": at, "X-Slack-Signature": str(signature)}


def send(port: int, body: str, headers: dict[str, str]) -> tuple[int, str]:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
        connection.request("POST", "/mcp", body.encode(), {**HEADERS, **headers})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


_IDS = iter(range(1, 10_000))


def make_call(name: str = "list_pull_requests", identity: Any = None, **arguments: Any) -> str:
    """A call as Slack sends it, no two of which are equal."""
    params = {"name": name, "arguments": arguments, "_meta": {"slack": identity}}
    return json.dumps({"jsonrpc": "2.0", "id": next(_IDS), "method": "tools/call", "params": params})


def who(user: str = ADA, team: str | None = "T0TEAM", **more: Any) -> dict[str, Any]:
    return {"user_id": user, "team_id": team, "enterprise_id": None, **more}


def ask(port: int, body: str) -> tuple[bool, str]:
    """Whether a signed call failed, and its text."""
    status, text = send(port, body, sign(body))
    assert status == 200, text
    result = json.loads(text)["result"]
    return bool(result["isError"]), str(result["content"][0]["text"])


def test_slack_finds_the_tools_before_anybody_asks(port: int) -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    status, text = send(port, body, sign(body))
    assert status == 200
    assert {"list_pull_requests", "touches"} <= {each["name"] for each in json.loads(text)["result"]["tools"]}


def test_who_may_ask_is_answered(port: int) -> None:
    is_error, text = ask(port, make_call(identity=who()))
    assert not is_error
    assert "Ask for a device" in text


FORGED = {
    "another secret": lambda body: sign(body, secret="another"),
    "another body": lambda body: sign(body + " "),
    "no time": lambda body: {**sign(body), "X-Slack-Request-Timestamp": ""},
    "a word as the time": lambda body: {**sign(body), "X-Slack-Request-Timestamp": "now"},
    "an endless time": lambda body: {**sign(body), "X-Slack-Request-Timestamp": "9" * 400},
    "no signature": lambda body: {**sign(body), "X-Slack-Signature": ""},
    "a signature of other letters": lambda body: {**sign(body), "X-Slack-Signature": "v0=\xe9"},
    "too old": lambda body: sign(body, age=302),
    "of the future": lambda body: sign(body, age=-302),
}


@pytest.mark.parametrize("name", FORGED)
def test_what_slack_did_not_sign_now_is_refused(port: int, name: str) -> None:
    body = make_call(identity=who())
    status, text = send(port, body, FORGED[name](body))
    assert (status, "not signed by Slack" in text) == (401, True)


def test_a_request_counts_once(port: int) -> None:
    body = make_call(identity=who())
    signed = sign(body)
    assert send(port, body, signed)[0] == 200
    status, text = send(port, body, signed)
    assert (status, "came before" in text) == (401, True)


def test_two_people_who_begin_in_the_same_second_send_the_same_bytes(port: int) -> None:
    for method in ("notifications/initialized", "tools/list"):
        body = json.dumps({"jsonrpc": "2.0", "method": method} | ({} if "/i" in method else {"id": 1}))
        signed = sign(body)
        assert [send(port, body, signed)[0] for _ in range(2)] == ([202] * 2 if "/i" in method else [200] * 2)


REFUSED = {
    "another workspace": (who(team="T0OTHER"), "my own workspace"),
    "no workspace": (who(team=None), "my own workspace"),
    "an organization that is not allowed": (who(team=None, enterprise_id="E0GRID"), "my own workspace"),
    "a person who is not allowed": (who(MALLORY), "not allowed to answer you"),
    "nobody": (who(""), "does not say who asks"),
    "a list": ([ADA], "does not say who asks"),
    "ids that are no texts": ({"user_id": [ADA], "team_id": {"id": "T0TEAM"}}, "does not say who asks"),
    "an id with a pattern": (who("U0ADA:*"), "does not say who asks"),
    "a very long id": (who("U" * 2_000), "does not say who asks"),
    "nothing": (None, "does not say who asks"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_who_may_not_ask_reads_nothing(port: int, name: str) -> None:
    identity, sentence = REFUSED[name]
    is_error, text = ask(port, make_call(identity=identity))
    assert is_error
    assert sentence in text
    assert "Ask for a device" not in text


def test_a_batch_and_deep_nesting_name_nobody(port: int) -> None:
    for body in (f"[{make_call(identity=who())}]", "[" * 1_500 + "]" * 1_500, '{"params": 7}'):
        status, text = send(port, body, sign(body))
        assert status in (200, 400)
        assert "Ask for a device" not in text


def test_too_long_a_body_is_not_read_to_its_end(port: int) -> None:
    body = make_call(identity=who(), repository="x" * 5_000)
    assert send(port, body, sign(body))[0] == 413


def test_reports_are_for_other_clients(port: int) -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "resources/list"})
    status, text = send(port, body, sign(body))
    assert (status, json.loads(text)["result"]["resources"]) == (200, [])
    uri = "prdigest://reports/octo/engine/2026-01-01"
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": uri}})
    assert "tools alone" in send(port, body, sign(body))[1]


def test_each_person_has_the_profiles_that_they_may_see_also_on_later_pages(port: int) -> None:
    is_error, text = ask(port, make_call("touches", who(BEN), profile="bens", limit=1))
    assert not is_error, text
    for offset in (0, 1):
        is_error, text = ask(port, make_call("touches", who(), profile="bens", limit=1, offset=offset))
        assert (is_error, "bens" in text.replace("'bens'", "")) == (True, False), text
    is_error, text = ask(port, make_call("touches", who(), profile="plugin", limit=1))
    assert not is_error, text
    # what a release means, too: for its owner there is no clone, for others there is no profile
    assert "I know no tags" in ask(port, make_call("release", who(BEN), profile="bens"))[1]
    assert "There is no profile 'bens'" in ask(port, make_call("release", who(), profile="bens"))[1]


def test_an_identity_without_a_signature_is_nobodys(port: int) -> None:
    """A client with the token is the operator's own, whoever it says that it is."""
    body = make_call(identity=who(MALLORY))
    status, text = send(port, body, {"Authorization": f"Bearer {TOKEN}"})
    assert (status, json.loads(text)["result"]["isError"]) == (200, False)
    assert send(port, body, {"Authorization": "Bearer wrong", **sign(body)})[0] == 401


def test_where_some_channels_alone_may_ask_it_has_to_be_somebody_of_these(there: AgentWorld) -> None:
    slack = there.world.slack
    slack.add_channel("C0ROOM", "room", private=True, people=(ADA,))
    with open_door(there, PRDIGEST_ALLOWED_CHANNELS="C0ROOM, C0GONE") as (port, _):
        assert not ask(port, make_call(identity=who()))[0]
        is_error, text = ask(port, make_call(identity=who(BEN)))
    assert (is_error, "people of some channels" in text) == (True, True)


def test_without_a_door_a_signature_opens_nothing(there: AgentWorld) -> None:
    with open_base(there.settings) as base:
        server = HttpServer(
            build_server(make_tools(base)), TOKEN, ListenAddress("127.0.0.1", 0), frozenset(), LIMITS
        )
        thread = threading.Thread(target=server.run)
        thread.start()
        eventually(lambda: is_alive(server.port))
        body = make_call(identity=who())
        status, _ = send(server.port, body, sign(body))
        server.stop()
        thread.join(20)
    assert status == 401


def test_the_command_opens_the_door_where_the_settings_say_so(there: AgentWorld, tmp_path: Path) -> None:
    there.world.slack.set_person(ADA)
    settings = {"PRDIGEST_MCP_SLACKBOT": "true", "SLACK_SIGNING_SECRET": SECRET, "SLACK_BOT_TOKEN": SLACK_TOKEN}
    with serve_http(there, tmp_path / "log", **settings) as address:
        is_error, text = ask(int(address.rpartition(":")[2]), make_call(identity=who()))
    assert (is_error, "Ask for a device" in text) == (False, True)


def test_without_the_secret_the_command_says_what_to_set(there: AgentWorld, tmp_path: Path) -> None:
    settings = {**there.settings, "PRDIGEST_MCP_SLACKBOT": "true", "SLACK_BOT_TOKEN": SLACK_TOKEN}
    done = subprocess.run(
        [sys.executable, "-m", "bot", "mcp", "--http"],
        cwd=tmp_path,
        env=environment(**settings),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, "SLACK_SIGNING_SECRET" in done.stderr) == (2, True), done.stderr
