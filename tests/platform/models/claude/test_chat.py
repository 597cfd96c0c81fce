import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from bot.errors import SlackUnavailable
from bot.platform.models import Chat, TextPart, ToolCall, ToolResult, Turn
from bot.platform.models.claude.connection import ClaudeConnection, make_claude_client
from bot.usage import Usage
from tests.emulators.claude import server as says
from tests.emulators.claude.questions import TOOLS
from tests.emulators.claude.request import blocks
from tests.emulators.claude.server import ClaudeEmulator, Step, ToolUse, ToolUses
from tests.emulators.claude.stream import PIECE
from tests.emulators.claude.thinking import THOUGHT
from tests.helpers.checks import eventually
from tests.helpers.talks import Reply, converse

pytestmark = pytest.mark.slow

KEY = "sk-ant-test"
SYSTEM = "You answer questions about merged pull requests. " * 200
RECORD = "#1 Requests are counted once: the counter moved. " * 300
WORDS = "Requests are counted once, because the counter moved to the only place that counts. " * 5


def make_question(question: str = "What changed?") -> tuple[Turn, ...]:
    return (Turn("person", (TextPart(RECORD, stable=True), TextPart(question))),)


CHAT = Chat("claude-haiku-5-5", SYSTEM, tuple(TOOLS), make_question(), max_tokens=2_000, silence=5.0, seconds=10.0)


@dataclass
class Ear:
    """Hears words, and has had enough after some."""

    enough: int = 1_000_000
    pieces: list[str] = field(default_factory=list)
    times: list[float] = field(default_factory=list)

    def __call__(self, words: str) -> bool:
        self.pieces.append(words)
        self.times.append(time.monotonic())
        return len(self.pieces) < self.enough

    @property
    def text(self) -> str:
        return "".join(self.pieces)


@contextmanager
def chat_at(url: str, key: str = KEY) -> Iterator[ClaudeConnection]:
    with make_claude_client(key, url) as client:
        yield ClaudeConnection(client)


def talk(
    claude: ClaudeEmulator, *steps: Step, chat: Chat = CHAT, hear: Callable[[str], bool] | None = None
) -> Reply:
    claude.script(*steps)
    with chat_at(claude.url) as model:
        return converse(model, chat, hear or Ear())


def answer_calls(chat: Chat, reply: Reply, result: str = "found", *, is_error: bool = False) -> Chat:
    """The talk after the tools that a reply wants."""
    results = tuple(ToolResult(call.id, result, is_error) for call in reply.calls)
    return replace(chat, turns=(*chat.turns, reply.turn, Turn("person", results)))


def rounds(claude: ClaudeEmulator, *steps: Step, chat: Chat = CHAT) -> list[Reply]:
    """One reply after the other, the results of its tools in between."""
    replies: list[Reply] = []
    for step in steps:
        replies.append(talk(claude, step, chat=chat))
        chat = answer_calls(chat, replies[-1])
    assert claude.problems == []
    return replies


def marks(body: dict[str, Any]) -> list[str]:
    return [block["cache_control"]["ttl"] for block in blocks(body) if "cache_control" in block]


def busy() -> set[threading.Thread]:
    threads = threading.enumerate()
    return {each for each in threads if isinstance(each, threading.Timer) or "process_request" in each.name}


@pytest.fixture(autouse=True)
def before() -> Iterator[set[threading.Thread]]:
    """What was busy before: no timer outlives its talk, and no connection."""
    threads = busy()
    yield threads
    assert eventually(lambda: busy() <= threads)


# --- words


def test_words_come_piece_by_piece_and_in_order(claude: ClaudeEmulator) -> None:
    ear = Ear()
    reply = talk(claude, says.Text(WORDS, pace=0.005), hear=ear)
    assert (ear.text, len(ear.pieces)) == (WORDS, -(-len(WORDS) // PIECE))
    assert (reply.calls, reply.is_cut) == ((), False)


def test_words_are_heard_before_the_rest_of_them_is_written(claude: ClaudeEmulator) -> None:
    ear = Ear()
    talk(claude, says.Stall("Half of it", 1.5, " and the rest."), hear=ear)
    first, last = ear.times
    assert (ear.pieces, last - first > 0.25) == (["Half of it", " and the rest."], True)


@pytest.mark.parametrize(
    "text", ["Größe 日本 🎉" * 20, "a\r\nb\u2028c\n\nd", "data: x\n\nevent: ping\n\n", "\x00 "]
)
def test_whatever_the_words_are_they_arrive(claude: ClaudeEmulator, text: str) -> None:
    ear = Ear()
    reply = talk(claude, says.Text(text), hear=ear)
    assert ear.text == text
    assert reply.turn.model_blocks[-1] == {"type": "text", "text": text}


def test_the_talks_of_several_threads_do_not_mix(claude: ClaudeEmulator) -> None:
    claude.respond = lambda body: says.Text(body["messages"][0]["content"][1]["text"] * 30, pace=0.002)
    with chat_at(claude.url) as model, ThreadPoolExecutor(4) as pool:

        def ask(number: int) -> str:
            ear = Ear()
            converse(model, replace(CHAT, turns=make_question(f"<{number}>")), ear)
            return ear.text

        assert list(pool.map(ask, range(4))) == [f"<{number}>" * 30 for number in range(4)]


# --- the request


def test_the_service_sees_the_talk(claude: ClaudeEmulator) -> None:
    talk(claude, says.Text("Much."))
    (body,) = claude.requests
    assert (body["model"], body["max_tokens"], body["stream"]) == (CHAT.model, 2_000, True)
    assert body["output_config"] == {"effort": "medium"}
    assert (body["tools"], body["tool_choice"]) == (TOOLS, {"type": "auto"})
    hour, minutes = ({"type": "ephemeral", "ttl": ttl} for ttl in ("1h", "5m"))
    assert body["system"] == [{"type": "text", "text": SYSTEM, "cache_control": hour}]
    record = {"type": "text", "text": RECORD, "cache_control": hour}
    question = {"type": "text", "text": "What changed?", "cache_control": minutes}
    assert body["messages"] == [{"role": "user", "content": [record, question]}]


def test_who_may_use_no_tools_still_has_them_in_the_prompt(claude: ClaudeEmulator) -> None:
    talk(claude, says.Text("Much."), chat=replace(CHAT, may_use_tools=False))
    (body,) = claude.requests
    assert (body["tools"], body["tool_choice"]) == (TOOLS, {"type": "none"})


def test_a_turn_that_ends_in_text_has_the_shape_that_is_asked_for(claude: ClaudeEmulator) -> None:
    schema = {
        "type": "object",
        "properties": {"many": {"type": "boolean"}},
        "required": ["many"],
        "additionalProperties": False,
    }
    chat = replace(CHAT, schema=schema)
    ear = Ear()
    talk(claude, says.Json({"many": True}), chat=chat, hear=ear)
    assert ear.text == '{"many": true}'
    (body,) = claude.requests
    assert body["output_config"] == {"effort": "medium", "format": {"type": "json_schema", "schema": schema}}
    assert (body["tools"], body["tool_choice"]) == (TOOLS, {"type": "auto"})


def test_what_was_said_before_goes_along_in_its_roles(claude: ClaudeEmulator) -> None:
    more = (Turn("model", (TextPart("Much."),)), Turn("person", (TextPart("How much?"),)))
    talk(claude, says.Text("Two."), chat=replace(CHAT, turns=(*CHAT.turns, *more)))
    (body,) = claude.requests
    assert [turn["role"] for turn in body["messages"]] == ["user", "assistant", "user"]
    assert [[block["text"] for block in turn["content"]] for turn in body["messages"][1:]] == [
        ["Much."],
        ["How much?"],
    ]
    assert marks(body) == ["1h", "1h", "5m"]


def test_asking_changes_nothing_in_the_talk(claude: ClaudeEmulator) -> None:
    reply = talk(claude, ToolUse("read", {"path": "a.py"}))
    chat, original_blocks = answer_calls(CHAT, reply), str(reply.turn.model_blocks)
    talk(claude, says.Text("Much."), chat=chat)
    assert (str(reply.turn.model_blocks), chat) == (original_blocks, answer_calls(CHAT, reply))
    assert list(CHAT.tools) == TOOLS


# --- tools


def test_a_call_comes_with_its_arguments_after_the_words(claude: ClaudeEmulator) -> None:
    ear = Ear()
    reply = talk(claude, ToolUse("read", {"path": "größe/日本.py"}, text="Let me look."), hear=ear)
    (call,) = reply.calls
    assert (ear.text, call) == ("Let me look.", ToolCall(call.id, "read", {"path": "größe/日本.py"}))
    assert [block["type"] for block in reply.turn.model_blocks] == ["thinking", "text", "tool_use"]


def test_several_calls_come_in_order_each_with_a_name_of_its_own(claude: ClaudeEmulator) -> None:
    tool_calls: tuple[tuple[str, dict[str, Any]], ...] = (
        ("read", {"path": "a.py"}),
        ("find", {"word": "x" * 200}),
        ("read", {"path": "b.py"}),
    )
    reply = talk(claude, ToolUses(tool_calls))
    assert tuple((call.name, call.arguments) for call in reply.calls) == tool_calls
    assert len({call.id for call in reply.calls}) == 3


def test_a_tool_that_there_is_not_is_called_all_the_same(claude: ClaudeEmulator) -> None:
    (call,) = talk(claude, ToolUse("delete", {}, lenient=True)).calls
    assert (call.name, call.arguments) == ("delete", {})


LOOP: tuple[Step, ...] = (
    ToolUse("read", {"path": "a.py"}, text="Let me look."),
    ToolUses((("find", {"word": "x"}), ("read", {"path": "b.py"}))),
    ToolUse("find", {"word": "y"}),
    says.Text("Much."),
)


def test_over_three_rounds_of_tools_the_models_turns_go_back_unchanged(claude: ClaudeEmulator) -> None:
    replies = rounds(claude, *LOOP)
    turns = claude.requests[-1]["messages"]
    assert [turn["role"] for turn in turns] == ["user", "assistant"] * 3 + ["user"]
    assert [turn["content"] for turn in turns[1::2]] == [list(reply.turn.model_blocks) for reply in replies[:3]]
    assert [turn["content"][0]["type"] for turn in turns[1::2]] == ["thinking"] * 3
    assert len({turn["content"][0]["signature"] for turn in turns[1::2]}) == 3


@pytest.mark.parametrize("blank", ["", "\n\n", " \t"])
def test_words_that_say_nothing_do_not_go_back(claude: ClaudeEmulator, blank: str) -> None:
    """Models write blank text before a call now and then, and the service refuses it in a request."""
    steps = [replace(step, text=blank) if isinstance(step, ToolUse | ToolUses) else step for step in LOOP]
    replies = rounds(claude, *steps)
    assert [block["type"] for block in replies[0].turn.model_blocks] == ["thinking", "text", "tool_use"]
    turns = claude.requests[-1]["messages"]
    kept = [[block for block in reply.turn.model_blocks if block["type"] != "text"] for reply in replies[:3]]
    assert [turn["content"] for turn in turns[1::2]] == kept
    assert [marks(body) for body in claude.requests] == [["1h", "1h", "5m"]] * 4


@pytest.mark.parametrize(
    "turn",
    [
        Turn("model", (TextPart(""),)),
        Turn("model", (TextPart(" \n"), TextPart("\t"))),
        Turn("model", model_blocks=({"type": "text", "text": "\n\n"},)),
        Turn("person", (TextPart("\n"),)),
    ],
)
def test_a_turn_that_says_nothing_at_all_is_left_out(claude: ClaudeEmulator, turn: Turn) -> None:
    last = Turn("person", (TextPart("And now?"), TextPart(" ")))
    talk(claude, says.Text("Much."), chat=replace(CHAT, turns=(*CHAT.turns, turn, last)))
    (body,) = claude.requests
    texts = [[block["text"] for block in message["content"]] for message in body["messages"]]
    assert texts == [[RECORD, "What changed?"], ["And now?"]]
    assert marks(body) == ["1h", "1h", "5m"]


def test_over_three_rounds_of_tools_the_last_block_is_marked_and_never_more_than_four(
    claude: ClaudeEmulator,
) -> None:
    rounds(claude, *LOOP)
    assert [marks(body) for body in claude.requests] == [["1h", "1h", "5m"]] * 4
    assert all("cache_control" in blocks(body)[-1] for body in claude.requests)


def test_what_a_tool_says_goes_to_its_call(claude: ClaudeEmulator) -> None:
    reply = talk(claude, ToolUse("read", {"path": "a.py"}))
    failed = answer_calls(CHAT, reply, "no such file", is_error=True)
    talk(claude, says.Text("Much."), chat=failed)
    (result,) = claude.requests[-1]["messages"][-1]["content"]
    mark = result.pop("cache_control")
    assert (mark["ttl"], result) == (
        "5m",
        {"type": "tool_result", "tool_use_id": reply.calls[0].id, "content": "no such file", "is_error": True},
    )


def test_words_may_stand_below_what_the_tools_say(claude: ClaudeEmulator) -> None:
    chat = answer_calls(CHAT, talk(claude, ToolUse("read", {"path": "a.py"})))
    last = replace(chat.turns[-1], parts=(*chat.turns[-1].parts, TextPart("No more tools.")))
    chat = replace(chat, turns=(*chat.turns[:-1], last), may_use_tools=False)
    assert talk(claude, says.Text("Much."), chat=chat).calls == ()
    kinds = [block["type"] for block in claude.requests[-1]["messages"][-1]["content"]]
    assert (kinds, marks(claude.requests[-1])) == (["tool_result", "text"], ["1h", "1h", "5m"])


# --- what it takes


def parse_usage(told: dict[str, Any]) -> Usage:
    written = told["cache_creation"]
    return Usage(
        told["input_tokens"],
        told["output_tokens"],
        told["cache_read_input_tokens"],
        written["ephemeral_5m_input_tokens"],
        written["ephemeral_1h_input_tokens"],
    )


def test_a_talk_tells_what_it_took_by_how_long_the_cache_keeps_it(claude: ClaudeEmulator) -> None:
    usage = talk(claude, says.Text(WORDS), chat=replace(CHAT, turns=make_question("Why? " * 800))).usage
    assert usage == parse_usage(claude.usages[0])
    assert usage.output == len(WORDS) // 4
    assert usage.cache_write_hour >= (len(SYSTEM) + len(RECORD)) // 4
    assert usage.cache_write == pytest.approx(1_000, abs=2)
    assert (usage.input, usage.cache_read) == (0, 0)


def test_a_second_talk_about_the_same_record_reads_most_of_it_from_the_cache(claude: ClaudeEmulator) -> None:
    talk(claude, says.Text("Much."))
    usage = talk(claude, says.Text("Nobody."), chat=replace(CHAT, turns=make_question("And who wrote it?"))).usage
    assert usage.cache_read >= 0.8 * usage.prompt_tokens
    assert (usage.cache_write_hour, usage) == (0, parse_usage(claude.usages[1]))


def test_the_record_is_still_there_in_an_hour_and_not_after_it() -> None:
    now = [0.0]
    with ClaudeEmulator(clock=lambda: now[0]) as claude:
        shares = []
        for passed in (0, 3_500, 3_500, 3_700):
            now[0] += passed
            usage = talk(claude, says.Text("Much."), chat=replace(CHAT, turns=make_question(f"{passed}?"))).usage
            shares.append(usage.cache_read >= 0.8 * usage.prompt_tokens)
    assert shares == [False, True, True, False]


def test_each_round_reads_all_of_the_one_before(claude: ClaudeEmulator) -> None:
    usages = [reply.usage for reply in rounds(claude, *LOOP)]
    assert [after.cache_read for after in usages[1:]] == [before.prompt_tokens for before in usages[:-1]]


def test_the_last_round_without_tools_keeps_system_and_tools_in_the_cache(claude: ClaudeEmulator) -> None:
    talk(claude, says.Text("Much."))
    usage = talk(claude, says.Text("Much."), chat=replace(CHAT, may_use_tools=False)).usage
    assert usage.cache_read >= len(SYSTEM) // 4


# --- enough


def test_who_has_heard_enough_ends_it_at_once_and_knows_what_it_took_so_far(
    claude: ClaudeEmulator, before: set[threading.Thread]
) -> None:
    claude.script(says.Text(WORDS * 5, pace=0.2))
    ear, begun = Ear(enough=2), time.monotonic()
    with chat_at(claude.url) as model:
        reply = converse(model, CHAT, ear)
        # to the end it would take longer than the test's own patience
        assert time.monotonic() - begun < 6
        assert eventually(lambda: busy() <= before)
    assert (ear.text, reply.calls, reply.is_cut) == (WORDS[: 2 * PIECE], (), False)
    assert reply.usage == replace(parse_usage(claude.usages[0]), output=-(-(len(THOUGHT) + 2 * PIECE) // 4))


def test_who_has_heard_enough_waits_for_no_tools(claude: ClaudeEmulator) -> None:
    reply = talk(claude, ToolUse("read", {"path": "a.py"}, text="Let me look."), hear=Ear(enough=1))
    assert (reply.calls, reply.usage.prompt_tokens > 0) == ((), True)


def test_who_has_heard_enough_at_the_last_word_has_it_all(claude: ClaudeEmulator) -> None:
    ear = Ear(enough=1)
    talk(claude, says.Text("Much."), hear=ear)
    assert ear.pieces == ["Much."]


def test_what_goes_wrong_in_hearing_comes_out_as_it_is_and_ends_it(
    claude: ClaudeEmulator, before: set[threading.Thread]
) -> None:
    failure = SlackUnavailable("Slack is away.")

    def hear(_: str) -> bool:
        raise failure

    claude.script(says.Text(WORDS * 5, pace=0.2))
    with chat_at(claude.url) as model:
        with pytest.raises(SlackUnavailable) as caught:
            converse(model, CHAT, hear)
        assert eventually(lambda: busy() <= before)
    assert caught.value is failure
