"""The cost of questions in threads: the new part of the prompts, dollars, the wait for the first words."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from localslack.users.person import Person
from localslack.users.transport import HttpTransport

from benchmarks.commands import SECRET, run_processes
from benchmarks.day import add_large_day, measure_command, open_empty_world
from benchmarks.table import Table
from bot.platform.models.claude import CLAUDE
from bot.usage import Usage
from tests.emulators.claude.script import Stall
from tests.emulators.claude.server import Json, Step, Text, ToolUses, default_answer, summary_answer
from tests.helpers.checks import closed_port, eventually
from tests.helpers.world import CHANNEL, SMALL_DAY, World

MODEL = "claude-sonnet-5-5"
THINKING_SECONDS = 0.5  # seconds before the model's first word
THREADS = 8
MAX_NEW = 0.20  # of the prompts of a second question
MAX_WAIT = 1.0  # seconds before the first words, beside the model's own
MAX_STOP = 2.0  # seconds that work goes on after somebody stops it
FIRST, LATER = 0.10, 0.03  # dollars
SECTION = "What a summary says in two to four sentences, at the length that summaries of busy days have. " * 4
ANSWER = f"<answer>{'This is what was found in the diffs of the day. ' * 40}</answer>"
READING = ToolUses((("search", {"any_of": ["weights"], "paths": ["src/part_1.py"]}), ("read_diff", {"number": 7})))


@dataclass(frozen=True)
class QuestionCost:
    """The cost of one question: prompt tokens, the new share of them, dollars, seconds until the first words."""

    prompt: int
    new: float
    dollars: float
    seconds: float


def read_first(body: dict[str, Any]) -> Step:
    """Answer as a model that looks up two things before it answers a question."""
    if not body.get("tools"):
        usual = default_answer(body)
        is_summary = isinstance(usual, Json) and "headline" in usual.value
        names = ("what_changed_and_why", "technical_impact", "potential_risks", "key_insights")
        return Json(summary_answer(**dict.fromkeys(names, SECTION))) if is_summary else usual
    return Text(ANSWER) if "tool_result" in json.dumps(body["messages"][-1]) else READING


def answer_at_once(body: dict[str, Any]) -> Step:
    """Answer as a model that needs nothing besides the record."""
    return Text(ANSWER) if body.get("tools") else default_answer(body)


@contextmanager
def open_digest_thread(*, is_agent: bool = False) -> Iterator[tuple[World, HttpTransport, str]]:
    with open_empty_world() as there:
        if is_agent:
            there.slack.declare_agent()
        add_large_day(there.github)
        there.claude.respond = read_first
        there.settings.update(
            PRDIGEST_REPO="octo/engine",
            PRDIGEST_TIMEZONE="America/Los_Angeles",
            PRDIGEST_CHANNEL=CHANNEL,
            PRDIGEST_USER_LIMIT="1000",
            PRDIGEST_USER_BUDGET="1000",
            PRDIGEST_DAILY_BUDGET="1000",
            SLACK_SIGNING_SECRET=SECRET,
            PORT=str(closed_port()),
        )
        measure_command(there, "digest", *SMALL_DAY)
        with run_processes(there, "web", "worker") as wire:
            # wait until the worker is ready
            Person(there.slack, wire, user="U0BOB").send_command("/prsummary", "7 private")
            eventually(lambda: there.slack.ephemerals)
            there.claude.latency = THINKING_SECONDS
            yield there, wire, there.slack.list_messages(CHANNEL)[0]["ts"]


def ask_question(there: World, wire: HttpTransport, thread: str, question: str) -> QuestionCost:
    words: list[float] = []

    def watch(method: str, _: dict[str, Any]) -> None:
        if method == "chat.startStream":
            words.append(time.perf_counter())

    before, there.slack.before = len(there.claude.usages), watch
    began, ended = time.perf_counter(), _count_answers(there)
    Person(there.slack, wire, user="U0ADA").send_message(question, CHANNEL, thread)
    eventually(lambda: _count_answers(there) > ended)
    there.slack.before = None
    used = [parse_usage(each) for each in there.claude.usages[before:]]
    total = sum(each.prompt_tokens for each in used)
    new = 1 - sum(each.cache_read for each in used) / total
    return QuestionCost(
        total,
        new,
        sum(CLAUDE.prices.cautious_cost(MODEL, each) for each in used),
        words[0] - began - THINKING_SECONDS * len(used),
    )


def _count_answers(there: World) -> int:
    return len(there.slack.list_calls_to("chat.stopStream"))


def parse_usage(fields: dict[str, Any]) -> Usage:
    created = fields["cache_creation"]
    return Usage(
        fields["input_tokens"],
        fields["output_tokens"],
        fields["cache_read_input_tokens"],
        created["ephemeral_5m_input_tokens"],
        created["ephemeral_1h_input_tokens"],
    )


def price_questions(table: Table) -> None:
    """Price three questions in a thread: the first fills the cache, the second reads, the third needs no more."""
    with open_digest_thread() as (there, wire, thread):
        first = ask_question(there, wire, thread, "Which of these touch the weights?")
        second = ask_question(there, wire, thread, "And which of them rewrite them?")
        there.claude.respond = answer_at_once
        third = ask_question(there, wire, thread, "Since when?")
    print(f"prompts of the three questions: {first.prompt:,}, {second.prompt:,} and {third.prompt:,} tokens")
    table.print_row("second question, reads two things: new part of its prompts", second.new, MAX_NEW, "share")
    table.print_row("third question, reads nothing: new part of its prompt", third.new, MAX_NEW, "share")
    table.print_row("first question about a day of 43", first.dollars, FIRST, "dollars")
    table.print_row("second question, reads two things", second.dollars, LATER, "dollars")
    for name, each in (("first", first), ("second", second), ("third", third)):
        table.print_row(f"{name} question: first words, after the model's own time", each.seconds, MAX_WAIT, "s")


def time_stops(table: Table) -> None:
    """Time how long an answer goes on after a press of Stop: with nothing written yet, and in its middle."""
    with open_digest_thread(is_agent=True) as (there, wire, thread):
        for name, text in (
            ("before its first word", "<answer>"),
            ("in its middle", ANSWER.removesuffix("</answer>")),
        ):
            asked: list[dict[str, Any]] = []
            there.claude.respond = partial(_stall, asked, text)
            ada = Person(there.slack, wire, user="U0ADA")
            ada.send_message("Which of these touch the weights?", CHANNEL, thread)
            eventually(partial(_is_waiting, there, asked, thread, is_written="middle" in name))
            began = time.perf_counter()
            ada.stop_session(CHANNEL, thread)
            eventually(lambda: not there.slack.can_stop_session(CHANNEL, thread))
            table.print_row(f"Stop {name}: until the session rests", time.perf_counter() - began, MAX_STOP, "s")


def _stall(asked: list[dict[str, Any]], text: str, body: dict[str, Any]) -> Step:
    """Begin an answer to a question and never end it; answer everything else."""
    if not body.get("tools"):
        return default_answer(body)
    asked.append(body)
    return Stall(text, 60, pings=60)


def _is_waiting(there: World, asked: list[dict[str, Any]], thread: str, *, is_written: bool) -> bool:
    replies = there.slack.list_replies(CHANNEL, thread)
    is_shown = any(each.get("streaming_state") == "in_progress" for each in replies)
    return bool(asked) and is_shown == is_written and there.slack.can_stop_session(CHANNEL, thread)


def time_threads(table: Table) -> None:
    """Time eight threads that ask one worker at once."""
    with open_digest_thread() as (there, wire, thread):
        alone = _time_answers(there, 1, lambda: ask_question(there, wire, thread, "One?"))
        people = [replace(Person(there.slack, wire), user=f"U0P{n}") for n in range(THREADS)]

        def all_ask() -> None:
            with ThreadPoolExecutor(THREADS) as pool:
                list(pool.map(lambda each: each.mention("Which of these touch the weights?", CHANNEL), people))

        together = _time_answers(there, THREADS, all_ask)
    table.print_row(
        f"{THREADS} threads at once, against one: time until all are answered", together / alone, 2.0, "times"
    )


def _time_answers(there: World, count: int, ask: Callable[[], object]) -> float:
    began, before = time.perf_counter(), _count_answers(there)
    ask()
    eventually(lambda: _count_answers(there) == before + count)
    return time.perf_counter() - began
