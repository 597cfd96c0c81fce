"""Requests that are signed, and yet nothing that Slack sends: a line in the log, and the bot goes on."""

import pytest

from tests.helpers.checks import eventually
from tests.hostile.tables.payloads import BODIES, CHANGES, make_changed_payload
from tests.scenarios import Bot

pytestmark = pytest.mark.slow

REFUSED = "WARNING bot.web: a request that can't be used: "
# Both transports check a payload by the same function. Over Socket Mode are tried one of each kind, and those that
# break before that function: on the way, or as Bolt looks for the user and the team
IN_SOCKET_MODE = {
    *{make: name for name, (make, _) in reversed(CHANGES.items())}.values(),
    "event that is no object",
    "mention with half a character",
    "authorizations of numbers",
    "click by a user that is no object",
    "click of a team that is a number",
    "form with a view that is a list",
    "form with metadata nested deeply",
    "form with a long number in its metadata",
}


def refusals(bot: Bot, before: int) -> list[str]:
    """What the log has said since, which is one line for each refusal."""
    lines = bot.log()[before:].splitlines()
    assert "Traceback" not in bot.log()[before:], bot.log()[before:]
    return [line for line in lines if REFUSED in line]


@pytest.mark.parametrize("name", BODIES)
def test_a_body_without_a_payload_is_a_bad_request_and_one_line(name: str, http_bot: Bot) -> None:
    body, kind = BODIES[name]
    # it answers before it has said so
    eventually(lambda: "prdigest started" in http_bot.log())
    before = len(http_bot.log())
    ack = http_bot.http.post(body, {"Content-Type": kind, **http_bot.http.sign(body)})
    assert (ack.status, ack.body) == (400, "")
    assert len(refusals(http_bot, before)) == 1
    assert len(http_bot.log()[before:].splitlines()) == 1


@pytest.mark.parametrize("name", CHANGES)
def test_a_payload_that_lacks_something_is_a_bad_request_and_one_line(name: str, http_bot: Bot) -> None:
    kind, payload = make_changed_payload(name, http_bot.person())
    http_bot.settle()
    before = len(http_bot.log())
    ack = http_bot.http.send(kind, payload)
    assert (ack.status, ack.body) == (400, "")
    assert len(refusals(http_bot, before)) == 1
    assert len(http_bot.log()[before:].splitlines()) == 1


@pytest.mark.parametrize("name", sorted(IN_SOCKET_MODE))
def test_in_socket_mode_it_is_acknowledged_and_dropped(name: str, socket_bot: Bot) -> None:
    ada = socket_bot.person()
    kind, payload = make_changed_payload(name, ada)
    shown = len(socket_bot.list_whispers(ada))
    before = len(socket_bot.log())
    ack = socket_bot.wire.send(kind, payload)
    assert (ack.status, ack.body) == (200, "")
    assert len(refusals(socket_bot, before)) == 1
    assert len(socket_bot.list_whispers(ada)) == shown
    assert len(socket_bot.log()[before:].splitlines()) == 1


def test_what_was_not_changed_is_taken(http_bot: Bot, socket_bot: Bot) -> None:
    """The requests of the table are good ones but for the change."""
    for bot in (http_bot, socket_bot):
        for make in dict.fromkeys(make for make, _ in CHANGES.values()):
            kind, payload = make(bot.person())
            assert bot.wire.send(kind, payload).status == 200
