"""What hostile people send, thrown at the bot as it runs: one process, and one for each task on one Redis."""

import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from localslack.state.workspace import Json
from markdown_it import MarkdownIt

from tests.emulators.claude.server import Json as Written
from tests.emulators.claude.server import Step, ToolUse, default_answer, summary_answer
from tests.emulators.github.store import changed_file
from tests.helpers.world import as_read
from tests.helpers.worlds import WebPage
from tests.hostile.tables import quotes
from tests.hostile.tables.addresses import FOREIGN
from tests.hostile.tables.framings import FRAMINGS
from tests.hostile.tables.markdown import LINES, PATHS
from tests.hostile.tables.paths import SLOW_PATTERNS
from tests.hostile.tables.payloads import BODIES, CHANGES, make_changed_payload
from tests.hostile.tables.waits import ahead
from tests.scenarios import Bot, claude_that, status_of
from tests.scenarios.conftest import Bots, guard_bot
from tests.scenarios.conversations.asking import answer, answering, is_question, summary

pytestmark = pytest.mark.slow

LOCAL = "127.0.0.1"
# more than the bot takes of one address
MANY = 250


@contextmanager
def works_afterwards(bot: Bot) -> Iterator[None]:
    """The bot answers the next asker, its health checks say so, and its log has no traceback of the block."""
    before = len(bot.log())
    yield
    ada, number = bot.person(), bot.pull()
    assert ada.send_command("/prsummary", f"{number} private").ack.status == 200
    assert any(str(number) in shown["text"] for shown in bot.list_whispers(ada))
    assert [bot.get(path) for path in ("/healthz", "/readyz")] == [200, 200]
    assert "Traceback" not in bot.log()[before:], bot.log()[before:]


def test_requests_that_are_signed_and_none_of_slacks(bot: Bot) -> None:
    with works_afterwards(bot):
        for body, kind in BODIES.values():
            assert bot.http.post(body, {"Content-Type": kind, **bot.http.sign(body)}).status == 400
        for name in CHANGES:
            assert bot.http.send(*make_changed_payload(name, bot.person())).status == 400, name


def test_in_socket_mode_the_port_is_for_this_machine_alone(socket_bot: Bot, http_bot: Bot) -> None:
    # an address of this machine as others would use one
    assert status_of(f"http://127.0.0.2:{http_bot.port}/healthz") == 200
    assert status_of(f"http://127.0.0.2:{socket_bot.port}/healthz") == 0
    assert socket_bot.get("/healthz") == 200


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
        sent: Json = {**ada.send_command("/prsummary", "help").payload, "text": f"{number} private"}
        address = elsewhere.url.replace(LOCAL, "localhost")
        sent |= {"response_url": f"{address}/response/R1", "trigger_id": f"{sent['trigger_id']}1"}
        assert bot.wire.send("slash_commands", sent).status == 200
        assert any(str(number) in shown["text"] for shown in bot.list_whispers(ada))
        assert elsewhere.asked == []


@pytest.mark.parametrize("address", FOREIGN[::5], ids=ascii)
def test_an_address_that_is_none_of_slacks_costs_nobody_their_answer(bot: Bot, address: str) -> None:
    with works_afterwards(bot):
        ada, number = bot.person(), bot.pull()
        sent: Json = {**ada.send_command("/prsummary", "help").payload, "text": f"{number} private"}
        sent |= {"response_url": address, "trigger_id": f"{sent['trigger_id']}1"}
        assert bot.wire.send("slash_commands", sent).status == 200
        assert any(str(number) in shown["text"] for shown in bot.list_whispers(ada))


def test_patterns_that_take_for_ever_where_every_way_is_tried(bot: Bot) -> None:
    """In commands, and from a model that was told to."""
    repository, patterns = bot.repository(), [pattern for pattern, _, _ in SLOW_PATTERNS.values()]
    for number, (_, path, _) in enumerate(SLOW_PATTERNS.values(), 1):
        bot.pull(repository, merged_at=bot.noon(number % 3), files=(changed_file(path),))
    with works_afterwards(bot):
        for pattern in patterns:
            ada = bot.person()
            asked = ada.send_command("/prrisks", f"7d repo:{repository} path:{pattern} private")
            assert asked.ack.status == 200
            assert asked.ack.text or bot.list_whispers(ada), pattern
        thread = summary(bot, files=(changed_file("a/" * 60 + "b.py"),))
        reading = ToolUse("read_diff", {"number": thread.number, "paths": patterns})
        with answering(bot, reading, answer("Nothing of it.")):
            bot.person().send_message("What of these?", thread.channel, thread.ts)
            assert len(thread.answers()) == 1


def test_a_day_of_forged_titles_and_names_of_files(bot: Bot) -> None:
    repository, channel = bot.repository(), bot.channel()
    files = tuple(changed_file(path) for path in PATHS.values())
    for title in list(LINES.values())[::2]:
        bot.pull(repository, title=title, merged_at=bot.noon(1), files=files)
    with works_afterwards(bot):
        bot.person().send_command("/prdigest", f"{bot.noon(1).date()} repo:{repository}", channel)
        lead, *_ = bot.list_posts(channel)
        (report,) = [file for file in bot.world.slack.files if channel in file["channels"]]
        assert set(_hosts(report["content"].decode())) == {"github.com"}
        live = bot.world.slack.collect_live_parts(channel, lead["ts"])
        assert not [each for each in live if "evil.example" in each]


def _hosts(text: str) -> Iterator[str]:
    for token in MarkdownIt("commonmark").parse(text):
        for each in token.children or ():
            assert each.type not in ("image", "html_inline")
            if each.type == "link_open":
                yield str(each.attrs["href"]).split("/")[2]


def test_quotes_that_prove_nothing(bot: Bot) -> None:
    lie = "It may count twice."

    def respond(body: dict[str, Any]) -> Step:
        if is_question(body):
            return default_answer(body)
        proof = [{"path": quotes.PATH, "quote": quote} for quote in quotes.TRIVIAL.values()]
        return Written(summary_answer(risk_level="high", risk_reason=lie, action=lie, evidence=proof[:8]))

    with works_afterwards(bot), claude_that(bot, respond):
        channel, number = bot.channel(), bot.pull(files=(changed_file(quotes.PATH, patch=quotes.PATCH),))
        bot.person().send_command("/prsummary", str(number), channel)
        (posted,) = bot.list_posts(channel)
        assert lie not in as_read(posted)
        assert "#diff-" not in json.dumps(posted["blocks"])


def test_pauses_of_hours_are_told_at_once(bot: Bot) -> None:
    github, slack = bot.world.github, bot.world.slack
    with works_afterwards(bot):
        ada, ben, github.retry_after = bot.person(), bot.person(), ahead(6 * 3_600)
        github.fail_next("secondary", 1, "/graphql")
        ada.send_command("/prsummary", f"{bot.pull()} private")
        assert any("6 hours" in shown["text"] for shown in bot.list_whispers(ada))
        github.retry_after = 1
        channel, number = bot.channel(), bot.pull()
        slack.fail_next("chat.postMessage", retry_after=720)
        ben.send_command("/prsummary", str(number), channel)
        assert any(str(number) in shown["text"] for shown in bot.list_whispers(ben))


CALLS = 15


@pytest.fixture
def sparing_bot(bots: Bots, layout: str) -> Iterator[Bot]:
    """A bot that calls the model for each person a few times a minute."""
    yield from guard_bot(bots.bot(layout, "sparing", PRDIGEST_USER_CALLS=str(CALLS)))


def test_one_person_does_not_have_the_model_called_without_end(sparing_bot: Bot) -> None:
    bot = sparing_bot
    with works_afterwards(bot):
        eve, ben = bot.person(), bot.person()
        before = bot.calls()[1]
        for _ in range(4 * CALLS):
            eve.send_command("/prsummary", f"{bot.pull()} private")
        summaries = [shown for shown in bot.list_whispers(eve) if shown.get("blocks")]
        assert len(summaries) >= 4 * CALLS
        # the minute may turn while she asks
        assert bot.calls()[1] - before <= 2 * CALLS
        ben.send_command("/prsummary", f"{bot.pull()} private")
        assert not any("No model summary" in as_read(shown) for shown in bot.list_whispers(ben))
