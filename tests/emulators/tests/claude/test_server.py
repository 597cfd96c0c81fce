import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anthropic
import pytest
from anthropic import Anthropic

from tests.emulators.claude.questions import (
    HELLO,
    MODEL,
    OVERVIEW,
    SUMMARY,
    TEXT,
    ask,
    make_closed_schema,
    make_output_config,
    text_of,
)
from tests.emulators.claude.server import (
    ClaudeEmulator,
    Drop,
    Failure,
    Hang,
    Json,
    MidStreamError,
    Refusal,
    Step,
    Text,
    ToolUse,
    Truncated,
    default_answer,
    overview_answer,
    summary_answer,
)

# --- answers


@pytest.mark.slow
def test_an_answer_begins_with_a_thought(sdk: Anthropic, claude: ClaudeEmulator) -> None:
    claude.script(Text("Hello there"))
    message = ask(sdk, system="Be brief.")
    assert [block.type for block in message.content] == ["thinking", "text"]
    assert (text_of(message), message.stop_reason, message.model) == ("Hello there", "end_turn", MODEL)
    assert message.usage.input_tokens == len("Be brief.Hello") // 4
    assert message.usage.output_tokens == len("Hello there") // 4


def test_an_older_model_answers_without_a_thought(strict: Anthropic) -> None:
    message = ask(strict, model="claude-haiku-4-5")
    assert [block.type for block in message.content] == ["text"]


@pytest.mark.parametrize(("schema", "expected"), [(SUMMARY, summary_answer()), (OVERVIEW, overview_answer())])
def test_the_default_answer_fits_the_schema(
    sdk: Anthropic, claude: ClaudeEmulator, schema: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert json.loads(text_of(ask(sdk, **make_output_config(schema)))) == expected
    assert claude.problems == []


def test_a_scripted_answer_must_fit_the_schema(sdk: Anthropic, claude: ClaudeEmulator) -> None:
    wrong = summary_answer(type="HUGE")
    claude.script(Json(wrong), Json(wrong, lenient=True))
    with pytest.raises(anthropic.InternalServerError, match="HUGE"):
        ask(sdk, **make_output_config(SUMMARY))
    assert "$.type" in claude.problems[0]
    assert json.loads(text_of(ask(sdk, **make_output_config(SUMMARY)))) == wrong


def test_a_fault_in_the_answerer_is_reported(sdk: Anthropic, claude: ClaudeEmulator) -> None:
    claude.respond = lambda body: Text(body["nothing"])
    with pytest.raises(anthropic.InternalServerError):
        ask(sdk)
    assert claude.problems == ["KeyError: 'nothing'"]


def test_the_script_comes_before_the_default_and_sees_the_request(sdk: Anthropic, claude: ClaudeEmulator) -> None:
    claude.script(Text("first"), Text("second"))
    claude.respond = lambda body: Text(f"heard {body['messages'][0]['content']}")
    assert [text_of(ask(sdk)) for _ in range(3)] == ["first", "second", "heard Hello"]


@pytest.mark.slow
def test_refusal_and_truncation_show_in_the_stop_reason(sdk: Anthropic, claude: ClaudeEmulator) -> None:
    claude.script(Refusal("No."), Truncated('{"a": '), Text("x" * 100))
    refused, cut, long = ask(sdk), ask(sdk), ask(sdk, max_tokens=10)
    assert (refused.stop_reason, refused.content, refused.stop_details.explanation) == ("refusal", [], "No.")
    assert (cut.stop_reason, text_of(cut)) == ("max_tokens", '{"a": ')
    assert (long.stop_reason, text_of(long)) == ("max_tokens", "x" * 40)


def test_a_tool_is_called_and_answered(sdk: Anthropic, claude: ClaudeEmulator) -> None:
    tools = [{"name": "read", "description": "Read.", "input_schema": make_closed_schema(path=TEXT)}]
    claude.script(ToolUse("read", {"path": "a.py"}, text="Let me look."), Text("Done"))
    called = ask(sdk, tools=tools)
    use = called.content[-1]
    assert (called.stop_reason, use.name, use.input) == ("tool_use", "read", {"path": "a.py"})
    result = {"type": "tool_result", "tool_use_id": use.id, "content": "text"}
    turns = [*HELLO, {"role": "assistant", "content": called.content}, {"role": "user", "content": [result]}]
    assert text_of(ask(sdk, tools=tools, messages=turns)) == "Done"
    with pytest.raises(anthropic.BadRequestError, match="without tool_result"):
        ask(sdk, tools=tools, messages=[*turns[:2], *HELLO])


# --- streams


def test_a_stream_brings_the_same_answer_in_pieces(sdk: Anthropic, claude: ClaudeEmulator) -> None:
    text = "Several words that arrive\nin more than one piece, ünïcode too."
    claude.script(Text(text))
    with sdk.messages.stream(model=MODEL, max_tokens=500, messages=HELLO) as stream:  # type: ignore[arg-type]
        pieces = list(stream.text_stream)
        message = stream.get_final_message()
    assert len(pieces) > 1
    assert "".join(pieces) == text_of(message) == text
    assert [block.type for block in message.content] == ["thinking", "text"]
    assert (message.stop_reason, message.usage.output_tokens) == ("end_turn", len(text) // 4)


def test_a_stream_has_the_events_of_the_service(sdk: Anthropic, claude: ClaudeEmulator) -> None:
    claude.script(ToolUse("read", {"path": "a"}))
    tools = [{"name": "read", "input_schema": make_closed_schema(path=TEXT)}]
    kinds = [event.type for event in ask(sdk, stream=True, tools=tools)]
    block = ["content_block_start", "content_block_delta", "content_block_stop"]
    assert kinds[:4] == ["message_start", *block[:2], "content_block_delta"]
    assert kinds[4:] == ["content_block_stop", *block, "message_delta", "message_stop"]


def test_a_stream_may_refuse(sdk: Anthropic, claude: ClaudeEmulator) -> None:
    claude.script(Refusal())
    with sdk.messages.stream(model=MODEL, max_tokens=500, messages=HELLO) as stream:  # type: ignore[arg-type]
        assert stream.get_final_message().stop_reason == "refusal"


def test_an_error_in_a_stream_arrives_after_the_text(sdk: Anthropic, claude: ClaudeEmulator) -> None:
    claude.script(MidStreamError("Half of it"))
    heard: list[str] = []
    with (
        pytest.raises(anthropic.APIStatusError) as caught,
        sdk.messages.stream(model=MODEL, max_tokens=500, messages=HELLO) as stream,  # type: ignore[arg-type]
    ):
        heard.extend(stream.text_stream)
    assert ("".join(heard), caught.value.status_code) == ("Half of it", 200)


def test_a_stream_may_be_left_early(sdk: Anthropic, claude: ClaudeEmulator) -> None:
    claude.pace = 0.1
    claude.script(Text("word " * 500))
    began = time.monotonic()
    with sdk.messages.stream(model=MODEL, max_tokens=5000, messages=HELLO) as stream:  # type: ignore[arg-type]
        next(iter(stream.text_stream))
    assert time.monotonic() - began < 10


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
@pytest.mark.slow
def test_a_failure_has_its_status_and_type(
    sdk: Anthropic, claude: ClaudeEmulator, status: int, kind: str, error: type[Exception], stream: bool
) -> None:
    claude.script(Failure(status, kind, "Not now", retry_after=7))
    with pytest.raises(error, match="Not now") as caught:
        ask(sdk, stream=stream)
    status_error: Any = caught.value
    assert (status_error.status_code, status_error.body["error"]["type"]) == (status, kind)
    assert status_error.response.headers["retry-after"] == "7"


def test_a_mid_stream_error_without_a_stream_is_a_plain_failure(sdk: Anthropic, claude: ClaudeEmulator) -> None:
    claude.script(MidStreamError("Half", "api_error"))
    with pytest.raises(anthropic.InternalServerError):
        ask(sdk)


def test_a_dropped_connection(sdk: Anthropic, claude: ClaudeEmulator) -> None:
    claude.script(Drop())
    with pytest.raises(anthropic.APIConnectionError):
        ask(sdk)


def test_a_hanging_call_times_out_and_does_not_hold_the_emulator() -> None:
    began = time.monotonic()
    with ClaudeEmulator() as claude, Anthropic(base_url=claude.url, api_key=claude.api_key) as sdk:
        claude.script(Hang(30))
        with pytest.raises(anthropic.APITimeoutError):
            ask(sdk.with_options(max_retries=0), timeout=0.1)
    assert time.monotonic() - began < 20


def test_the_sdk_retries_an_overload(claude: ClaudeEmulator, sdk: Anthropic) -> None:
    claude.script(Failure(529, "overloaded_error", retry_after=0.01), Text("Now"))
    assert text_of(ask(sdk.with_options(max_retries=1))) == "Now"
    assert len(claude.requests) == 2


# --- what it counts


def test_characters_are_counted_over_all_requests(sdk: Anthropic, claude: ClaudeEmulator) -> None:
    ask(sdk, system="S", **make_output_config(SUMMARY))
    ask(sdk)
    expected = len(json.dumps("S")) + 2 * len(json.dumps(HELLO)) + len(json.dumps(SUMMARY))
    assert claude.input_characters() == expected
    assert [body["model"] for body in claude.requests] == [MODEL, MODEL]


def test_the_most_calls_at_once_are_counted(sdk: Anthropic, claude: ClaudeEmulator) -> None:
    together = threading.Barrier(4)

    def wait(_body: dict[str, Any]) -> Step:
        together.wait(5)
        return Text("ok")

    claude.respond = wait
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: ask(sdk), range(4)))
    claude.respond = default_answer
    ask(sdk)
    assert claude.in_flight_peak == 4
