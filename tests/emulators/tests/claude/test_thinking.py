from typing import Any

import anthropic
import pytest
from anthropic import Anthropic

from tests.emulators.claude.questions import HELLO, TOOLS, answer_calls, ask, stream_message, text_of
from tests.emulators.claude.server import ClaudeEmulator, Text, ToolUse

ASKS = pytest.mark.parametrize("asks", [ask, stream_message], ids=["create", "stream"])
CALL = ToolUse("read", {"path": "a.py"}, text="Let me look.")


def blocks_of(message: Any) -> list[dict[str, Any]]:
    return [block.to_dict() for block in message.content]


def with_content(turns: list[Any], content: list[dict[str, Any]]) -> list[Any]:
    """The conversation with another content of the turn before the last."""
    return [*turns[:-2], {"role": "assistant", "content": content}, turns[-1]]


@ASKS
def test_each_message_is_signed_anew_and_a_loop_may_go_on(
    sdk: Anthropic, claude: ClaudeEmulator, asks: Any
) -> None:
    claude.script(CALL, CALL, Text("Done"))
    first = asks(sdk, tools=TOOLS)
    turns = answer_calls(first)
    second = asks(sdk, tools=TOOLS, messages=turns)
    assert first.content[0].signature != second.content[0].signature
    assert first.content[-1].id != second.content[-1].id
    last = asks(sdk, tools=TOOLS, messages=answer_calls(second, turns=turns))
    assert text_of(last) == "Done"


@ASKS
def test_a_loop_without_its_thought_is_refused(sdk: Anthropic, claude: ClaudeEmulator, asks: Any) -> None:
    claude.script(CALL)
    called = asks(sdk, tools=TOOLS)
    thought, *rest = blocks_of(called)
    for content, message in (
        (rest, "Expected `thinking`, but found `text`"),
        (rest[-1:], "Expected `thinking`, but found `tool_use`"),
        ([rest[0], thought, rest[1]], "Expected `thinking`, but found `text`"),
        ([{**thought, "thinking": "Other."}, *rest], "modified"),
        ([{**thought, "signature": "b3RoZXI="}, *rest], "Invalid `signature`"),
        ([{**thought, "cache_control": {"type": "ephemeral"}}, *rest], "cache_control"),
    ):
        with pytest.raises(anthropic.BadRequestError, match=message):
            asks(sdk, tools=TOOLS, messages=with_content(answer_calls(called), content))
    assert claude.problems == []


def test_the_thought_of_another_turn_does_not_do(sdk: Anthropic, claude: ClaudeEmulator) -> None:
    claude.script(CALL, CALL)
    first = ask(sdk, tools=TOOLS)
    turns = answer_calls(first)
    second = ask(sdk, tools=TOOLS, messages=turns)
    swapped = [blocks_of(first)[0], *blocks_of(second)[1:]]
    with pytest.raises(anthropic.BadRequestError, match="latest assistant message cannot be modified"):
        ask(sdk, tools=TOOLS, messages=with_content(answer_calls(second, turns=turns), swapped))


def test_a_turn_that_is_over_may_leave_its_thought_out(sdk: Anthropic, claude: ClaudeEmulator) -> None:
    claude.script(CALL, Text("Done"))
    called = ask(sdk, tools=TOOLS)
    turns = answer_calls(called)
    done = ask(sdk, tools=TOOLS, messages=turns)
    bare = with_content(turns, blocks_of(called)[1:])
    later = [*bare, {"role": "assistant", "content": text_of(done)}, *HELLO]
    assert text_of(ask(sdk, tools=TOOLS, messages=later))
    kept = [*turns, {"role": "assistant", "content": done.content}, *HELLO]
    assert text_of(ask(sdk, tools=TOOLS, messages=kept))


@pytest.mark.parametrize(
    "overrides", [{"model": "claude-haiku-4-5"}, {"thinking": {"type": "disabled"}}], ids=["older", "disabled"]
)
def test_without_thinking_there_is_nothing_to_bring_back(
    sdk: Anthropic, claude: ClaudeEmulator, overrides: dict[str, Any]
) -> None:
    claude.script(CALL, Text("Done"))
    called = ask(sdk, tools=TOOLS, **overrides)
    assert [block.type for block in called.content] == ["text", "tool_use"]
    assert text_of(ask(sdk, tools=TOOLS, messages=answer_calls(called), **overrides)) == "Done"
