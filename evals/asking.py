"""Asks the questions as threads would, without Slack: the same services, a display that only listens."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from bot.domain.conversations.slack_request import Visit
from bot.domain.conversations.thread import Memory, Question
from bot.domain.conversations.thread_subject import About
from bot.domain.operations.usage import PriceList, Usage
from bot.services.questions.answer_writer import Writer
from evals.cases import Suite, Thread
from evals.scoring import Mark, mark


class Silent:
    """``AnswerDisplay`` that nobody looks at."""

    def show_status(self, doing: str) -> None:
        """Nothing."""

    def append_text(self, text: str) -> None:
        """Nothing."""

    def replace_text(self, text: str) -> None:
        """Nothing."""

    def finish(self, text: str, below: Sequence[Mapping[str, Any]]) -> str:
        """Nothing."""
        return ""


def marks_of(
    suite: Suite, writer: Writer, prices: PriceList, clock: Callable[[], float] = time.monotonic
) -> Iterator[Mark]:
    """Ask all of a suite's questions; each mark as soon as it is there."""
    for place, thread in enumerate(suite.thread):
        yield from _of_thread(suite, thread, f"evals:{place}", writer, prices, clock)


def _of_thread(
    suite: Suite, thread: Thread, name: str, writer: Writer, prices: PriceList, clock: Callable[[], float]
) -> Iterator[Mark]:
    memory = Memory(About.DIGEST.of(f"{suite.date} repo:{suite.repository}"))
    for number, case in enumerate(thread.question):
        visit = Visit(key=f"{name}:{number}", team="evals", channel="evals", user="evals", thread=name)
        question = Question(visit, case.ask, "0")
        started = clock()
        draft = writer.write(question, memory, Silent())
        memory = memory.with_answer(question, draft.said)
        usage = Usage(**draft.inputs.get("usage", {}))
        cost = prices.cautious_cost(str(draft.inputs.get("model", "")), usage)
        yield mark(case, draft.text, draft.inputs, cost, clock() - started)
