"""What the Claude emulator refuses, seen through the SDK that the product uses."""

from typing import Any

import anthropic
import httpx2
import pytest
from anthropic import Anthropic

from tests.emulators.claude.questions import HELLO, MODEL, TEXT, ask, make_closed_schema, make_output_config
from tests.emulators.claude.server import ClaudeEmulator, Json


def make_marked_blocks(count: int) -> list[dict[str, Any]]:
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
        ({"messages": [{"role": "user", "content": " "}]}, "messages: .* must contain non-whitespace text"),
        ({"messages": [{"role": "user", "content": [{"type": "text", "text": ""}]}]}, "must be non-empty"),
        ({"messages": [*HELLO, {"role": "assistant", "content": "\n\n"}, *HELLO]}, "non-whitespace text"),
        ({"system": [{"type": "text", "text": " "}]}, "system: .* must contain non-whitespace text"),
        ({"messages": [*HELLO, {"role": "assistant", "content": "{"}]}, "prefill"),
        ({"extra_body": {"temperature": 0}}, "temperature"),
        ({"extra_body": {"top_p": 1}}, "top_p"),
        ({"extra_body": {"top_k": 1}}, "top_k"),
        ({"system": make_marked_blocks(5)}, "cache_control"),
        ({"system": make_marked_blocks(4), "cache_control": {"type": "ephemeral"}}, "cache_control"),
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
                "tools": [{"name": "t", "input_schema": make_closed_schema()}],
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
        (make_closed_schema(a={"type": "array", "items": {"type": "object"}}), "schema.a.items: for 'object'"),
        (make_closed_schema(a={"anyOf": [{"type": ["object", "null"]}]}), "schema.a.anyOf"),
        ({**make_closed_schema(), "$defs": {"d": {"type": "string", "maxLength": 5}}}, "maxLength"),
        (make_closed_schema(a={"type": "integer", "minimum": 1}), "minimum"),
        (make_closed_schema(a={"type": "string", "pattern": "x"}), "pattern"),
        (make_closed_schema(a={"type": "array", "items": TEXT, "maxItems": 3}), "maxItems"),
        (make_closed_schema(a={"type": "array", "items": TEXT, "minItems": 2}), "minItems"),
        (make_closed_schema(a={"oneOf": [TEXT]}), "oneOf"),
    ],
)
def test_a_schema_the_service_does_not_take(strict: Anthropic, schema: dict[str, Any], message: str) -> None:
    with pytest.raises(anthropic.BadRequestError, match=message):
        ask(strict, **make_output_config(schema))


def test_a_property_may_be_called_like_a_keyword(sdk: Anthropic, claude: ClaudeEmulator) -> None:
    claude.script(Json({"pattern": "p", "items": ["i"]}))
    schema = make_closed_schema(pattern=TEXT, items={"type": "array", "items": TEXT, "minItems": 1})
    assert ask(sdk, **make_output_config(schema)).stop_reason == "end_turn"


def test_an_unknown_model_is_not_found(strict: Anthropic) -> None:
    with pytest.raises(anthropic.NotFoundError, match="claude-nobody"):
        ask(strict, model="claude-nobody")


def test_an_older_model_takes_a_prefill(strict: Anthropic) -> None:
    turns = [*HELLO, {"role": "assistant", "content": "{"}]
    assert ask(strict, model="claude-haiku-4-5", messages=turns).stop_reason == "end_turn"


@pytest.mark.parametrize("header", ["x-api-key", "authorization"])
def test_the_key_may_come_in_either_header(claude: ClaudeEmulator, header: str) -> None:
    body = {"model": MODEL, "max_tokens": 5, "messages": HELLO}
    prefix = "Bearer " if header == "authorization" else ""
    with httpx2.Client(base_url=claude.url, headers={"anthropic-version": "2023-06-01"}) as plain:
        for key, status in ((claude.api_key, 200), ("other", 401)):
            response = plain.post("/v1/messages", json=body, headers={header: prefix + key})
            assert response.status_code == status
        assert plain.post("/v1/messages", json=body).json()["error"]["type"] == "authentication_error"


def test_what_no_sdk_sends_is_refused_too(claude: ClaudeEmulator) -> None:
    key = {"x-api-key": claude.api_key}
    version = {"anthropic-version": "2023-06-01"}
    with httpx2.Client(base_url=claude.url, headers=key) as plain:
        assert plain.post("/v1/messages", json={}).status_code == 400
        assert plain.post("/v1/messages", content=b"{", headers=version).status_code == 400
        assert plain.post("/v1/other", json={}, headers=version).status_code == 404
        assert plain.post("/v1/messages", content=b" " * (32 * 1024 * 1024 + 1)).status_code == 413
