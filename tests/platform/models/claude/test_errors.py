import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from localslack.loopback import Loopback, Request, Response

from bot.errors import ModelBusy, ModelError, ModelRequestRejected
from bot.usage import NO_USAGE, Usage
from tests.emulators.claude.server import (
    ClaudeEmulator,
    Cut,
    Drop,
    Failure,
    Hang,
    MidStreamError,
    Refusal,
    Stall,
    Step,
    Text,
    Truncated,
)
from tests.emulators.claude.thinking import THOUGHT
from tests.helpers.checks import closed_port, eventually
from tests.helpers.talks import converse
from tests.helpers.worlds import WebPage
from tests.platform.models.claude.test_chat import CHAT, KEY, Ear, busy, chat_at, parse_usage, talk
from tests.platform.models.model_steps import CLEAN, HALF, STEPS, Told

SHORT = replace(CHAT, silence=0.5, seconds=0.5)


@pytest.fixture(autouse=True)
def _nothing_left() -> Iterator[None]:
    threads = busy()
    yield
    assert eventually(lambda: busy() <= threads)


@pytest.mark.parametrize(
    ("step", "told"), [*STEPS, *CLEAN], ids=lambda value: str(value)[:60] if not isinstance(value, Told) else ""
)
@pytest.mark.slow
def test_whatever_goes_wrong_is_told_in_the_words_of_the_domain(
    claude: ClaudeEmulator, step: Step, told: Told
) -> None:
    ear = Ear()
    with pytest.raises(ModelError) as caught:
        talk(claude, step, Text("Not asked for."), hear=ear)
    error = caught.value
    assert (type(error), ear.text, getattr(error, "retry_after", None)) == (
        told.kind,
        told.heard,
        told.retry_after,
    )
    assert error.usage == (so_far(claude, step, ear.text) if told.has_usage else NO_USAGE)
    assert (len(claude.requests), claude.problems, KEY in str(error)) == (1, [], False)


def so_far(claude: ClaudeEmulator, step: Step, heard: str) -> Usage:
    """What was used when a step ended; the service tells at the very end what it wrote, so that is estimated."""
    (usage,) = map(parse_usage, claude.usages)
    written = len(THOUGHT + heard) if heard else 4
    return usage if isinstance(step, Refusal | Text) else replace(usage, output=-(-written // 4))


@pytest.mark.parametrize(
    "step", [Truncated(HALF), Text(HALF, "max_tokens"), Text(HALF, "model_context_window_exceeded")]
)
def test_an_answer_that_hit_its_limit_is_cut_and_kept(claude: ClaudeEmulator, step: Step) -> None:
    ear = Ear()
    reply = talk(claude, step, hear=ear)
    assert (ear.text, reply.is_cut, reply.calls) == (HALF, True, ())
    assert reply.usage == parse_usage(claude.usages[0])


# --- time


# what was heard until then, and whether the service had told what it took
SILENT: dict[str, tuple[Step, str, bool]] = {
    "nothing": (Hang(9), "", False),
    "pings after words": (Stall(HALF, 9, pings=60), HALF, True),
    "pings before words": (Stall("", 9, "late", pings=60), "", True),
    "silence after words": (Stall(HALF, 9, pings=0), HALF, True),
}


def await_failure(case: tuple[Step, str, bool]) -> tuple[float, str, ModelBusy]:
    """How long a talk took that ended in silence, what was heard of it, and how it ended."""
    ear, begun = Ear(), time.monotonic()
    with ClaudeEmulator() as claude, pytest.raises(ModelBusy) as caught:
        talk(claude, case[0], chat=SHORT, hear=ear)
    return time.monotonic() - begun, ear.text, caught.value


@pytest.mark.slow
def test_who_says_nothing_for_too_long_is_busy() -> None:
    with ThreadPoolExecutor(len(SILENT)) as pool:
        waits = dict(zip(SILENT, pool.map(await_failure, SILENT.values()), strict=True))
    assert {name: (heard, error.usage.prompt_tokens > 0) for name, (_, heard, error) in waits.items()} == {
        name: (heard, has_usage) for name, (_, heard, has_usage) in SILENT.items()
    }
    # the shortest that a talk waits is a second; the model is silent for nine
    assert max(seconds for seconds, _, _ in waits.values()) < 7


@pytest.mark.slow
def test_pings_within_the_time_keep_a_silent_model_alive(claude: ClaudeEmulator) -> None:
    ear = Ear()
    talk(claude, Stall(HALF, 1.3, "the rest.", pings=9), chat=replace(CHAT, silence=1.0), hear=ear)
    assert ear.pieces[-1] == "the rest."


# --- somebody else


@pytest.mark.parametrize("status", [200, 403, 502])
def test_a_web_page_in_place_of_claude_is_a_model_error(status: int) -> None:
    ear = Ear()
    with WebPage(status) as world, chat_at(world.url) as model, pytest.raises(ModelError) as caught:
        converse(model, CHAT, ear)
    assert (ear.pieces, caught.value.usage) == ([], NO_USAGE)
    assert type(caught.value) is (ModelRequestRejected if status == 403 else ModelBusy)


def test_nobody_there_is_busy() -> None:
    with chat_at(f"http://127.0.0.1:{closed_port()}") as model, pytest.raises(ModelBusy, match="reached"):
        converse(model, CHAT, Ear())


class Else(Loopback):
    def __init__(self, body: bytes, kind: str = "text/event-stream") -> None:
        super().__init__()
        self.body, self.kind = body, kind

    def handle(self, request: Request) -> Response:
        return Response(200, self.body, {"Content-Type": self.kind})


def event(kind: str, **data: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()


MESSAGE: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": CHAT.model,
    "content": [],
    "stop_reason": None,
    "stop_sequence": None,
    "usage": {"input_tokens": 10, "output_tokens": 1},
}
BEGUN = event("message_start", message=MESSAGE)
TEXT = event("content_block_start", index=0, content_block={"type": "text", "text": ""})
TOOL = event(
    "content_block_start", index=0, content_block={"type": "tool_use", "id": "t", "name": "read", "input": {}}
)


def delta(**fields: Any) -> bytes:
    return event("content_block_delta", index=0, delta=fields)


BROKEN = b'event: content_block_delta\ndata: {"type": "cont'
# what comes, whether a message was begun, and what is known of it
OTHERS: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "text/event-stream"),
    "json": (b'{"choices": [{"text": "Hi"}]}', "application/json"),
    "a list": (b"[]", "application/json"),
    "lines of another service": (b'data: {"choices": []}\n\ndata: [DONE]\n\n', "text/event-stream"),
    "events of another service": (event("response.created", response={}), "text/event-stream"),
    "the end alone": (event("message_stop"), "text/event-stream"),
}
TRIPPING: dict[str, bytes] = {
    "events that are lists": b"event: x\ndata: []\n\n",
    "events that are words": b"event: x\ndata: [DONE]\n\n",
    "a beginning without a message": event("message_start"),
    "a beginning without usage": event("message_start", message={**MESSAGE, "usage": None}),
    "words of no block": BEGUN + delta(type="text_delta", text="Hi"),
    "words that are none": BEGUN + TEXT + delta(type="text_delta", text=None),
    "arguments that are none": BEGUN + TOOL + delta(type="input_json_delta", partial_json="{nope"),
    "half an event": BEGUN + TEXT + BROKEN + b"\n\n",
    "no utf-8": BEGUN + TEXT + b"event: content_block_delta\ndata: \xff\xfe\n\n",
}


@pytest.mark.parametrize(("body", "kind"), OTHERS.values(), ids=OTHERS)
def test_something_else_than_claude_is_busy_and_named_to_the_operator_alone(
    body: bytes, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    with Else(body, kind) as world, chat_at(world.url) as model:
        for _ in range(2):
            with pytest.raises(ModelBusy, match="another server") as caught:
                converse(model, CHAT, Ear())
    assert caught.value.usage == NO_USAGE
    assert [record.getMessage() for record in caplog.records if "ANTHROPIC" in record.getMessage()] == [
        "The server is not Claude: check ANTHROPIC_BASE_URL."
    ]


@pytest.mark.parametrize("body", [pytest.param(body, id=name) for name, body in TRIPPING.items()])
def test_what_no_claude_would_say_is_busy(body: bytes) -> None:
    with Else(body) as world, chat_at(world.url) as model, pytest.raises(ModelBusy) as caught:
        converse(model, CHAT, Ear())
    assert caught.value.usage.prompt_tokens == (10 if body.startswith(BEGUN) else 0)


@pytest.mark.parametrize("body", [BEGUN + TEXT + BROKEN], ids=["half an event"])
def test_a_stream_that_ends_within_an_event_is_busy(body: bytes) -> None:
    with Else(body) as world, chat_at(world.url) as model, pytest.raises(ModelBusy) as caught:
        converse(model, CHAT, Ear())
    assert caught.value.usage.prompt_tokens == 10


# --- the operator


@pytest.mark.parametrize(
    ("step", "setting"),
    [
        (Failure(401, "authentication_error"), "ANTHROPIC_API_KEY"),
        (Failure(403, "permission_error"), "ANTHROPIC_API_KEY"),
        (Failure(404, "not_found_error"), "PRDIGEST_ANSWER_MODEL"),
    ],
    ids=["401", "403", "404"],
)
def test_a_wrong_setting_is_named_once_and_to_the_operator_alone(
    claude: ClaudeEmulator, caplog: pytest.LogCaptureFixture, step: Failure, setting: str
) -> None:
    claude.script(step, step)
    with chat_at(claude.url) as model:
        for _ in range(2):
            with pytest.raises(ModelRequestRejected) as caught:
                converse(model, CHAT, Ear())
    assert setting not in str(caught.value)
    assert [setting in record.getMessage() for record in caplog.records if "check" in record.getMessage()] == [
        True
    ]


def test_a_wrong_key_is_rejected_and_not_shown(claude: ClaudeEmulator, caplog: pytest.LogCaptureFixture) -> None:
    with chat_at(claude.url, "sk-ant-wrong") as model, pytest.raises(ModelRequestRejected) as caught:
        converse(model, CHAT, Ear())
    assert "sk-ant-wrong" not in str(caught.value) + caplog.text


def test_a_talk_goes_on_after_any_failure(claude: ClaudeEmulator) -> None:
    claude.script(MidStreamError(HALF), Cut(HALF), Drop(), Failure(529, "overloaded_error"), Text("All of it."))
    ear = Ear()
    with chat_at(claude.url) as model:
        for _ in range(4):
            with pytest.raises(ModelBusy):
                converse(model, CHAT, Ear())
        assert converse(model, CHAT, ear).calls == ()
    assert (ear.text, claude.in_flight_peak) == ("All of it.", 1)
