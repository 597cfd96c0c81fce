"""Turns of an OpenAI-compatible server: text as it comes, rounds of calls, and reasoning that nobody sees."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from bot.errors import ModelBusy, ModelError, ModelRequestRejected
from bot.features.reviews.report import ReviewAnswer
from bot.platform.models import TextDelta, TextPart, Turn
from bot.platform.models.completion import build_schema
from bot.usage import NO_USAGE
from tests.emulators.claude.script import (
    Cut,
    Hang,
    Json,
    MidStreamError,
    Stall,
    Step,
    Text,
    ToolUse,
    ToolUses,
    Truncated,
    review_answer,
    summary_answer,
    suspicion,
)
from tests.emulators.openai_compatible.replies import Reasoning
from tests.emulators.openai_compatible.server import OpenAIEmulator
from tests.helpers.talks import Reply, converse
from tests.platform.models.claude.test_chat import Ear
from tests.platform.models.model_steps import CLEAN, HALF, STEPS, Told
from tests.platform.models.openai_compatible.asking import (
    CHAT,
    PROMPT,
    answer_calls,
    open_model,
    talk,
    talk_failure,
)

WORDS = "Requests are counted once, because the counter moved to the only place that counts. " * 5
REASONINGS: tuple[Reasoning, ...] = ("", "reasoning", "reasoning_content", "marked", "unmarked")


def deltas(reply: Reply) -> list[str]:
    return [event.text for event in reply.events if isinstance(event, TextDelta)]


def rounds(served: OpenAIEmulator, *steps: Step) -> list[Reply]:
    """One reply after the other, the results of its tools in between."""
    chat, replies = CHAT, list[Reply]()
    for step in steps:
        replies.append(talk(served, step, chat=chat))
        chat = answer_calls(chat, replies[-1])
    return replies


# --- text


def test_text_comes_piece_by_piece_once_the_habit_of_the_model_is_known(model_server: OpenAIEmulator) -> None:
    model_server.script(Text(WORDS), Text(WORDS))
    with open_model(model_server.address) as model:
        first, second = converse(model, CHAT), converse(model, CHAT)
    assert (first.words, len(deltas(first))) == (WORDS, 1)
    assert (second.words, len(deltas(second)) > 10) == (WORDS, True)
    told = model_server.usages[1]
    assert (second.usage.input, second.usage.output) == (told["prompt_tokens"], told["completion_tokens"])


@pytest.mark.parametrize(
    "text", ["Größe 日本 🎉" * 20, "a\r\nb\u2028c\n\nd", "data: x\n\ndata: [DONE]\n\n", "\x00 "]
)
@pytest.mark.parametrize("reasoning", ["", "reasoning"])
def test_whatever_the_text_is_it_arrives(model_server: OpenAIEmulator, text: str, reasoning: Reasoning) -> None:
    model_server.reasoning = reasoning
    assert talk(model_server, Text(text)).words == text


@pytest.mark.slow
@pytest.mark.parametrize("reasoning", REASONINGS)
@pytest.mark.parametrize("answer", [WORDS, "It parses `</think>` now.\n```\n</think>\n```\nAnd <think>, too."])
def test_reasoning_is_never_shown_nor_sent_back(
    model_server: OpenAIEmulator, reasoning: Reasoning, answer: str
) -> None:
    model_server.reasoning = reasoning
    model_server.script(*[Text(answer)] * 3)
    with open_model(model_server.address) as model:
        replies = [converse(model, CHAT) for _ in range(3)]
    assert [reply.words for reply in replies] == [answer] * 3
    assert "SECRET" not in str([reply.events for reply in replies])
    live = [len(deltas(reply)) > 1 for reply in replies]
    assert live[1:] == [reasoning != "unmarked"] * 2


def test_a_turn_cut_within_its_thoughts_shows_nothing(model_server: OpenAIEmulator) -> None:
    for text, reasoning in (("<think>\nThey ask", ""), ("They ask about", "")):
        model_server.reasoning = reasoning  # type: ignore[assignment]
        reply = talk(model_server, Truncated(text))
        assert (reply.words, reply.is_cut, reply.turn.model_blocks) == ("", True, ())


def test_the_talks_of_several_threads_do_not_mix(model_server: OpenAIEmulator) -> None:
    model_server.respond = lambda view: Text(view["messages"][0]["content"][0]["text"] * 30, pace=0.001)
    with open_model(model_server.address) as model, ThreadPoolExecutor(4) as pool:

        def ask(number: int) -> str:
            turns = (Turn("person", (TextPart(f"<{number}>"),)),)
            return converse(model, replace(CHAT, turns=turns)).words

        assert list(pool.map(ask, range(4))) == [f"<{number}>" * 30 for number in range(4)]


# --- tools


def test_calls_come_in_order_with_their_arguments(model_server: OpenAIEmulator) -> None:
    tool_calls: tuple[tuple[str, dict[str, Any]], ...] = (
        ("read", {"path": "größe/日本.py"}),
        ("find", {"word": "x" * 200}),
        ("read", {"path": "b.py"}),
    )
    reply = talk(model_server, ToolUses(tool_calls, text="Let me look."))
    assert reply.words == "Let me look."
    assert tuple((call.name, call.arguments) for call in reply.calls) == tool_calls
    assert len({call.id for call in reply.calls}) == 3


@pytest.mark.parametrize("reasoning", REASONINGS)
def test_over_three_rounds_the_server_takes_what_was_said(
    model_server: OpenAIEmulator, reasoning: Reasoning
) -> None:
    model_server.reasoning = reasoning
    look = ToolUse("read", {"path": "a.py"}, text="Let me look.")
    both = ToolUses((("find", {"word": "x"}), ("read", {"path": "b.py"})))
    rounds(model_server, look, both, ToolUse("find", {"word": "y"}, text="\n"), Text("Much."))
    roles = [message["role"] for message in model_server.requests[-1]["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "tool", "tool", "assistant", "tool"]
    assert "SECRET" not in str(model_server.requests)


def test_an_error_of_a_tool_is_told_as_one_and_notes_stand_below(model_server: OpenAIEmulator) -> None:
    reply = talk(model_server, ToolUse("read", {"path": "a.py"}))
    chat = answer_calls(CHAT, reply, "no such file", is_error=True)
    last = replace(chat.turns[-1], parts=(*chat.turns[-1].parts, TextPart("No more tools.")))
    talk(model_server, Text("Much."), chat=replace(chat, turns=(*chat.turns[:-1], last), may_use_tools=False))
    body = model_server.requests[-1]
    assert [message["content"] for message in body["messages"][-2:]] == [
        "The tool failed: no such file",
        "No more tools.",
    ]
    assert (len(body["tools"]), body["tool_choice"]) == (2, "none")


def test_neighbours_become_one_message_and_blank_ones_none(model_server: OpenAIEmulator) -> None:
    more = (Turn("model", (TextPart(" \n"),)), Turn("person", (TextPart("And now?"), TextPart("\t"))))
    talk(model_server, Text("Much."), chat=replace(CHAT, turns=(*CHAT.turns, *more)))
    assert [message["content"] for message in model_server.requests[0]["messages"][1:]] == [
        "A record.\n\nWhat changed?\n\nAnd now?"
    ]


def test_a_server_without_tools_says_how_to_start_it(
    model_server: OpenAIEmulator, caplog: pytest.LogCaptureFixture
) -> None:
    model_server.takes_tools = False
    error = talk_failure(model_server.address)
    assert (type(error), str(error)) == (ModelRequestRejected, "the model's server accepts no tools")
    assert "--enable-auto-tool-choice" in caplog.text


# --- a report in JSON


@pytest.mark.parametrize("takes_format", [True, False])
@pytest.mark.parametrize("reasoning", ["", "unmarked"])
def test_a_report_has_its_schema_with_tools_and_without(
    model_server: OpenAIEmulator, reasoning: Reasoning, *, takes_format: bool
) -> None:
    model_server.takes_format, model_server.reasoning = takes_format, reasoning
    report = Json(review_answer(suspicion()))
    model_server.script(ToolUse("read", {"path": "a.py"}), report, report, report)
    chat = replace(CHAT, schema=build_schema(ReviewAnswer))
    with open_model(model_server.address) as model:
        replies = [converse(model, chat)]
        chat = answer_calls(chat, replies[0])
        replies.append(converse(model, chat))
        replies += [converse(model, replace(chat, may_use_tools=False)) for _ in range(2)]
    assert [len(reply.calls) for reply in replies] == [1, 0, 0, 0]
    assert [bool(ReviewAnswer.model_validate_json(reply.words).suspicions) for reply in replies[1:]] == [True] * 3
    formats = ["response_format" in body for body in model_server.requests]
    assert formats == [False, False, True, True] if takes_format else [False, False, True, False, False]


# --- failures


@pytest.mark.parametrize("end", [Cut, partial(Cut, clean=True), MidStreamError])
@pytest.mark.parametrize(
    ("thought", "kept"), [("<think>\nSECRET</think>\n", WORDS), ("SECRET</think>", WORDS), ("", "")]
)
def test_what_came_of_a_turn_that_breaks_off_is_kept_unless_it_may_be_reasoning(
    model_server: OpenAIEmulator, end: Callable[[str], Step], thought: str, kept: str
) -> None:
    model_server.script(end(thought + WORDS))
    ear = Ear()
    with open_model(model_server.address) as model, pytest.raises(ModelBusy) as caught:
        converse(model, CHAT, ear)
    assert ear.text.strip() == kept.strip()
    # what was written is paid for, too
    assert caught.value.usage.output * 4 > len(WORDS)


def test_the_habit_of_a_model_is_known_from_answers_before_its_first_turn(model_server: OpenAIEmulator) -> None:
    model_server.reasoning = "reasoning_content"
    model_server.script(Json(summary_answer()), Text(WORDS))
    with open_model(model_server.address) as model:
        model.complete(replace(PROMPT, model=CHAT.model))
        model_server.reasoning = ""
        assert len(deltas(converse(model, CHAT))) > 10


@pytest.mark.slow
@pytest.mark.parametrize(
    ("step", "told"), [*STEPS, *CLEAN], ids=lambda value: str(value)[:60] if not isinstance(value, Told) else ""
)
def test_whatever_goes_wrong_is_told_in_the_words_of_the_domain(
    model_server: OpenAIEmulator, step: Step, told: Told
) -> None:
    # what is said is heard as it comes
    model_server.reasoning = "reasoning"
    model_server.script(step, Text("Not asked for."))
    ear = Ear()
    with open_model(model_server.address) as model, pytest.raises(ModelError) as caught:
        converse(model, CHAT, ear)
    error = caught.value
    assert (type(error), ear.text) == (told.kind, told.heard)
    assert getattr(error, "retry_after", None) == told.retry_after
    assert (error.usage != NO_USAGE, len(model_server.requests)) == (told.has_usage, 1)


SHORT = replace(CHAT, silence=0.5, seconds=0.5)


def wait(step: Step) -> tuple[float, ModelBusy]:
    began = time.monotonic()
    with OpenAIEmulator() as served, pytest.raises(ModelBusy) as caught:
        talk(served, step, chat=SHORT)
    return time.monotonic() - began, caught.value


@pytest.mark.slow
def test_a_server_that_is_silent_for_too_long_is_busy() -> None:
    silent = [Hang(9), Stall(HALF, 9, pings=60), Stall("", 9, "late", pings=60), Stall(HALF, 9, pings=0)]
    with ThreadPoolExecutor(len(silent)) as pool:
        waits = list(pool.map(wait, silent))
    assert max(seconds for seconds, _ in waits) < 7


@pytest.mark.slow
def test_who_has_heard_enough_ends_it_and_pays_for_what_was_read(model_server: OpenAIEmulator) -> None:
    model_server.reasoning = "reasoning"
    model_server.script(Text(WORDS * 5, pace=0.2))
    began = time.monotonic()
    with open_model(model_server.address) as model:
        reply = converse(model, CHAT, lambda _: False)
    assert time.monotonic() - began < 6
    assert (reply.calls, reply.usage.input > 0) == ((), True)
