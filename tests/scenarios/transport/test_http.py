"""Slack's requests over HTTP: who is at the door is proven by the signature, and nothing breaks the process."""

import json
from http.client import HTTPConnection
from urllib.parse import urlencode

import pytest
from localslack.state.workspace import Json
from localslack.users.person import Person
from localslack.users.transport import FORM, JSON, Ack

from tests.helpers.processes.command import ROOT
from tests.scenarios import Bot

LEAKS = ("Traceback", "site-packages", "Error", "Werkzeug", "SLACK_", str(ROOT))


def payload(bot: Bot) -> Json:
    """A command that Slack would send, as it was not sent yet."""
    return Person(bot.world.slack, bot.http).send_command("/prsummary", "help").payload


def is_quiet(ack: Ack) -> bool:
    return not any(leak in str(ack.body) for leak in LEAKS)


@pytest.mark.parametrize(
    ("secret", "age"),
    [("forged", 0.0), ("", 0.0), (None, 301.0), (None, 86_400.0), (None, -301.0)],
    ids=["forged", "empty secret", "stale", "of yesterday", "of the future"],
)
def test_what_slack_did_not_sign_now_is_refused(secret: str | None, age: float, http_bot: Bot) -> None:
    ack = http_bot.http.send("slash_commands", payload(http_bot), secret=secret, age=age)
    assert (ack.status, ack.body) == (401, "")


@pytest.mark.parametrize(
    "changed",
    [
        {"X-Slack-Request-Timestamp": "soon"},
        {"X-Slack-Request-Timestamp": ""},
        pytest.param({"X-Slack-Request-Timestamp": "9" * 400}),
        {"X-Slack-Request-Timestamp": "nan"},
        {"X-Slack-Signature": ""},
        {"X-Slack-Signature": "v0="},
        pytest.param({"X-Slack-Signature": "v0=\xe9"}),
    ],
    ids=["words", "no time", "long", "nan", "no signature", "short", "not ascii"],
)
def test_a_header_that_can_not_be_read_is_refused(changed: dict[str, str], http_bot: Bot) -> None:
    body = urlencode(payload(http_bot)).encode()
    ack = http_bot.http.post(body, {"Content-Type": FORM, **http_bot.http.sign(body), **changed})
    assert (ack.status, is_quiet(ack)) == (401, True)


@pytest.mark.parametrize(
    "kept", [(), ("X-Slack-Signature",), ("X-Slack-Request-Timestamp",)], ids=["both", "time", "signature"]
)
def test_a_missing_header_is_refused(kept: tuple[str, ...], http_bot: Bot) -> None:
    body = urlencode(payload(http_bot)).encode()
    signed = {name: value for name, value in http_bot.http.sign(body).items() if name in kept}
    assert http_bot.http.post(body, {"Content-Type": FORM, **signed}).status == 401


def test_a_body_that_was_changed_on_the_way_is_refused(http_bot: Bot) -> None:
    body = urlencode(payload(http_bot)).encode()
    ack = http_bot.http.post(body + b"&user_id=U0ROOT", {"Content-Type": FORM, **http_bot.http.sign(body)})
    assert ack.status == 401


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b'{"type": "event_call', JSON),
        (b"", JSON),
        pytest.param(b"[]", JSON),
        pytest.param(b"null", JSON),
        pytest.param(b"1", JSON),
        (b"payload=%7B", FORM),
        (b"\xff\xfe", JSON),
    ],
    ids=["cut", "empty", "list", "null", "number", "form", "no text"],
)
def test_what_is_signed_and_yet_nothing_of_slacks_is_refused_quietly(
    body: bytes, kind: str, http_bot: Bot
) -> None:
    ack = http_bot.http.post(body, {"Content-Type": kind, **http_bot.http.sign(body)})
    assert 400 <= ack.status < 500
    assert is_quiet(ack)
    assert http_bot.get("/readyz") == 200


def test_malformed_json_is_a_bad_request(http_bot: Bot) -> None:
    body = b'{"type": "event_call'
    assert http_bot.http.post(body, {"Content-Type": JSON, **http_bot.http.sign(body)}).status == 400


def test_a_body_over_a_megabyte_is_refused_before_it_is_read(http_bot: Bot) -> None:
    connection = HTTPConnection("127.0.0.1", int(http_bot.port), timeout=3)
    try:
        connection.putrequest("POST", "/slack/events")
        connection.putheader("Content-Length", "1000001")
        connection.endheaders()
        assert connection.getresponse().status == 413
    finally:
        connection.close()


def test_slacks_check_of_the_address_is_answered(http_bot: Bot) -> None:
    body = json.dumps({"type": "url_verification", "token": "x", "challenge": "3eZbrw1a"}).encode()
    ack = http_bot.http.post(body, {"Content-Type": JSON, **http_bot.http.sign(body)})
    assert ack.status == 200
    assert "3eZbrw1a" in str(ack.body)


@pytest.mark.parametrize(
    ("path", "status"), [("/healthz", 200), ("/readyz", 200), ("/", 404), ("/slack/events", 405)]
)
def test_pages_for_whoever_runs_it(path: str, status: int, http_bot: Bot) -> None:
    assert http_bot.get(path) == status


def test_a_command_that_nobody_knows_is_no_error_of_the_server(http_bot: Bot) -> None:
    ack = Person(http_bot.world.slack, http_bot.http).send_command("/prunknown", "x").ack
    assert ack.status in {200, 404}
    assert is_quiet(ack)
