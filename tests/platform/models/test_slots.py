import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import Any

import pytest

from bot.errors import ModelBusy
from bot.platform.deadlines import bound_work
from bot.platform.models import ModelAccess, Prompt
from bot.platform.models.openai_compatible import CONTEXT_TOKENS
from bot.platform.models.openai_compatible.connection import OpenAIConnection
from bot.platform.models.slots import CallLimit, WorkAbandoned, hold_model_slot, limit_model_calls
from bot.platform.worker_threads import DeadlineExecutor
from tests.emulators.claude.script import Json, Step, summary_answer
from tests.emulators.openai_compatible.server import OpenAIEmulator
from tests.platform.models.openai_compatible.asking import PROMPT

LONG = 20.0


def test_without_a_limit_nothing_waits() -> None:
    together = threading.Barrier(12)

    def hold(_: int) -> int:
        with hold_model_slot():
            # all twelve are inside at the same time
            return together.wait(LONG)

    with DeadlineExecutor(12, "slots") as crew:
        assert sorted(crew.map_items(hold, range(12))) == list(range(12))


def test_a_slot_is_free_again_after_its_block_even_if_that_fails() -> None:
    with limit_model_calls(1):
        for _ in range(3):
            with pytest.raises(ValueError, match="defect"), hold_model_slot():
                raise ValueError("defect")


def test_at_the_deadline_the_block_begins_without_a_slot_and_frees_none() -> None:
    begun, entered = [], threading.Event()

    def ask() -> None:
        with hold_model_slot():
            entered.set()

    with DeadlineExecutor(1, "slots") as crew, limit_model_calls(1):
        with hold_model_slot():
            with bound_work(0):
                for number in range(2):
                    with hold_model_slot():
                        begun.append(number)
            waiting = crew.submit(ask)
            assert not entered.wait(0.1), "the only slot is still held"
        assert (begun, waiting.exception(LONG), entered.is_set()) == ([0, 1], None, True)


def test_no_more_hold_a_slot_than_there_are() -> None:
    together, peak, inside, lock = threading.Barrier(3), 0, 0, threading.Lock()

    def hold(_: int) -> None:
        nonlocal peak, inside
        with hold_model_slot():
            with lock:
                inside += 1
                peak = max(peak, inside)
            # three are inside at the same time
            together.wait(LONG)
            with lock:
                inside -= 1

    with limit_model_calls(3), DeadlineExecutor(12, "slots") as crew:
        crew.map_items(hold, range(12))
    assert (peak, inside) == (3, 0)


def test_who_waits_at_the_end_gets_no_slot_and_ends() -> None:
    held, ended = threading.Event(), threading.Event()

    def hold() -> None:
        with hold_model_slot():
            held.set()
            assert ended.wait(LONG)

    def ask_after() -> None:
        assert held.wait(LONG)
        with hold_model_slot():
            raise AssertionError("nobody waits for this")

    with DeadlineExecutor(4, "slots") as crew:
        with limit_model_calls(1):
            holder = crew.submit(hold)
            waiting = [crew.submit(ask_after) for _ in range(3)]
            assert held.wait(LONG)
        for future in waiting:
            assert isinstance(future.exception(LONG), WorkAbandoned)
        ended.set()
        assert holder.exception(LONG) is None


# --- as many calls as a server takes


def answer_with(slots: int, seconds: float, busiest: list[int]) -> Callable[[dict[str, Any]], Step]:
    """Answer so many requests at once, and queue the others, as servers do."""
    free, lock, running = threading.Semaphore(slots), threading.Lock(), [0]

    def respond(_: dict[str, Any]) -> Step:
        with lock:
            running[0] += 1
            busiest.append(running[0])
        with free:
            time.sleep(seconds)
        with lock:
            running[0] -= 1
        return Json(summary_answer())

    return respond


def ask_twelve_times(connection: OpenAIConnection, prompt: Prompt) -> str:
    for _ in range(12):
        with suppress(ModelBusy):
            return connection.complete(prompt).text
    return ""


@pytest.mark.slow
def test_a_server_with_few_slots_is_asked_less_at_once_and_answers_everything(
    caplog: pytest.LogCaptureFixture,
) -> None:
    busiest: list[int] = []
    with OpenAIEmulator() as served, ThreadPoolExecutor(8) as pool:
        served.respond = answer_with(2, 0.4, busiest)
        access = ModelAccess(served.api_key, served.address, {CONTEXT_TOKENS: 100_000})
        connection = OpenAIConnection(access, seconds=1.3)
        prompts = [replace(PROMPT, user=f"What changed in {number}?") for number in range(18)]
        answers = list(pool.map(lambda prompt: ask_twelve_times(connection, prompt), prompts))
        connection.close()
    assert all(answers)
    assert busiest[:2] == [1, 2]
    assert caplog.text.count("Set PRDIGEST_CONCURRENCY to the number of its slots") == 1


@pytest.mark.slow
def test_a_limit_grows_with_answers_and_halves_with_two_timeouts_in_a_row() -> None:
    halved: list[int] = []
    limit = CallLimit(halved.append)

    def count_calls() -> int:
        """How many calls may run at once."""
        with ExitStack() as calls:
            for number in range(40):
                began = time.monotonic()
                with bound_work(0.5):
                    calls.enter_context(limit.hold_call())
                if time.monotonic() - began > 0.4:
                    return number
        return 40

    assert count_calls() == 2
    for _ in range(6):
        limit.note_answer()
    assert count_calls() == 8
    limit.note_timeout()
    limit.note_answer()
    limit.note_timeout()
    assert (count_calls(), halved) == (9, [])
    with ExitStack() as calls:
        for _ in range(8):
            calls.enter_context(limit.hold_call())
        limit.note_timeout()
    assert (count_calls(), halved) == (4, [4])
    for _ in range(4):
        limit.note_answer()
    assert count_calls() == 4
    limit.note_answer()
    assert count_calls() == 5
