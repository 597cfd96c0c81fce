"""The Claude emulator, asked by the SDK that the product uses."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anthropic
import httpx2
import pytest
from anthropic import Anthropic

from tests.emulators import claude
from tests.emulators.claude import ClaudeEmulator, overview_answer, summary_answer

MODEL = "claude-haiku-5-5"
HELLO = [{"role": "user", "content": "Hello"}]


@pytest.fixture
def emulator() -> Iterator[ClaudeEmulator]:
    with ClaudeEmulator() as found:
        yield found


@pytest.fixture
def client(emulator: ClaudeEmulator) -> Iterator[Anthropic]:
    with Anthropic(base_url=emulator.url, api_key=emulator.api_key, max_retries=0, timeout=5) as found:
        yield found


@pytest.fixture(scope="module")
def strict() -> Iterator[Anthropic]:
    """A client of one emulator for the tests that only look at what is refused."""
    with ClaudeEmulator() as found, Anthropic(base_url=found.url, api_key=found.api_key, max_retries=0) as client:
        yield client


def ask(client: Anthropic, **overrides: Any) -> Any:
    return client.messages.create(**{"model": MODEL, "max_tokens": 500, "messages": HELLO, **overrides})


def text_of(message: Any) -> str:
    return "".join(block.text for block in message.content if block.type == "text")


def closed(**properties: Any) -> dict[str, Any]:
    """An object schema with nothing besides its properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def formatted(schema: dict[str, Any]) -> dict[str, Any]:
    return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}


TEXT = {"type": "string"}
SUMMARY = closed(
    type={"enum": ["TRIVIAL", "SUBSTANTIAL"]},
    **dict.fromkeys(
        ["headline", "what_changed_and_why", "technical_impact", "potential_risks", "key_insights"], TEXT
    ),
    risk_reason=TEXT,
    action=TEXT,
    evidence={"type": "array", "items": closed(path=TEXT, quote=TEXT)},
)
THEME = closed(title=TEXT, pull_requests={"type": "array", "items": {"type": "integer"}})
OVERVIEW = closed(overview=TEXT, themes={"type": "array", "items": THEME})


# --- answers


def test_an_answer_begins_with_a_thought(client: Anthropic, emulator: ClaudeEmulator) -> None:
    emulator.script(claude.Text("Hello there"))
    message = ask(client, system="Be brief.")
    assert [block.type for block in message.content] == ["thinking", "text"]
    assert (text_of(message), message.stop_reason, message.model) == ("Hello there", "end_turn", MODEL)
    assert message.usage.input_tokens == len("Be brief.Hello") // 4
    assert message.usage.output_tokens == len("Hello there") // 4


def test_an_older_model_answers_without_a_thought(strict: Anthropic) -> None:
    message = ask(strict, model="claude-haiku-4-5")
    assert [block.type for block in message.content] == ["text"]


@pytest.mark.parametrize(("schema", "expected"), [(SUMMARY, summary_answer()), (OVERVIEW, overview_answer())])
def test_the_default_answer_fits_the_schema(
    client: Anthropic, emulator: ClaudeEmulator, schema: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert json.loads(text_of(ask(client, **formatted(schema)))) == expected
    assert emulator.problems == []


def test_a_scripted_answer_must_fit_the_schema(client: Anthropic, emulator: ClaudeEmulator) -> None:
    wrong = summary_answer(type="HUGE")
    emulator.script(claude.Json(wrong), claude.Json(wrong, lenient=True))
    with pytest.raises(anthropic.InternalServerError, match="HUGE"):
        ask(client, **formatted(SUMMARY))
    assert "$.type" in emulator.problems[0]
    assert json.loads(text_of(ask(client, **formatted(SUMMARY)))) == wrong


def test_a_fault_in_the_answerer_is_reported(client: Anthropic, emulator: ClaudeEmulator) -> None:
    emulator.respond = lambda body: claude.Text(body["nothing"])
    with pytest.raises(anthropic.InternalServerError):
        ask(client)
    assert emulator.problems == ["KeyError: 'nothing'"]


def test_the_script_comes_before_the_default_and_sees_the_request(
    client: Anthropic, emulator: ClaudeEmulator
) -> None:
    emulator.script(claude.Text("first"), claude.Text("second"))
    emulator.respond = lambda body: claude.Text(f"heard {body['messages'][0]['content']}")
    assert [text_of(ask(client)) for _ in range(3)] == ["first", "second", "heard Hello"]


def test_refusal_and_truncation_show_in_the_stop_reason(client: Anthropic, emulator: ClaudeEmulator) -> None:
    emulator.script(claude.Refusal("No."), claude.Truncated('{"a": '), claude.Text("x" * 100))
    refused, cut, long = ask(client), ask(client), ask(client, max_tokens=10)
    assert (refused.stop_reason, refused.content, refused.stop_details.explanation) == ("refusal", [], "No.")
    assert (cut.stop_reason, text_of(cut)) == ("max_tokens", '{"a": ')
    assert (long.stop_reason, text_of(long)) == ("max_tokens", "x" * 40)


def test_a_tool_is_called_and_answered(client: Anthropic, emulator: ClaudeEmulator) -> None:
    tools = [{"name": "read", "description": "Read.", "input_schema": closed(path=TEXT)}]
    emulator.script(claude.ToolUse("read", {"path": "a.py"}, text="Let me look."), claude.Text("Done"))
    called = ask(client, tools=tools)
    use = called.content[-1]
    assert (called.stop_reason, use.name, use.input) == ("tool_use", "read", {"path": "a.py"})
    result = {"type": "tool_result", "tool_use_id": use.id, "content": "text"}
    turns = [*HELLO, {"role": "assistant", "content": called.content}, {"role": "user", "content": [result]}]
    assert text_of(ask(client, tools=tools, messages=turns)) == "Done"
    with pytest.raises(anthropic.BadRequestError, match="without tool_result"):
        ask(client, tools=tools, messages=[*turns[:2], *HELLO])


# --- streams


def test_a_stream_brings_the_same_answer_in_pieces(client: Anthropic, emulator: ClaudeEmulator) -> None:
    said = "Several words that arrive\nin more than one piece, ünïcode too."
    emulator.script(claude.Text(said))
    with client.messages.stream(model=MODEL, max_tokens=500, messages=HELLO) as stream:  # type: ignore[arg-type]
        pieces = list(stream.text_stream)
        message = stream.get_final_message()
    assert len(pieces) > 1
    assert "".join(pieces) == text_of(message) == said
    assert [block.type for block in message.content] == ["thinking", "text"]
    assert (message.stop_reason, message.usage.output_tokens) == ("end_turn", len(said) // 4)


def test_a_stream_has_the_events_of_the_service(client: Anthropic, emulator: ClaudeEmulator) -> None:
    emulator.script(claude.ToolUse("read", {"path": "a"}))
    tools = [{"name": "read", "input_schema": closed(path=TEXT)}]
    kinds = [event.type for event in ask(client, stream=True, tools=tools)]
    block = ["content_block_start", "content_block_delta", "content_block_stop"]
    assert kinds[:4] == ["message_start", *block[:2], "content_block_delta"]
    assert kinds[4:] == ["content_block_stop", *block, "message_delta", "message_stop"]


def test_a_stream_may_refuse(client: Anthropic, emulator: ClaudeEmulator) -> None:
    emulator.script(claude.Refusal())
    with client.messages.stream(model=MODEL, max_tokens=500, messages=HELLO) as stream:  # type: ignore[arg-type]
        assert stream.get_final_message().stop_reason == "refusal"


def test_an_error_in_a_stream_arrives_after_the_text(client: Anthropic, emulator: ClaudeEmulator) -> None:
    emulator.script(claude.MidStreamError("Half of it"))
    heard: list[str] = []
    with (
        pytest.raises(anthropic.APIStatusError) as caught,
        client.messages.stream(model=MODEL, max_tokens=500, messages=HELLO) as stream,  # type: ignore[arg-type]
    ):
        heard.extend(stream.text_stream)
    assert ("".join(heard), caught.value.status_code) == ("Half of it", 200)


def test_a_stream_may_be_left_early(client: Anthropic, emulator: ClaudeEmulator) -> None:
    emulator.pace = 0.02
    emulator.script(claude.Text("word " * 500))
    began = time.monotonic()
    with client.messages.stream(model=MODEL, max_tokens=5000, messages=HELLO) as stream:  # type: ignore[arg-type]
        next(iter(stream.text_stream))
    assert time.monotonic() - began < 1


# --- failures


@pytest.mark.parametrize(
    ("status", "kind", "error"),
    [
        (400, "invalid_request_error", anthropic.BadRequestError),
        (401, "authentication_error", anthropic.AuthenticationError),
        (403, "permission_error", anthropic.PermissionDeniedError),
        (429, "rate_limit_error", anthropic.RateLimitError),
        (500, "api_error", anthropic.InternalServerError),
        (529, "overloaded_error", anthropic.InternalServerError),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_a_failure_has_its_status_and_type(
    client: Anthropic, emulator: ClaudeEmulator, status: int, kind: str, error: type[Exception], stream: bool
) -> None:
    emulator.script(claude.Failure(status, kind, "Not now", retry_after=7))
    with pytest.raises(error, match="Not now") as caught:
        ask(client, stream=stream)
    found: Any = caught.value
    assert (found.status_code, found.body["error"]["type"]) == (status, kind)
    assert found.response.headers["retry-after"] == "7"


def test_a_mid_stream_error_without_a_stream_is_a_plain_failure(
    client: Anthropic, emulator: ClaudeEmulator
) -> None:
    emulator.script(claude.MidStreamError("Half", "api_error"))
    with pytest.raises(anthropic.InternalServerError):
        ask(client)


def test_a_dropped_connection(client: Anthropic, emulator: ClaudeEmulator) -> None:
    emulator.script(claude.Drop())
    with pytest.raises(anthropic.APIConnectionError):
        ask(client)


def test_a_hanging_call_times_out_and_does_not_hold_the_emulator() -> None:
    began = time.monotonic()
    with ClaudeEmulator() as emulator, Anthropic(base_url=emulator.url, api_key=emulator.api_key) as client:
        emulator.script(claude.Hang(30))
        with pytest.raises(anthropic.APITimeoutError):
            ask(client.with_options(max_retries=0), timeout=0.1)
    assert time.monotonic() - began < 5


def test_the_sdk_retries_an_overload(emulator: ClaudeEmulator, client: Anthropic) -> None:
    emulator.script(claude.Failure(529, "overloaded_error", retry_after=0.01), claude.Text("Now"))
    assert text_of(ask(client.with_options(max_retries=1))) == "Now"
    assert len(emulator.requests) == 2


# --- what the service refuses


def marked(count: int) -> list[dict[str, Any]]:
    return [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}] * count


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": 128_001, "stream": True}, "max_tokens"),
        ({"messages": []}, "at least one message"),
        ({"messages": [{"role": "assistant", "content": "Hi"}]}, "first message"),
        ({"messages": [{"role": "robot", "content": "Hi"}]}, "roles"),
        ({"messages": [{"role": "user", "content": []}]}, "non-empty"),
        ({"messages": [{"role": "user", "content": " "}]}, "non-whitespace"),
        ({"messages": [*HELLO, {"role": "assistant", "content": "{"}]}, "prefill"),
        ({"extra_body": {"temperature": 0}}, "temperature"),
        ({"extra_body": {"top_p": 1}}, "top_p"),
        ({"extra_body": {"top_k": 1}}, "top_k"),
        ({"system": marked(5)}, "cache_control"),
        ({"system": marked(4), "cache_control": {"type": "ephemeral"}}, "cache_control"),
        ({"tool_choice": {"type": "any"}}, "tools"),
        ({"output_config": {"format": {"type": "text", "schema": {}}}}, "json_schema"),
        ({"output_config": {"format": {"type": "json_schema"}}}, "schema: Field required"),
    ],
)
def test_a_wrong_request_is_refused(strict: Anthropic, overrides: dict[str, Any], message: str) -> None:
    with pytest.raises(anthropic.BadRequestError, match=message):
        ask(strict, **overrides)


@pytest.mark.parametrize("model", ["claude-sonnet-5-5", "claude-opus-5-5", "claude-fable-5-1"])
@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"thinking": {"type": "disabled"}}, "thinking"),
        (
            {
                "tool_choice": {"type": "tool", "name": "t"},
                "tools": [{"name": "t", "input_schema": closed()}],
            },
            "tool_choice",
        ),
    ],
)
def test_the_larger_models_always_think(
    strict: Anthropic, model: str, overrides: dict[str, Any], message: str
) -> None:
    with pytest.raises(anthropic.BadRequestError, match=message):
        ask(strict, model=model, **overrides)
    assert ask(strict, **overrides).stop_reason == "end_turn"


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"type": "object", "properties": {}}, "additionalProperties"),
        (closed(a={"type": "array", "items": {"type": "object"}}), "schema.a.items: for 'object'"),
        (closed(a={"anyOf": [{"type": ["object", "null"]}]}), "schema.a.anyOf"),
        ({**closed(), "$defs": {"d": {"type": "string", "maxLength": 5}}}, "maxLength"),
        (closed(a={"type": "integer", "minimum": 1}), "minimum"),
        (closed(a={"type": "string", "pattern": "x"}), "pattern"),
        (closed(a={"type": "array", "items": TEXT, "maxItems": 3}), "maxItems"),
        (closed(a={"type": "array", "items": TEXT, "minItems": 2}), "minItems"),
        (closed(a={"oneOf": [TEXT]}), "oneOf"),
    ],
)
def test_a_schema_the_service_does_not_take(strict: Anthropic, schema: dict[str, Any], message: str) -> None:
    with pytest.raises(anthropic.BadRequestError, match=message):
        ask(strict, **formatted(schema))


def test_a_property_may_be_called_like_a_keyword(client: Anthropic, emulator: ClaudeEmulator) -> None:
    emulator.script(claude.Json({"pattern": "p", "items": ["i"]}))
    schema = closed(pattern=TEXT, items={"type": "array", "items": TEXT, "minItems": 1})
    assert ask(client, **formatted(schema)).stop_reason == "end_turn"


def test_an_unknown_model_is_not_found(strict: Anthropic) -> None:
    with pytest.raises(anthropic.NotFoundError, match="claude-nobody"):
        ask(strict, model="claude-nobody")


def test_an_older_model_takes_a_prefill(strict: Anthropic) -> None:
    turns = [*HELLO, {"role": "assistant", "content": "{"}]
    assert ask(strict, model="claude-haiku-4-5", messages=turns).stop_reason == "end_turn"


@pytest.mark.parametrize("header", ["x-api-key", "authorization"])
def test_the_key_may_come_in_either_header(emulator: ClaudeEmulator, header: str) -> None:
    body = {"model": MODEL, "max_tokens": 5, "messages": HELLO}
    prefix = "Bearer " if header == "authorization" else ""
    with httpx2.Client(base_url=emulator.url, headers={"anthropic-version": "2023-06-01"}) as plain:
        for key, status in ((emulator.api_key, 200), ("other", 401)):
            found = plain.post("/v1/messages", json=body, headers={header: prefix + key})
            assert found.status_code == status
        assert plain.post("/v1/messages", json=body).json()["error"]["type"] == "authentication_error"


def test_what_no_sdk_sends_is_refused_too(emulator: ClaudeEmulator) -> None:
    key = {"x-api-key": emulator.api_key}
    version = {"anthropic-version": "2023-06-01"}
    with httpx2.Client(base_url=emulator.url, headers=key) as plain:
        assert plain.post("/v1/messages", json={}).status_code == 400
        assert plain.post("/v1/messages", content=b"{", headers=version).status_code == 400
        assert plain.post("/v1/other", json={}, headers=version).status_code == 404
        assert plain.post("/v1/messages", content=b" " * (32 * 1024 * 1024 + 1)).status_code == 413


# --- tokens and the prompt cache


def system(*texts: str) -> list[dict[str, Any]]:
    """System blocks of which the last is marked for the cache."""
    found: list[dict[str, Any]] = [{"type": "text", "text": text} for text in texts]
    return [*found[:-1], {**found[-1], "cache_control": {"type": "ephemeral"}}]


def spent(message: Any) -> tuple[int, int, int]:
    usage = message.usage
    return usage.input_tokens, usage.cache_creation_input_tokens, usage.cache_read_input_tokens


def test_a_marked_prefix_is_written_once_and_then_read(client: Anthropic) -> None:
    blocks = system("a" * 6000, "b" * 2000)
    assert spent(ask(client, system=blocks)) == (1, 2000, 0)
    assert spent(ask(client, system=blocks)) == (1, 0, 2000)
    assert spent(ask(client, system=system("c" * 6000, "b" * 2000))) == (1, 2000, 0)
    assert spent(ask(client, system=blocks, model="claude-sonnet-5-5")) == (1, 2000, 0)


def test_a_short_or_unmarked_prefix_is_not_cached(client: Anthropic) -> None:
    for _ in range(2):
        assert spent(ask(client, system=system("a" * 4000))) == (1001, 0, 0)
        assert spent(ask(client, system="a" * 8000)) == (2001, 0, 0)


def test_a_longer_prefix_reads_the_part_it_knows(client: Anthropic) -> None:
    ask(client, system=system("a" * 6000))
    found = ask(client, system=[*system("a" * 6000), *system("b" * 4000)])
    assert spent(found) == (1, 1000, 1500)
    assert found.usage.cache_creation.ephemeral_5m_input_tokens == 1000


def test_characters_are_counted_over_all_requests(client: Anthropic, emulator: ClaudeEmulator) -> None:
    ask(client, system="S", **formatted(SUMMARY))
    ask(client)
    expected = len(json.dumps("S")) + 2 * len(json.dumps(HELLO)) + len(json.dumps(SUMMARY))
    assert emulator.input_characters() == expected
    assert [body["model"] for body in emulator.requests] == [MODEL, MODEL]


def test_the_most_calls_at_once_are_counted(client: Anthropic, emulator: ClaudeEmulator) -> None:
    together = threading.Barrier(4)

    def wait(_body: dict[str, Any]) -> claude.Step:
        together.wait(5)
        return claude.Text("ok")

    emulator.respond = wait
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: ask(client), range(4)))
    emulator.respond = claude.default_answer
    ask(client)
    assert emulator.in_flight_peak == 4
