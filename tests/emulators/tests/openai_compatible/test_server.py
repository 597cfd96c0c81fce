from collections.abc import Iterator
from typing import Any

import pytest
from openai import APIStatusError, OpenAI
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from tests.emulators.claude.questions import make_closed_schema
from tests.emulators.claude.script import Failure, Json, MidStreamError, Text, ToolUses
from tests.emulators.openai_compatible.server import LARGE, SMALL, OpenAIEmulator

HELLO: list[Any] = [{"role": "user", "content": "Hello"}]
SCHEMA = make_closed_schema(ready={"type": "boolean"})
FORMAT: dict[str, Any] = {
    "type": "json_schema",
    "json_schema": {"name": "answer", "schema": SCHEMA, "strict": True},
}
TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "read",
        "description": "Reads.",
        "parameters": make_closed_schema(path={"type": "string"}),
    },
}
CALL = {"id": "a", "type": "function", "function": {"name": "read", "arguments": "{}"}}
RESULT = {"role": "tool", "tool_call_id": "a", "content": "found"}


@pytest.fixture(scope="module")
def model_server() -> Iterator[OpenAIEmulator]:
    with OpenAIEmulator() as emulator:
        yield emulator


@pytest.fixture(scope="module")
def client(model_server: OpenAIEmulator) -> Iterator[OpenAI]:
    with OpenAI(
        base_url=model_server.address,
        api_key=model_server.api_key,
        max_retries=0,
        _strict_response_validation=True,
    ) as openai_client:
        yield openai_client


def ask(client: OpenAI, **fields: Any) -> Any:
    request = {"model": SMALL, "messages": HELLO, "max_tokens": 100, **fields}
    return client.chat.completions.create(**request)


def test_an_answer_is_one_of_the_official_types(model_server: OpenAIEmulator, client: OpenAI) -> None:
    model_server.script(Json({"ready": True}))
    answer = ask(client, response_format=FORMAT)
    assert isinstance(answer, ChatCompletion)
    assert (answer.choices[0].message.content, answer.choices[0].finish_reason) == ('{"ready": true}', "stop")
    assert answer.usage is not None
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens


def test_a_stream_has_calls_in_parts_then_usage(model_server: OpenAIEmulator, client: OpenAI) -> None:
    calls: tuple[tuple[str, dict[str, Any]], ...] = (("read", {"path": "x" * 60}), ("read", {"path": "b"}))
    model_server.script(ToolUses(calls, text="Look."))
    chunks: list[ChatCompletionChunk] = list(
        ask(client, tools=[TOOL], stream=True, stream_options={"include_usage": True})
    )
    parts = [part for chunk in chunks for choice in chunk.choices for part in choice.delta.tool_calls or []]
    arguments = ["", ""]
    for part in parts:
        assert part.function is not None
        arguments[part.index] += part.function.arguments or ""
    assert arguments == [f'{{"path": "{"x" * 60}"}}', '{"path": "b"}']
    assert chunks[-2].choices[0].finish_reason == "tool_calls"
    assert (chunks[-1].choices, chunks[-1].usage is not None) == ([], True)


def test_it_lists_its_models(client: OpenAI) -> None:
    assert [model.id for model in client.models.list()] == [SMALL, LARGE]


def test_errors_have_the_forms_of_the_protocol(model_server: OpenAIEmulator, client: OpenAI) -> None:
    model_server.script(
        Failure(429, "RateLimitError", "Later", retry_after=3), MidStreamError("Half", "api_error")
    )
    with pytest.raises(APIStatusError) as caught:
        ask(client)
    assert (caught.value.status_code, caught.value.response.headers["retry-after"]) == (429, "3")
    with pytest.raises(Exception, match="api_error"):
        list(ask(client, stream=True))


REFUSED: dict[str, dict[str, Any]] = {
    "an unknown field": {"extra_body": {"thinking": {}}},
    "no room": {"max_tokens": 0},
    "more than the window": {"max_tokens": 131_072},
    "usage without a stream": {"stream_options": {"include_usage": True}},
    "another model": {"model": "test/none"},
    "no message": {"messages": []},
    "an unknown role": {"messages": [{"role": "model", "content": "x"}]},
    "a field of another protocol": {"messages": [{**HELLO[0], "cache_control": {}}]},
    "blank text": {"messages": [{"role": "user", "content": " "}]},
    "a late system": {"messages": [*HELLO, {"role": "system", "content": "x"}]},
    "an answer first": {"messages": [{"role": "assistant", "content": "x"}, *HELLO]},
    "an answer last": {"messages": [*HELLO, {"role": "assistant", "content": "x"}]},
    "two of the same role": {"messages": [*HELLO, *HELLO]},
    "a result of no call": {"messages": [*HELLO, RESULT], "tools": [TOOL]},
    "a call without a result": {
        "messages": [*HELLO, {"role": "assistant", "tool_calls": [CALL]}, *HELLO],
        "tools": [TOOL],
    },
    "calls without tools": {"messages": [*HELLO, {"role": "assistant", "tool_calls": [CALL]}, RESULT]},
    "arguments that are no object": {
        "messages": [
            *HELLO,
            {"role": "assistant", "tool_calls": [{**CALL, "function": {"name": "read", "arguments": "{nope"}}]},
            RESULT,
        ],
        "tools": [TOOL],
    },
    "a choice without tools": {"tool_choice": "auto"},
    "no tools": {"tools": []},
    "a tool in another form": {"tools": [{"name": "read", "input_schema": SCHEMA}]},
    "a format without a name": {"response_format": {"type": "json_schema", "json_schema": {"schema": SCHEMA}}},
    "a broken schema": {
        "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "wrong"}}}
    },
    "an open strict schema": {
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "a", "strict": True, "schema": {"type": "object", "properties": {}}},
        }
    },
    "a schema that no grammar holds to": {
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "a", "schema": {"type": "object", "patternProperties": {}}},
        }
    },
    "a format for a turn with tools": {"response_format": FORMAT, "tools": [TOOL]},
}


@pytest.mark.parametrize("fields", REFUSED.values(), ids=REFUSED)
def test_what_is_not_of_the_protocol_is_refused(
    model_server: OpenAIEmulator, client: OpenAI, fields: dict[str, Any]
) -> None:
    with pytest.raises(APIStatusError) as caught:
        ask(client, **fields)
    assert 400 <= caught.value.status_code < 500
    assert model_server.problems == []


def test_a_conversation_with_calls_is_taken(model_server: OpenAIEmulator, client: OpenAI) -> None:
    model_server.script(Text("Much."))
    assistant_turn = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    assert (
        ask(client, messages=[*HELLO, assistant_turn, RESULT], tools=[TOOL]).choices[0].message.content == "Much."
    )


def test_a_wrong_key_is_refused(model_server: OpenAIEmulator) -> None:
    with (
        OpenAI(base_url=model_server.address, api_key="wrong", max_retries=0) as client,
        pytest.raises(APIStatusError) as caught,
    ):
        ask(client)
    assert caught.value.status_code == 401
