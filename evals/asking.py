"""Questions put as in threads, without Slack: the same services, and a display that shows nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.conversations.thread import Question, ThreadMemory
from bot.domain.conversations.thread_subject import SubjectKind
from bot.domain.operations.usage import PriceList
from bot.services.questions.answer_writer import AnswerWriter
from evals.cases import Suite, Thread
from evals.scoring import Mark, mark_answer


class SilentDisplay:
    """An ``AnswerDisplay`` that shows nothing."""

    def show_status(self, doing: str) -> None:
        """Ignore the status."""

    def append_text(self, text: str) -> None:
        """Ignore the text."""

    def replace_text(self, text: str) -> None:
        """Ignore the text."""

    def finish(self, text: str, below: Sequence[Mapping[str, Any]]) -> str:
        """Return an empty ts: no message was posted."""
        return ""


def ask_suite(
    suite: Suite, writer: AnswerWriter, prices: PriceList, clock: Callable[[], float] = time.monotonic
) -> Iterator[Mark]:
    """Ask all of a suite's questions; yield each mark as soon as it is there."""
    for place, thread in enumerate(suite.thread):
        yield from _ask_thread(suite, thread, f"evals:{place}", writer, prices, clock)


def _ask_thread(
    suite: Suite, thread: Thread, name: str, writer: AnswerWriter, prices: PriceList, clock: Callable[[], float]
) -> Iterator[Mark]:
    memory = ThreadMemory(SubjectKind.DIGEST.format_subject(f"{suite.date} repo:{suite.repository}"))
    for number, case in enumerate(thread.question):
        slack_request = SlackRequest(
            key=f"{name}:{number}", team="evals", channel="evals", user="evals", thread=name
        )
        question = Question(slack_request, case.ask, "0")
        started = clock()
        draft = writer.write_answer(question, memory, SilentDisplay())
        memory = memory.add_answer(question, draft.raw_text)
        cost = prices.cautious_cost(draft.inputs.model, draft.inputs.usage)
        yield mark_answer(case, draft.text, draft.inputs, cost, clock() - started)
