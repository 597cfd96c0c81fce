"""What hostile people send, thrown at the bot as it runs: one process, and one for each task on one Redis."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from bot.sandbox.slack.kept.store import Json
from tests.adapters.worlds import WebPage
from tests.hostile.framings import FRAMINGS
from tests.hostile.payloads import BODIES, CHANGES, changed
from tests.scenarios import Bot

LOCAL = "127.0.0.1"
# more than the bot takes of one address
MANY = 250


@contextmanager
def works_afterwards(bot: Bot) -> Iterator[None]:
    """The bot answers whoever comes next, its health checks say so, and its log has no traceback of the block."""
    before = len(bot.log())
    yield
    ada, number = bot.person(), bot.pull()
    assert ada.slash("/prsummary", f"{number} private").ack.status == 200
    assert any(str(number) in shown["text"] for shown in bot.whispered(ada))
    assert [bot.get(path) for path in ("/healthz", "/readyz")] == [200, 200]
    assert "Traceback" not in bot.log()[before:], bot.log()[before:]


def test_requests_that_are_signed_and_none_of_slacks(bot: Bot) -> None:
    with works_afterwards(bot):
        for body, kind in BODIES.values():
            assert bot.http.post(body, {"Content-Type": kind, **bot.http.signature(body)}).status == 400
        for name in CHANGES:
            assert bot.http.send(*changed(name, bot.person())).status == 400, name


def test_requests_whose_end_is_in_doubt_and_sockets_on_which_nothing_comes(bot: Bot) -> None:
    """The sockets are open while everybody else asks."""
    with ExitStack() as stack, works_afterwards(bot):
        for _ in range(MANY):
            connection = stack.enter_context(socket.create_connection((LOCAL, int(bot.port)), timeout=10))
            connection.sendall(b"POST /slack/events HTTP/1.1\r\n")
        for name, sent, status in FRAMINGS:
            assert _statuses(bot, sent) == [status], name


def _statuses(bot: Bot, sent: bytes) -> list[int]:
    with socket.create_connection((LOCAL, int(bot.port)), timeout=20) as connection:
        connection.sendall(sent)
        received = b""
        while piece := connection.recv(65_536):
            received += piece
    return [int(line.split()[1]) for line in received.split(b"\r\n") if line.startswith(b"HTTP/1.")]


def test_answers_are_sent_to_nobody_but_slack(bot: Bot) -> None:
    with WebPage() as elsewhere, works_afterwards(bot):
        ada, number = bot.person(), bot.pull()
        sent: Json = {**ada.slash("/prsummary", "help").payload, "text": f"{number} private"}
        address = elsewhere.url.replace(LOCAL, "localhost")
        sent |= {"response_url": f"{address}/response/R1", "trigger_id": f"{sent['trigger_id']}1"}
        assert bot.wire.send("slash_commands", sent).status == 200
        assert any(str(number) in shown["text"] for shown in bot.whispered(ada))
        assert elsewhere.asked == []
