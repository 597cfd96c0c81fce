"""What a server may send that is not the model's server, or is one on the attacker's side."""

import gzip
import itertools
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from localslack.loopback import Response

from bot.errors import ModelBusy, ModelError, ModelRequestRejected
from bot.platform.models import ToolCall
from tests.emulators.claude.script import Text
from tests.emulators.openai_compatible.server import OpenAIEmulator
from tests.helpers.talks import Reply, converse
from tests.helpers.worlds import Garbage, Moved, WebPage
from tests.platform.models.openai_compatible.asking import (
    CHAT,
    Scripted,
    answer_calls,
    failure,
    open_model,
    talk_failure,
)

BUSY = "another server answered instead of the model"
STREAM = {"Content-Type": "text/event-stream"}


def line(value: Any) -> bytes:
    return b"data: " + (value if isinstance(value, bytes) else json.dumps(value).encode()) + b"\n\n"


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def call(index: int, name: str | None = None, arguments: str | None = None, name_of: str | None = None) -> Any:
    """A part of a call; ``name_of`` is the id of the call."""
    return chunk(tool_calls=[{"index": index, "id": name_of, "function": {"name": name, "arguments": arguments}}])


def stream(*values: Any) -> Response:
    return Response(200, b"".join(map(line, values)), STREAM)


def hear(*values: Any) -> Reply:
    with Scripted(stream(*values)) as world, open_model(f"{world.url}/v1") as model:
        return converse(model, CHAT)


def hear_failure(response: Response) -> ModelError:
    with Scripted(response) as world:
        return talk_failure(f"{world.url}/v1")


# --- another server

BODIES = (
    b"\xff\xfe",
    b'{"choices": [',
    b"[]",
    b'"ok"',
    b"",
    b"{}",
    b'{"choices": []}',
    b'{"choices": null}',
    b'{"choices": [{"message": {"content": 7}, "finish_reason": "stop"}]}',
    b'{"choices": [7]}',
    b"[" * 100_000,
    b'{"content": [{"type": "text", "text": "Hi"}], "stop_reason": "end_turn"}',
)


@pytest.mark.parametrize("body", BODIES, ids=lambda body: repr(body[:30]))
def test_an_answer_of_another_kind_is_busy(body: bytes) -> None:
    with Garbage(body) as world:
        error = failure(f"{world.url}/v1")
    assert (type(error), str(error)) == (ModelBusy, BUSY)


@pytest.mark.parametrize("status", [200, 204, 403, 502])
def test_a_page_in_place_of_an_answer_is_a_model_error(status: int) -> None:
    kind = ModelRequestRejected if status == 403 else ModelBusy
    for ask in (failure, talk_failure):
        with WebPage(status) as world:
            error = ask(f"{world.url}/v1")
        assert type(error) is kind
        assert "Sign in" not in str(error)


TRIPPING: dict[str, Response] = {
    "json": Response.of_json({"choices": []}),
    "no type": Response(200, line(chunk("stop", content="Hi"))),
    "events that are lists": stream([]),
    "events of another service": stream({"type": "message_start"}),
    "half an event": stream(chunk(content="Hi"), b'{"choices": [{"del'),
    "text that is none": stream(chunk(content=7)),
    "no utf-8": stream(b"\xff\xfe"),
    "deep": stream(b"[" * 50_000),
    "a call without a name": stream(call(0, arguments="{}"), chunk("tool_calls")),
    "a call that changes its name": stream(call(0, "read", name_of="a"), call(0, "delete"), chunk("tool_calls")),
    "calls out of order": stream(call(3, "read", "{}"), chunk("tool_calls")),
    "a negative index": stream(call(-1, "read", "{}"), chunk("tool_calls")),
    "too many calls": stream(*[call(n, "read", "{}") for n in range(65)], chunk("tool_calls")),
    "endless arguments": stream(call(0, "read"), *[call(0, arguments="x" * 50_000)] * 5, chunk("tool_calls")),
    "a very long name": stream(call(0, "x" * 300, "{}"), chunk("tool_calls")),
}


@pytest.mark.parametrize("response", TRIPPING.values(), ids=TRIPPING)
def test_a_stream_of_another_kind_is_busy(response: Response) -> None:
    error = hear_failure(response)
    assert (type(error), str(error)) == (ModelBusy, BUSY)


@pytest.mark.parametrize("end", [None, "abort", "error", ""])
def test_a_turn_without_a_usable_end_is_busy(end: str | None) -> None:
    error = hear_failure(stream(chunk(content="Hi"), chunk(end), b"[DONE]"))
    assert (type(error), str(error)) == (ModelBusy, "the model stopped before the end of its answer")


def test_a_stream_without_an_event_is_busy() -> None:
    assert type(hear_failure(stream(b"[DONE]"))) is ModelBusy


# --- a careless one


def test_usage_that_can_not_be_right_is_estimated() -> None:
    wrong = {"prompt_tokens": -5, "completion_tokens": 10**12}
    reply = hear(chunk("stop", content="x" * 300), {"choices": [], "usage": wrong}, b"[DONE]")
    assert (reply.words, reply.usage.output, 0 < reply.usage.input < 10_000) == ("x" * 300, 100, True)


def test_cached_tokens_are_counted_apart_and_never_below_none() -> None:
    for cached, expected in ((30, (70, 30)), (500, (0, 100))):
        usage = {"prompt_tokens": 100, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": cached}}
        token_usage = hear(chunk("stop", content="x"), {"choices": [], "usage": usage}).usage
        assert (token_usage.input, token_usage.cache_read) == expected


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        # the parts of two calls may mix
        ([call(0, "read", name_of="a"), call(1, "find", name_of="b"), call(0, arguments='{"path":'),
          call(1, arguments="{}"), call(0, arguments='"x"}')], [("a", "read", {"path": "x"}), ("b", "find", {})]),
        # each part with another id, as earlier versions of vLLM sent them
        ([call(0, "read", name_of="a"), call(0, arguments="{}", name_of="b")], [("a", "read", {})]),
        # all calls with the same index
        ([call(0, "read", "{}", "a"), call(0, "find", "{}", "b")], [("a", "read", {}), ("b", "find", {})]),
        # no ids, or twice the same
        ([call(0, "read", "{}"), call(1, "find", "")], [("call_0", "read", {}), ("call_1", "find", {})]),
        ([call(0, "read", "{}", "a"), call(1, "find", "{}", "a")], [("a", "read", {}), ("call_1", "find", {})]),
        # the name in each part
        ([call(0, "read", '{"pa', "a"), call(0, "read", 'th": "y"}', "a")], [("a", "read", {"path": "y"})]),
    ],
)  # fmt: skip
def test_calls_are_put_together(parts: list[Any], expected: list[tuple[str, str, dict[str, Any]]]) -> None:
    # some servers end such a turn as any other
    for end in ("tool_calls", "stop"):
        reply = hear(*parts, chunk(end))
        assert [(tool_call.id, tool_call.name, tool_call.arguments) for tool_call in reply.calls] == expected


@pytest.mark.parametrize("written", ["{nope", "[1]", '"x"', "NaN", '{"a": NaN}', "[" * 5_000, "9" * 5_000, "null"])
def test_unusable_arguments_are_an_error_for_the_model_and_go_back_as_none(
    model_server: OpenAIEmulator, written: str
) -> None:
    reply = hear(call(0, "read", written, "a"), chunk("tool_calls"))
    assert reply.calls == (ToolCall("a", "read", {"these arguments, which are no JSON object": True}),)
    model_server.script(Text("Much."))
    with open_model(model_server.address) as model:
        assert converse(model, answer_calls(CHAT, reply, "refused", is_error=True)).words == "Much."


def test_the_calls_of_a_turn_that_was_cut_are_dropped() -> None:
    reply = hear(call(0, "read", '{"path": "a', "a"), chunk("length"))
    assert (reply.calls, reply.is_cut, reply.turn.model_blocks) == ((), True, ())


# --- one that wants to harm


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(
    model_server: OpenAIEmulator, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    with Moved(status, model_server.url) as world:
        for ask in (failure, talk_failure):
            error = ask(f"{world.url}/v1")
            assert (type(error), str(error)) == (
                ModelRequestRejected,
                "the model's server sends its callers elsewhere",
            )
    assert model_server.headers == []
    assert "PRDIGEST_MODEL_URL" in caplog.text


def endless(first: bytes, again: bytes) -> Iterator[bytes]:
    yield first
    yield from itertools.repeat(again, 200_000)


ENDLESS: dict[str, tuple[bytes, bytes, dict[str, str]]] = {
    "text": (b"", line(chunk(content="x" * 40_000)), STREAM),
    "reasoning": (b"", line(chunk(reasoning="x" * 40_000)), STREAM),
    "one event": (b"data: ", b"x" * 40_000, STREAM),
    "one field": (b"", b"x" * 40_000, STREAM),
    "a page": (b"", b"x" * 40_000, {"Content-Type": "text/html"}),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_an_endless_stream_ends_by_its_size(name: str) -> None:
    first, again, headers = ENDLESS[name]
    began = time.monotonic()
    error = hear_failure(Response(200, headers=headers, chunks=endless(first, again)))
    assert isinstance(error, ModelBusy)
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("status", [200, 400, 500])
def test_a_huge_body_is_not_read_to_its_end(status: int) -> None:
    headers = {"Content-Type": "application/json"}
    for ask in (failure, talk_failure):
        with Scripted(Response(status, headers=headers, chunks=endless(b'{"', b"x" * 50_000))) as world:
            began = time.monotonic()
            assert isinstance(ask(f"{world.url}/v1"), ModelError)
            assert time.monotonic() - began < 8


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br, gzip"])
def test_a_body_that_would_have_to_be_unpacked_is_not(encoding: str) -> None:
    bomb = gzip.compress(b"x" * 10_000_000)
    for headers in ({"Content-Type": "application/json"}, STREAM):
        for ask in (failure, talk_failure):
            with Scripted(Response(200, bomb, {**headers, "Content-Encoding": encoding})) as world:
                error = ask(f"{world.url}/v1")
            assert (type(error), str(error)) == (ModelBusy, BUSY)


def test_what_a_server_says_of_an_error_reaches_the_log_alone_without_a_key(
    caplog: pytest.LogCaptureFixture,
) -> None:
    key = "sk-proj-" + "Zx9" * 16
    server_message = f"bad\nrequest <!channel> {key} " + "y" * 5_000
    with Scripted(Response.of_json({"error": {"message": server_message}}, 418)) as world:
        error = failure(f"{world.url}/v1", key=key)
    assert str(error) == "the model rejected the request with status 418"
    (record,) = [each for each in caplog.records if "418" in each.getMessage()]
    assert key not in record.getMessage()
    assert "\n" not in record.getMessage()
    assert len(record.getMessage()) < 500


@pytest.mark.parametrize("begin", ["{", "["])
def test_a_request_that_a_server_repeats_is_not_in_the_log(begin: str, caplog: pytest.LogCaptureFixture) -> None:
    server_message = f"1 validation error: {begin}'input': 'canary-of-the-title'"
    with Scripted(Response.of_json({"error": {"message": server_message}}, 422)) as world:
        failure(f"{world.url}/v1")
    assert "1 validation error" in caplog.text
    assert "canary" not in caplog.text


@pytest.mark.slow
def test_a_dripping_answer_ends_by_its_deadline() -> None:
    def drip() -> Iterator[bytes]:
        for _ in range(100):
            time.sleep(0.1)
            yield b": ping\n\n"

    with (
        Scripted(Response(200, headers=STREAM, chunks=drip())) as world,
        open_model(f"{world.url}/v1") as model,
        pytest.raises(ModelBusy, match="in time"),
    ):
        converse(model, replace(CHAT, seconds=1.0))
