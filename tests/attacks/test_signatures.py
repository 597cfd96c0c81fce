"""Forged, altered and replayed requests, and bodies without end, at the door of a process that runs."""

import hashlib
import hmac
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlencode

import pytest
from localslack.users.person import Delivery, Person
from localslack.users.transport import FORM, Ack, encode_request

from tests.scenarios import SECRET, Bot, old_button
from tests.scenarios.conftest import Bots, guard_bot
from tests.scenarios.subscriptions.regularly import form_of, subscriptions

pytestmark = pytest.mark.slow

STAMP, SIGNATURE = "X-Slack-Request-Timestamp", "X-Slack-Signature"
LOCAL = "127.0.0.1"


@pytest.fixture
def bot(bots: Bots) -> Iterator[Bot]:
    yield from guard_bot(bots.bot("http"))


def sign(body: bytes, stamp: str, *, version: str = "v0", secret: str = SECRET) -> str:
    base = f"{version}:{stamp}:".encode() + body
    return f"{version}={hmac.new(secret.encode(), base, hashlib.sha256).hexdigest()}"


Make = Callable[[bytes, str], dict[str, str]]

# headers of a body at a time that is now
HEADERS: dict[str, Make] = {
    "another secret": lambda body, now: {STAMP: now, SIGNATURE: sign(body, now, secret="other")},
    "a secret with a blank": lambda body, now: {STAMP: now, SIGNATURE: sign(body, now, secret=f"{SECRET} ")},
    "another version": lambda body, now: {STAMP: now, SIGNATURE: sign(body, now, version="v1")},
    "the version left out": lambda body, now: {STAMP: now, SIGNATURE: sign(body, now)[3:]},
    "capital digits": lambda body, now: {STAMP: now, SIGNATURE: sign(body, now).upper()},
    "two signatures, the first forged": lambda body, now: {
        STAMP: now,
        SIGNATURE: f"v0={'0' * 64}, {sign(body, now)}",
    },
    "two signatures, the last forged": lambda body, now: {
        STAMP: now,
        SIGNATURE: f"{sign(body, now)},v0={'0' * 64}",
    },
    "cut by a digit": lambda body, now: {STAMP: now, SIGNATURE: sign(body, now)[:-1]},
    "longer by a digit": lambda body, now: {STAMP: now, SIGNATURE: f"{sign(body, now)}0"},
    "another time than the signed one": lambda body, now: {STAMP: str(int(now) + 1), SIGNATURE: sign(body, now)},
    "the time of an hour ago": lambda body, now: {
        STAMP: str(int(now) - 3_600),
        SIGNATURE: sign(body, str(int(now) - 3_600)),
    },
    "just too old": lambda body, now: {STAMP: str(int(now) - 302), SIGNATURE: sign(body, str(int(now) - 302))},
    "an hour ahead": lambda body, now: {
        STAMP: str(int(now) + 3_600),
        SIGNATURE: sign(body, str(int(now) + 3_600)),
    },
    "a time with a fraction": lambda body, now: {STAMP: f"{now}.0", SIGNATURE: sign(body, f"{now}.0")},
    "a time with an exponent": lambda body, _: {STAMP: "1e9", SIGNATURE: sign(body, "1e9")},
    "the signature of an empty body": lambda _, now: {STAMP: now, SIGNATURE: sign(b"", now)},
    "the body of another order": lambda body, now: {STAMP: now, SIGNATURE: sign(body[::-1], now)},
    "no signature": lambda _, now: {STAMP: now},
    "no time": lambda body, now: {SIGNATURE: sign(body, now)},
    "no headers": lambda _body, _now: {},
}


@pytest.mark.parametrize("name", HEADERS)
def test_a_request_that_is_not_signed_is_refused_and_not_read(name: str, bot: Bot) -> None:
    ada, number = bot.person(), bot.pull()
    payload = {**ada.send_command("/prsummary", "help").payload, "text": f"{number} private", "trigger_id": "1.1"}
    body = urlencode(payload).encode()
    seen = len(bot.list_whispers(ada))
    ack = bot.http.post(body, {"Content-Type": FORM, **HEADERS[name](body, str(int(time.time())))})
    assert (ack.status, ack.body) == (401, "")
    assert len(bot.list_whispers(ada)) == seen


def test_the_same_with_its_signature_is_taken(bot: Bot) -> None:
    body, now = urlencode({"ssl_check": "1", "token": "x"}).encode(), str(int(time.time()))
    assert bot.http.post(body, {"Content-Type": FORM, STAMP: now, SIGNATURE: sign(body, now)}).status == 200


# what a listener on the way could send again, byte by byte


def _summary(bot: Bot, person: Person, channel: str) -> Delivery:
    return person.send_command("/prsummary", str(bot.pull()), channel)


def _share(bot: Bot, person: Person, channel: str) -> Delivery:
    return person.press(
        old_button("share_summary", f"2|octo/engine#{bot.pull()}"), "share_summary", channel=channel
    )


def _mention(bot: Bot, person: Person, channel: str) -> Delivery:
    return person.mention(str(bot.pull()), channel, bot.world.slack.add_message(channel, "lead"))


def _subscribe(bot: Bot, person: Person, channel: str) -> Delivery:
    person.send_command("/prdigest", "schedule", channel)
    return person.submit(form_of(bot, person), channel=channel)


REPLAYED = {"command": _summary, "button": _share, "mention": _mention, "form": _subscribe}


@pytest.mark.parametrize("name", REPLAYED)
@pytest.mark.parametrize("retry", [0, 1], ids=["bare", "as a retry of Slack"])
def test_the_same_bytes_act_once(name: str, retry: int, bot: Bot) -> None:
    ada, channel = bot.person(), bot.channel()
    first = REPLAYED[name](bot, ada, channel)
    before = _results(bot, ada, channel)
    kind = {"command": "slash_commands", "mention": "events_api"}.get(name, "interactive")
    body, content = encode_request(kind, first.payload)
    headers = {"Content-Type": content, **bot.http.sign(body)}
    again = {"X-Slack-Retry-Num": str(retry), "X-Slack-Retry-Reason": "http_timeout"} if retry else {}
    acks = [bot.http.post(body, {**headers, **again}) for _ in range(3)]
    assert {ack.status for ack in acks} == {200}
    assert _results(bot, ada, channel) == before


def _results(bot: Bot, person: Person, channel: str) -> tuple[int, int, int, tuple[int, int]]:
    bot.settle()
    threads = [each["ts"] for each in bot.world.slack.list_messages(channel) if "reply_count" in each]
    messages = len(bot.list_posts(channel)) + sum(
        len(bot.list_thread_posts(channel, thread)) for thread in threads
    )
    return messages, len(bot.list_whispers(person)), len(subscriptions(bot, channel)), bot.calls()


# bodies without end

HEAD = b"POST /slack/events HTTP/1.1\r\nHost: x\r\n"
OVERSIZED = {
    "declared": (b"Content-Length: 1000001\r\n\r\n", b""),
    "declared as ten gigabytes": (b"Content-Length: 10000000000\r\n\r\n", b""),
    "declared with many digits": (b"Content-Length: " + b"9" * 400 + b"\r\n\r\n", b""),
    "declared as negative": (b"Content-Length: -1\r\n\r\n", b""),
    "in chunks": (b"Transfer-Encoding: chunked\r\n\r\n", b"10000\r\n" + b"a" * 65_536 + b"\r\n"),
    "in one great chunk": (b"Transfer-Encoding: chunked\r\n\r\nffffffffff\r\n", b"a" * 65_536),
    "in headers": (b"", b"X-Long: " + b"a" * 65_536 + b"\r\n"),
}


@pytest.mark.parametrize("name", OVERSIZED)
def test_a_body_that_is_too_long_is_refused_before_it_is_whole(name: str, bot: Bot) -> None:
    start, piece = OVERSIZED[name]
    with socket.create_connection((LOCAL, int(bot.port)), timeout=10) as connection:
        sent, answer = 0, b""
        connection.sendall(HEAD + start)
        try:
            while piece and sent < 40 * len(piece):
                connection.sendall(piece)
                sent += len(piece)
        except OSError:
            pass  # the bot has hung up
        try:
            answer = connection.recv(4_096)
        except ConnectionError:
            # what was on its way was thrown away with the connection: as good as a refusal
            answer = b"HTTP/1.1 413"
    assert answer.split(b" ")[1:2] in ([b"400"], [b"413"], [b"431"], [b"401"]), answer
    assert bot.get("/healthz") == 200


def test_a_hundred_half_bodies_take_little_memory_and_keep_nobody_out(bot: Bot) -> None:
    before = _memory(bot.process.pid)
    with ExitStack() as stack:
        for _ in range(100):
            connection = stack.enter_context(socket.create_connection((LOCAL, int(bot.port)), timeout=10))
            connection.sendall(HEAD + b"Content-Length: 999999\r\n\r\n" + b"a" * 900_000)
        ack: Ack = bot.person().send_command("/prsummary", "help").ack
        assert ack.status == 200
        assert bot.get("/healthz") == 200
        # all of it together would be ninety megabytes: longer bodies wait in files
        assert _memory(bot.process.pid) - before < 60_000


def _memory(pid: int) -> int:
    """The memory of a process, in kilobytes; 0 where the system does not say."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return 0
    return int(next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmRSS")))
