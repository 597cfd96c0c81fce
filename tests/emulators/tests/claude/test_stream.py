import time
from typing import Any

import anthropic
import httpx2
import pytest
from anthropic import Anthropic

from tests.emulators.claude.questions import HELLO, MODEL, TOOLS, ask, stream_message, text_of
from tests.emulators.claude.server import ClaudeEmulator, Cut, MidStreamError, Stall, Text, ToolUse


def hear_stream(sdk: Anthropic, into: list[str], **overrides: Any) -> None:
    """Listen to a stream's text until it ends or breaks."""
    with sdk.messages.stream(**{"model": MODEL, "max_tokens": 500, "messages": HELLO, **overrides}) as stream:
        into.extend(stream.text_stream)


def raw_kinds(claude: ClaudeEmulator) -> list[str]:
    """The kinds of all events of a stream, also of those that the SDK keeps to itself."""
    headers = {"x-api-key": claude.api_key, "anthropic-version": "2023-06-01"}
    body = {"model": MODEL, "max_tokens": 500, "messages": HELLO, "stream": True}
    lines = httpx2.post(f"{claude.url}/v1/messages", json=body, headers=headers).text.splitlines()
    return [line.removeprefix("event: ") for line in lines if line.startswith("event: ")]


# --- pace and silence


@pytest.mark.parametrize("stream", [False, True])
def test_a_step_has_its_own_pace(sdk: Anthropic, claude: ClaudeEmulator, stream: bool) -> None:
    claude.pace = 5
    claude.script(Text("one two three", pace=0.01))
    began = time.monotonic()
    text = text_of(stream_message(sdk) if stream else ask(sdk))
    spent = time.monotonic() - began
    assert text == "one two three"
    # ten events at least; without a stream there is nothing to pace
    assert (0.1 if stream else 0) <= spent < 30


def test_a_stall_sends_pings_and_goes_on(claude: ClaudeEmulator) -> None:
    claude.script(Stall("Half of it", 0.1, " and the rest"))
    begun = ["message_start", "ping"]
    thought = ["content_block_start", *["content_block_delta"] * 2, "content_block_stop"]
    text_events = [
        "content_block_start",
        "content_block_delta",
        *["ping"] * 4,
        "content_block_delta",
        "content_block_stop",
    ]
    assert raw_kinds(claude) == [*begun, *thought, *text_events, "message_delta", "message_stop"]


@pytest.mark.parametrize(("before", "rest"), [("Half", " rest"), ("Half", ""), ("", "rest")])
@pytest.mark.parametrize("stream", [False, True])
def test_a_stall_ends_as_any_answer(
    sdk: Anthropic, claude: ClaudeEmulator, before: str, rest: str, stream: bool
) -> None:
    claude.script(Stall(before, 0.05, rest))
    began = time.monotonic()
    message = stream_message(sdk) if stream else ask(sdk)
    assert (text_of(message), message.stop_reason) == (before + rest, "end_turn")
    assert time.monotonic() - began >= 0.05


@pytest.mark.slow
def test_pings_keep_the_sdk_from_timing_out(sdk: Anthropic, claude: ClaudeEmulator) -> None:
    claude.script(Stall("Half", 1.3, " rest", pings=9))
    pieces: list[str] = []
    hear_stream(sdk, pieces, timeout=1)
    assert pieces == ["Half", " rest"]


def test_silence_without_pings_times_out_with_the_error_of_the_http_client(
    sdk: Anthropic, claude: ClaudeEmulator
) -> None:
    claude.script(Stall("Half", 20, pings=0))
    pieces: list[str] = []
    with pytest.raises(httpx2.ReadTimeout):
        hear_stream(sdk.with_options(max_retries=2), pieces, timeout=1)
    assert (pieces, len(claude.requests)) == (["Half"], 1)


# --- streams that break


@pytest.mark.parametrize("before", ["Half of it", ""])
@pytest.mark.parametrize("kind", ["overloaded_error", "rate_limit_error"])
def test_an_error_breaks_a_stream_and_is_not_retried(
    sdk: Anthropic, claude: ClaudeEmulator, before: str, kind: str
) -> None:
    claude.script(MidStreamError(before, kind))
    pieces: list[str] = []
    with pytest.raises(anthropic.APIStatusError) as caught:
        hear_stream(sdk.with_options(max_retries=2), pieces)
    assert ("".join(pieces), caught.value.status_code, caught.value.type) == (before, 200, kind)
    assert type(caught.value) is anthropic.APIStatusError
    assert len(claude.requests) == 1


def test_an_error_before_any_text_comes_first_of_all(claude: ClaudeEmulator) -> None:
    claude.script(MidStreamError(""))
    assert raw_kinds(claude) == ["message_start", "ping", "error"]


@pytest.mark.parametrize("before", ["Half of it", ""])
def test_a_cut_arrives_as_an_error_of_the_http_client(sdk: Anthropic, claude: ClaudeEmulator, before: str) -> None:
    claude.script(Cut(before))
    pieces: list[str] = []
    with pytest.raises(httpx2.RemoteProtocolError):
        hear_stream(sdk.with_options(max_retries=2), pieces)
    assert ("".join(pieces), len(claude.requests)) == (before, 1)


@pytest.mark.parametrize("before", ["Half of it", ""])
def test_a_clean_cut_shows_only_in_the_missing_stop_reason(
    sdk: Anthropic, claude: ClaudeEmulator, before: str
) -> None:
    claude.script(Cut(before, clean=True))
    message = stream_message(sdk)
    assert (text_of(message), message.stop_reason) == (before, None)


def test_a_cut_without_a_stream_is_a_lost_connection(sdk: Anthropic, claude: ClaudeEmulator) -> None:
    claude.script(Cut("Half"), Text("Whole"))
    assert text_of(ask(sdk.with_options(max_retries=1))) == "Whole"


@pytest.mark.parametrize("step", [MidStreamError("a"), Cut("a"), Cut("")])
def test_a_broken_stream_leaves_the_emulator_in_order(
    sdk: Anthropic, claude: ClaudeEmulator, step: Cut | MidStreamError
) -> None:
    claude.script(step)
    with pytest.raises((anthropic.APIStatusError, httpx2.RemoteProtocolError)):
        stream_message(sdk)
    assert text_of(stream_message(sdk)) == "Nothing to add."
    assert (claude.problems, claude.in_flight_peak) == ([], 1)


# --- usage


def test_a_stream_says_its_usage_at_both_ends(sdk: Anthropic, claude: ClaudeEmulator) -> None:
    claude.script(ToolUse("read", {"path": "a.py"}, text="Let me look at it."))
    prompt = [{"type": "text", "text": "a" * 8000, "cache_control": {"type": "ephemeral", "ttl": "1h"}}]
    events = list(ask(sdk, stream=True, tools=TOOLS, system=prompt))
    start, delta = events[0].message.usage, events[-2].usage
    counts = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    assert [getattr(start, name) for name in counts] == [getattr(delta, name) for name in counts]
    assert start.output_tokens == 1
    assert delta.output_tokens == claude.usages[0]["output_tokens"] > 1
    assert start.cache_creation.ephemeral_1h_input_tokens == start.cache_creation_input_tokens > 2000
    assert "cache_creation" not in delta.to_dict()


def test_the_usage_of_every_answer_is_kept_in_order(sdk: Anthropic, claude: ClaudeEmulator) -> None:
    claude.script(Text("x" * 40), MidStreamError("x" * 80), Text("x" * 120))
    ask(sdk)
    with pytest.raises(anthropic.APIStatusError):
        stream_message(sdk)
    with pytest.raises(anthropic.BadRequestError):
        ask(sdk, max_tokens=0)
    last = stream_message(sdk)
    assert [usage["output_tokens"] for usage in claude.usages] == [10, 20, 30]
    assert last.usage.to_dict() == claude.usages[-1]
