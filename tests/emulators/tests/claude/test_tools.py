"""The Claude emulator's tools: what a request may offer, and what a scripted answer may call."""

from typing import Any

import anthropic
import pytest
from anthropic import Anthropic

from tests.emulators.claude.questions import (
    FIND,
    HELLO,
    READ,
    TOOLS,
    answer_calls,
    ask,
    make_closed_schema,
    stream_message,
    text_of,
)
from tests.emulators.claude.server import ClaudeEmulator, MidStreamError, Step, Text, ToolUse, ToolUses

ASKS = pytest.mark.parametrize("asks", [ask, stream_message], ids=["create", "stream"])

# --- what the service refuses


def tool(**overrides: Any) -> dict[str, Any]:
    return {**READ, **overrides}


@pytest.mark.parametrize(
    ("tools", "message"),
    [
        ([tool(name="read file")], "tools.0.custom.name"),
        ([READ, tool(name="")], "tools.1.custom.name"),
        ([tool(name="x" * 129)], "name"),
        ([tool(name="read\n")], "name"),
        ([READ, READ], "unique"),
        ([tool(description=None)], "description"),
        ([{"name": "read"}], "input_schema: Field required"),
        ([tool(input_schema={"type": "string"})], "input_schema.type"),
        ([tool(input_schema={})], "input_schema.type"),
        ([tool(input_schema={"type": "object", "anyOf": [make_closed_schema()]})], "top level"),
        ([tool(input_schema={"type": "object", "properties": {"a": {"type": "words"}}})], "schema is invalid"),
        ([tool(strict="yes")], "strict"),
        ([tool(strict=True, input_schema={"type": "object"})], "additionalProperties"),
        ([tool(strict=True, input_schema=make_closed_schema(a={"type": "string", "maxLength": 5}))], "maxLength"),
    ],
)
def test_a_wrong_tool_is_refused(strict: Anthropic, tools: list[Any], message: str) -> None:
    with pytest.raises(anthropic.BadRequestError, match=message):
        ask(strict, tools=tools)


def test_only_a_strict_tool_is_held_to_the_rules_of_structured_output(strict: Anthropic) -> None:
    loose = {"type": "object", "properties": {"a": {"type": "string", "maxLength": 5}}}
    assert text_of(ask(strict, tools=[tool(input_schema=loose), {**FIND, "strict": True}]))


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"type": "some"}, "some"),
        ({}, "none of"),
        ({"type": "tool", "name": "write"}, "'write' not found"),
        ({"type": "tool"}, "not found"),
        ({"type": "auto", "name": "read"}, "Extra inputs"),
        ({"type": "none", "disable_parallel_tool_use": True}, "Extra inputs"),
    ],
)
def test_a_wrong_tool_choice_is_refused(strict: Anthropic, choice: dict[str, Any], message: str) -> None:
    with pytest.raises(anthropic.BadRequestError, match=message):
        ask(strict, tools=TOOLS, tool_choice=choice)


@pytest.mark.parametrize("kind", ["auto", "any", "none"])
def test_a_tool_choice_needs_tools(strict: Anthropic, kind: str) -> None:
    assert text_of(ask(strict, tools=TOOLS, tool_choice={"type": kind}))
    with pytest.raises(anthropic.BadRequestError, match="while providing tools"):
        ask(strict, tool_choice={"type": kind})


@pytest.mark.parametrize("model", ["claude-sonnet-5-5", "claude-opus-5-5"])
def test_the_larger_models_take_none(strict: Anthropic, model: str) -> None:
    assert text_of(ask(strict, model=model, tools=TOOLS, tool_choice={"type": "none"}))


@ASKS
def test_a_conversation_with_calls_needs_its_tools(sdk: Anthropic, claude: ClaudeEmulator, asks: Any) -> None:
    claude.script(ToolUse("read", {"path": "a.py"}), Text("Done"))
    turns = answer_calls(asks(sdk, tools=TOOLS))
    with pytest.raises(anthropic.BadRequestError, match="must define tools"):
        asks(sdk, messages=turns)
    assert text_of(asks(sdk, messages=turns, tools=TOOLS, tool_choice={"type": "none"})) == "Done"


def test_results_come_before_anything_else(sdk: Anthropic, claude: ClaudeEmulator) -> None:
    claude.script(ToolUse("read", {"path": "a.py"}), Text("Done"))
    *turns, last = answer_calls(ask(sdk, tools=TOOLS))
    text_block = {"type": "text", "text": "And now?"}
    with pytest.raises(anthropic.BadRequestError, match="must come first"):
        ask(sdk, tools=TOOLS, messages=[*turns, {**last, "content": [text_block, *last["content"]]}])
    messages = [*turns, {**last, "content": [*last["content"], text_block]}]
    assert text_of(ask(sdk, tools=TOOLS, messages=messages)) == "Done"


@ASKS
@pytest.mark.parametrize(("text", "message"), [("", "non-empty"), ("\n\n", "non-whitespace text")])
def test_a_turn_may_say_nothing_before_a_call_but_not_be_sent_back_like_that(
    sdk: Anthropic, claude: ClaudeEmulator, asks: Any, text: str, message: str
) -> None:
    claude.script(ToolUse("read", {"path": "a.py"}, text=text), Text("Done"))
    called = asks(sdk, tools=TOOLS)
    assert [block.type for block in called.content] == ["thinking", "text", "tool_use"]
    first, assistant_turn, last = answer_calls(called)
    with pytest.raises(anthropic.BadRequestError, match=message):
        asks(sdk, tools=TOOLS, messages=[first, assistant_turn, last])
    less = {**assistant_turn, "content": [block for block in assistant_turn["content"] if block.type != "text"]}
    assert text_of(asks(sdk, tools=TOOLS, messages=[first, less, last])) == "Done"


def test_a_tool_that_failed_says_something(sdk: Anthropic, claude: ClaudeEmulator) -> None:
    claude.script(ToolUse("read", {"path": "a.py"}), Text("Done"))
    *turns, last = answer_calls(ask(sdk, tools=TOOLS))
    silent = {**last["content"][0], "content": ""}
    with pytest.raises(anthropic.BadRequestError, match="cannot be empty if `is_error` is true"):
        ask(sdk, tools=TOOLS, messages=[*turns, {**last, "content": [{**silent, "is_error": True}]}])
    blank = [{"type": "text", "text": " "}]
    with pytest.raises(anthropic.BadRequestError, match="non-whitespace text"):
        ask(sdk, tools=TOOLS, messages=[*turns, {**last, "content": [{**silent, "content": blank}]}])
    assert text_of(ask(sdk, tools=TOOLS, messages=[*turns, {**last, "content": [silent]}])) == "Done"


# --- what a test may script

CALL = ToolUse("read", {"path": "a.py"})
BOTH = ToolUses((("read", {"path": "a.py"}), ("find", {"word": "x"})))


@pytest.mark.parametrize(
    ("step", "overrides", "problem"),
    [
        (ToolUse("write", {"path": "a.py"}), {}, "no tool 'write'"),
        (ToolUse("read", {"path": 1}), {}, r"\$.path"),
        (ToolUse("read", {}), {}, "'path' is a required property"),
        (ToolUses((("read", {"path": "a.py"}), ("find", {}))), {}, "'word' is a required property"),
        (ToolUses(()), {}, "needs a call"),
        (CALL, {"tools": []}, "has no tools"),
        (CALL, {"tool_choice": {"type": "none"}}, "tool_choice is none"),
        (
            ToolUse("read", {"path": "a.py"}, lenient=True),
            {"tool_choice": {"type": "none"}},
            "tool_choice is none",
        ),
        (CALL, {"tool_choice": {"type": "tool", "name": "find"}}, "tool_choice is 'find'"),
        (BOTH, {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}, "several calls"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_a_call_that_no_model_could_make_is_the_tests_mistake(
    sdk: Anthropic, claude: ClaudeEmulator, step: Step, overrides: dict[str, Any], problem: str, stream: bool
) -> None:
    claude.script(step)
    with pytest.raises(anthropic.InternalServerError, match=problem):
        ask(sdk, stream=stream, **{"tools": TOOLS, **overrides})
    assert len(claude.problems) == 1


@ASKS
def test_a_lenient_call_may_be_wrong(sdk: Anthropic, claude: ClaudeEmulator, asks: Any) -> None:
    claude.script(ToolUse("write", {}, lenient=True), ToolUses((("read", {"path": 1}),), lenient=True))
    assert [asks(sdk, tools=TOOLS).content[-1].name for _ in range(2)] == ["write", "read"]
    assert claude.problems == []


@ASKS
def test_several_calls_in_one_turn(sdk: Anthropic, claude: ClaudeEmulator, asks: Any) -> None:
    same = ("read", {"path": "a file whose name is longer than one event of the stream"})
    claude.script(ToolUses((same, same, ("find", {"word": "ü"})), text="Both."), Text("Done"))
    called = asks(sdk, tools=TOOLS)
    assert [block.type for block in called.content] == ["thinking", "text", *["tool_use"] * 3]
    uses = called.content[2:]
    assert [(use.name, use.input) for use in uses] == [same, same, ("find", {"word": "ü"})]
    assert len({use.id for use in uses}) == 3
    assert called.stop_reason == "tool_use"
    turns = answer_calls(called)
    less = [*turns[:2], {"role": "user", "content": turns[2]["content"][:2]}]
    with pytest.raises(anthropic.BadRequestError, match="without tool_result"):
        asks(sdk, tools=TOOLS, messages=less)
    assert text_of(asks(sdk, tools=TOOLS, messages=turns)) == "Done"


def test_a_call_without_input(sdk: Anthropic, claude: ClaudeEmulator) -> None:
    claude.script(ToolUse("list", {}))
    bare = {"name": "list", "description": "Lists.", "input_schema": {"type": "object"}}
    assert stream_message(sdk, tools=[bare]).content[-1].input == {}


@ASKS
def test_a_break_within_a_tool_loop(sdk: Anthropic, claude: ClaudeEmulator, asks: Any) -> None:
    claude.script(CALL, MidStreamError("So far"), Text("Done"))
    turns = answer_calls(asks(sdk, tools=TOOLS))
    with pytest.raises(anthropic.APIStatusError):
        asks(sdk, tools=TOOLS, messages=turns)
    assert text_of(asks(sdk, tools=TOOLS, messages=turns)) == "Done"
    assert [len(body["messages"]) for body in claude.requests] == [len(HELLO), 3, 3]
