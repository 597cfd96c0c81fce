"""Slots at the model: as many as there are, none after the end, and no wait past the deadline."""

from __future__ import annotations

import threading

import pytest

from bot.platform.deadlines import bound_work
from bot.platform.models.slots import WorkAbandoned, hold_model_slot, limit_model_calls
from bot.platform.worker_threads import DeadlineExecutor

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
