"""What a call costs this side, through the door of an OpenAI-compatible server and through Claude's."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from statistics import median

from benchmarks.table import Table
from bot.features.summaries.reading import SummaryAnswer
from bot.platform.models import Chat, ModelAccess, ModelConnection, ModelProvider, Prompt, TextPart, Turn
from bot.platform.models.completion import build_schema
from bot.platform.models.registry import PROVIDERS
from tests.emulators.claude.questions import TOOLS
from tests.emulators.claude.script import Json, Text, summary_answer
from tests.emulators.claude.server import ClaudeEmulator
from tests.emulators.openai_compatible.server import OpenAIEmulator

CALLS = 60
# an answer of some 250 tokens, in as many events in both protocols
WORDS = "Requests are counted once. " * 220
# of what the same call takes through Claude's adapter
MAX_RATIO = 1.0


def time_providers(table: Table) -> None:
    """Compare medians of the processor's time of the caller's thread, call by call in turns."""
    with ClaudeEmulator() as claude, OpenAIEmulator() as served:
        own = next(each for each in PROVIDERS if each.choice == "openai-compatible")
        doors: tuple[tuple[ModelProvider, ModelAccess, str], ...] = (
            (PROVIDERS[0], ModelAccess(claude.api_key, claude.url), "claude-haiku-5-5"),
            (own, ModelAccess(served.api_key, served.address), "test/small-8b"),
        )
        # with reasoning beside it, text is passed on as it comes: so does Claude
        served.reasoning = "reasoning"
        for emulator in (claude, served):
            emulator.respond = lambda view: Text(WORDS) if view.get("tools") else Json(summary_answer())
        for name, ask in (("a summary", _complete), ("an answer", _stream)):
            theirs, ours = _time_in_turns(doors, ask)
            print(f"{name}: {1_000 * theirs:.2f} ms by Claude's adapter, {1_000 * ours:.2f} ms by the other")
            table.print_row(f"own server: {name}, against Claude's adapter", ours / theirs, MAX_RATIO, "times")


def _time_in_turns(
    doors: tuple[tuple[ModelProvider, ModelAccess, str], ...], ask: Callable[[ModelConnection, str], None]
) -> list[float]:
    """Return the median seconds of a call through each door."""
    connections = [(provider.connect(access), model) for provider, access, model in doors]
    seconds: list[list[float]] = [[] for _ in connections]
    for number in range(CALLS + 5):
        for place, (connection, model) in enumerate(connections):
            began = time.thread_time()
            ask(connection, model)
            # the first ones import
            if number >= 5:
                seconds[place].append(time.thread_time() - began)
    for connection, _ in connections:
        connection.close()
    return [median(each) for each in seconds]


def _complete(connection: ModelConnection, model: str) -> None:
    connection.complete(Prompt(model, "v1", "Be brief.", "What? " * 2_000, build_schema(SummaryAnswer), 2_000))


def _stream(connection: ModelConnection, model: str) -> None:
    turns = (Turn("person", (TextPart("What changed? " * 500),)),)
    chat = Chat(model, "Answer.", tuple(TOOLS), turns, max_tokens=4_000, silence=20.0, seconds=30.0)
    with closing(connection.stream_turn(chat)) as events:
        for _ in events:
            pass
