"""Questions that wait for their turn, and dollars that were spent, on a real server."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import permutations
from threading import Timer
from typing import cast
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis import Redis

from bot.adapters.redis.question_queue import RedisQuestionQueue
from bot.adapters.redis.spending import RedisSpendingStore
from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.conversations.thread import Question
from bot.domain.errors import StoreUnavailable
from bot.domain.keyspace.keys import BUDGET_HOLDS, SPENDING
from bot.domain.operations.budget import BudgetHold
from bot.platform.store.connection import RedisTimeouts, connect_server
from tests.helpers.checks import closed_port, eventually, is_one_sentence

PLACE = "C0HOME:1772300000.000100"
VISIT = SlackRequest("Ev1", "T0TEAM", "C0HOME", "U0ASKER", thread="1772300000.000100")


def question(ts: str = "1772300001.000100", text: str = "Why?") -> Question:
    return Question(replace(VISIT, key=f"Ev:{ts}"), text, ts)


@pytest.fixture
def line(store: Redis) -> RedisQuestionQueue:
    return RedisQuestionQueue(store)


def serve_questions(line: RedisQuestionQueue, place: str = PLACE) -> list[Question]:
    """All that wait, each after the one before has left."""
    questions: list[Question] = []
    while (first := line.get_first(place)) and len(questions) < 1_000:
        questions.append(first)
        line.remove_question(place, first)
    return questions


# --- turns


def test_nobody_waits_at_first(line: RedisQuestionQueue) -> None:
    assert line.get_first(PLACE) is None


def test_a_question_has_its_version_and_one_of_a_later_version_waits(
    store: Redis, line: RedisQuestionQueue
) -> None:
    line.add_question(PLACE, question())
    (member,) = cast("list[bytes]", store.zrange(f"waiting:{PLACE}", 0, -1))
    assert json.loads(member)["version"] == 1
    store.zadd(f"waiting:{PLACE}", {json.dumps({"version": 2, "asked": "Why?"}): 1.0})
    with pytest.raises(StoreUnavailable):
        line.get_first(PLACE)
    assert store.zcard(f"waiting:{PLACE}") == 2


# the last differ in the last digit of what Slack gives, and in nothing that text sorts by
TIMES = ("999999999.999999", "1000000001.000100", "1000000001.000101", "1000000001.000102")


@pytest.mark.parametrize("order", [tuple(order) for order in permutations(TIMES)][::5], ids=lambda order: order[0])
def test_turns_go_by_the_time_of_asking_and_not_of_joining(
    line: RedisQuestionQueue, order: tuple[str, ...]
) -> None:
    for ts in order:
        line.add_question(PLACE, question(ts))
    assert [entry.ts for entry in serve_questions(line)] == list(TIMES)


def test_who_asked_earlier_and_joins_later_comes_first(line: RedisQuestionQueue) -> None:
    line.add_question(PLACE, question("1772300002.000000"))
    assert line.get_first(PLACE) == question("1772300002.000000")
    line.add_question(PLACE, question("1772300001.999999"))
    assert line.get_first(PLACE) == question("1772300001.999999")


def test_who_has_waited_for_more_than_three_days_waits_no_longer(line: RedisQuestionQueue) -> None:
    for ts in ("1772300001.000100", "1772300002.000100", "1772559202.000000"):
        line.add_question(PLACE, question(ts))
    assert [entry.ts for entry in serve_questions(line)] == ["1772300002.000100", "1772559202.000000"]


def test_who_joins_twice_waits_once(line: RedisQuestionQueue) -> None:
    for _ in range(3):
        line.add_question(PLACE, question())
    assert serve_questions(line) == [question()]


def test_the_first_stays_until_it_leaves(line: RedisQuestionQueue) -> None:
    line.add_question(PLACE, question())
    assert [line.get_first(PLACE) for _ in range(3)] == [question()] * 3
    line.remove_question(PLACE, question())
    assert line.get_first(PLACE) is None


def test_who_does_not_wait_may_leave(line: RedisQuestionQueue) -> None:
    line.add_question(PLACE, question())
    line.remove_question(PLACE, question("1772300009.000100"))
    line.remove_question("C0ELSE:1.1", question())
    assert serve_questions(line) == [question()]


def test_who_left_may_join_again(line: RedisQuestionQueue) -> None:
    for _ in range(2):
        line.add_question(PLACE, question())
        line.remove_question(PLACE, question())
    line.add_question(PLACE, question())
    assert serve_questions(line) == [question()]


def test_places_are_kept_apart(line: RedisQuestionQueue) -> None:
    line.add_question(PLACE, question("1.1"))
    line.add_question("C0HOME:2", question("2.2"))
    assert [serve_questions(line, place) for place in (PLACE, "C0HOME:2")] == [
        [question("1.1")],
        [question("2.2")],
    ]


ALL_FIELDS = SlackRequest(
    "Ev1", "T1", "C1", "U1", enterprise="E1", name="Größe 日本", response_url="https://x.example/1", thread="1.1"
)


@pytest.mark.parametrize(
    "asked",
    [
        Question(ALL_FIELDS, "Größe\n日本 \u2028 \x00 🎉", "1772300001.000100"),
        Question(replace(VISIT, thread=""), "", "1772300001.000100"),
        Question(VISIT, "why? " * 2_000, "1772300001.000100"),
    ],
    ids=["every field", "no words", "many words"],
)
def test_a_question_comes_back_as_it_was_asked(line: RedisQuestionQueue, asked: Question) -> None:
    line.add_question(PLACE, asked)
    assert serve_questions(line) == [asked]


def test_those_who_wait_outlive_who_let_them_in(store_url: str, line: RedisQuestionQueue) -> None:
    with connect_server(store_url) as web:
        RedisQuestionQueue(web).add_question(PLACE, question())
    assert serve_questions(line) == [question()]


def test_many_join_at_once_and_none_is_lost(line: RedisQuestionQueue) -> None:
    asked = [question(f"17723000{n:02}.000100") for n in range(40)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda each: line.add_question(PLACE, each), reversed(asked)))
    assert serve_questions(line) == asked


# --- one serves


def test_one_serves_a_line_at_a_time(store_url: str, line: RedisQuestionQueue) -> None:
    with connect_server(store_url) as other, line.try_lock(PLACE) as ours:
        with RedisQuestionQueue(other).try_lock(PLACE) as theirs, line.try_lock(PLACE) as again:
            assert (ours, theirs, again) == (True, False, False)
        with RedisQuestionQueue(other).try_lock("C0ELSE:1.1") as elsewhere:
            assert elsewhere


def test_who_was_not_let_in_frees_nothing(store_url: str, line: RedisQuestionQueue) -> None:
    with connect_server(store_url) as other, line.try_lock(PLACE):
        for _ in range(2):
            with RedisQuestionQueue(other).try_lock(PLACE) as theirs:
                assert not theirs


def test_a_line_is_free_after_it_was_served(store_url: str, line: RedisQuestionQueue, store: Redis) -> None:
    with connect_server(store_url) as other:
        for client in (store, other, store):
            with RedisQuestionQueue(client).try_lock(PLACE) as ours:
                assert ours
    assert store.dbsize() == 0


def test_a_line_is_free_after_who_served_it_failed(line: RedisQuestionQueue) -> None:
    with pytest.raises(KeyError), line.try_lock(PLACE):
        raise KeyError
    with line.try_lock(PLACE) as ours:
        assert ours


def test_who_waits_may_join_and_leave_while_a_line_is_served(store_url: str, line: RedisQuestionQueue) -> None:
    with connect_server(store_url) as other, line.try_lock(PLACE):
        RedisQuestionQueue(other).add_question(PLACE, question())
        assert serve_questions(line) == [question()]


def test_of_many_who_come_at_once_one_serves(store_url: str, line: RedisQuestionQueue) -> None:
    inside: list[int] = []
    peaks: list[int] = []

    def work(number: int) -> None:
        with line.try_lock(PLACE) as ours:
            if ours:
                inside.append(number)
                peaks.append(len(inside))
                inside.remove(number)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(16)))
    assert set(peaks) == {1}


# --- dollars


@pytest.fixture
def spending(store: Redis) -> RedisSpendingStore:
    return RedisSpendingStore(store)


def hold(*names: str, mark: str = "", dollars: float = 1.0) -> BudgetHold:
    return BudgetHold(mark or uuid4().hex, dollars, names)


def list_unsettled_holds(store: Redis, name: str) -> list[str]:
    """The reservations of a name that still count."""
    members = cast("list[bytes]", store.zrange(BUDGET_HOLDS.build_key(name), 0, -1))
    return [each.decode() for each in members if b":settled:" not in each]


def test_nothing_is_spent_at_first(spending: RedisSpendingStore) -> None:
    assert spending.get_spending("U1") == 0


def test_what_is_settled_is_added_up_for_each_name(spending: RedisSpendingStore) -> None:
    spending.settle_hold(hold("U1", "all"), 0.1)
    spending.settle_hold(hold("U2", "all"), 0.2)
    spending.settle_hold(hold("U1"), 0.3)
    assert [spending.get_spending(name) for name in ("U1", "U2", "all", "U3")] == [0.4, 0.2, pytest.approx(0.3), 0]


def test_small_amounts_add_up_exactly(spending: RedisSpendingStore) -> None:
    for _ in range(100):
        spending.settle_hold(hold("U1"), 0.000_123)
    assert spending.get_spending("U1") == 0.0123


def test_those_who_spend_at_once_are_all_counted(spending: RedisSpendingStore) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: spending.settle_hold(hold("all", mark=str(n)), 0.01), range(50)))
    assert spending.get_spending("all") == 0.5


def test_what_was_spent_is_kept_for_two_days_over_a_new_client(
    store_url: str, spending: RedisSpendingStore, store: Redis
) -> None:
    with connect_server(store_url) as other:
        RedisSpendingStore(other).settle_hold(hold("U1"), 1.5)
    assert spending.get_spending("U1") == 1.5
    assert 2 * 86_400 - 10 <= int(str(store.ttl(SPENDING.build_key("U1")))) <= 2 * 86_400


def test_what_is_reserved_counts_until_it_is_settled(spending: RedisSpendingStore, store: Redis) -> None:
    first, second = hold("U1", "all", mark="a"), hold("U2", "all", mark="b")
    assert spending.reserve_budget(first, [("U1", 2.0), ("all", 1.0)]) is None
    assert spending.reserve_budget(second, [("U2", 2.0), ("all", 1.0)]) == 1
    assert spending.reserve_budget(hold("U1", mark="c"), [("U1", 1.0)]) == 0
    spending.settle_hold(first, 0.25)
    assert spending.reserve_budget(second, [("U2", 2.0), ("all", 1.0)]) is None
    assert spending.get_spending("all") == 0.25
    spending.settle_hold(second, 0.0)
    assert [list_unsettled_holds(store, name) for name in ("U1", "U2", "all")] == [[], [], []]


@pytest.mark.slow
@pytest.mark.parametrize("is_reserved", [True, False], ids=["in time", "after the reservation has expired"])
def test_a_call_is_paid_once_though_the_store_hears_of_it_twice(
    store: Redis, store_url: str, spending: RedisSpendingStore, *, is_reserved: bool
) -> None:
    """A client sends a command again if the answer is late; a store that only stood still then gets both."""
    pid = int(store.info("server")["process_id"])
    call, other = hold("U1", "all"), hold("U1", "all")
    if is_reserved:
        assert spending.reserve_budget(call, [("U1", 1.0)]) is None
    spending.settle_hold(other, 0.1)  # which also leaves the script with the store
    with connect_server(store_url, timeouts=RedisTimeouts(answer=0.3, retries=3)) as hasty:
        hasty.ping()
        os.kill(pid, signal.SIGSTOP)
        waking = Timer(0.4, os.kill, (pid, signal.SIGCONT))
        waking.start()
        try:
            RedisSpendingStore(hasty).settle_hold(call, 0.25)
        finally:
            waking.join()
    assert [spending.get_spending(name) for name in ("U1", "all")] == [0.35, 0.35]


def test_who_reserves_again_is_not_refused_for_the_first_time(spending: RedisSpendingStore) -> None:
    call = hold("U1", dollars=1.0)
    assert [spending.reserve_budget(call, [("U1", 0.5)]) for _ in range(2)] == [None, None]
    assert spending.reserve_budget(hold("U1"), [("U1", 0.5)]) == 0


@pytest.mark.slow
def test_a_process_that_dies_reserves_nothing_for_ever(store: Redis) -> None:
    spending = RedisSpendingStore(store, hold_seconds=1)
    vain = hold("U1")
    assert spending.reserve_budget(vain, [("U1", 0.5)]) is None
    assert spending.reserve_budget(hold("U1", mark="b"), [("U1", 0.5)]) == 0
    eventually(lambda: spending.reserve_budget(hold("U1", mark="b"), [("U1", 0.5)]) is None, 5)
    # and what was reserved in vain is settled late all the same, if its process lives after all
    spending.settle_hold(vain, 0.3)
    assert spending.get_spending("U1") == 0.3


@pytest.mark.slow
def test_processes_that_reserve_at_once_stay_below_together(store_url: str, spending: RedisSpendingStore) -> None:
    def reserve(number: int) -> bool:
        with connect_server(store_url) as own:
            reserved = hold("all", mark=str(number), dollars=0.1)
            return RedisSpendingStore(own).reserve_budget(reserved, [("all", 1.0)]) is None

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(reserve, range(60))) == 10


CALLS = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(1, 400_000), st.integers(0, 400_000), st.integers(0, 3)),
    max_size=25,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(calls=CALLS, own=st.integers(0, 800_000), whole=st.integers(0, 1_500_000))
def test_no_cap_is_passed_by_more_than_the_calls_in_flight(
    store: Redis, calls: list[tuple[str, int, int, int]], own: int, whole: int
) -> None:
    """Each call: who makes it, what it is thought to cost, what it costs, and how many settle before it."""
    store.flushdb()
    spending, caps = RedisSpendingStore(store), {"a": own, "b": own, "all": whole}
    flying: list[tuple[BudgetHold, int]] = []
    spent, excess = dict.fromkeys(caps, 0), dict.fromkeys(caps, 0)

    def settle(count: int) -> None:
        for made, cost in flying[:count]:
            spending.settle_hold(made, cost / 1_000_000)
            for name in made.names:
                spent[name] += cost
        del flying[:count]

    for place, (who, expected, cost, settled) in enumerate(calls):
        settle(settled)
        made = hold(who, "all", mark=str(place), dollars=expected / 1_000_000)
        held = {name: sum(round(each.dollars * 1e6) for each, _ in flying if name in each.names) for name in caps}
        free = all(spent[name] + held[name] < caps[name] for name in made.names)
        refused = spending.reserve_budget(made, [(name, caps[name] / 1_000_000) for name in made.names])
        assert (refused is None) == free
        if free:
            flying.append((made, cost))
            for name in made.names:
                in_flight = sum(real for each, real in flying if name in each.names)
                excess[name] = max(excess[name], in_flight)
    settle(len(flying))
    for name, cap in caps.items():
        assert spending.get_spending(name) == pytest.approx(spent[name] / 1_000_000)
        assert spent[name] <= cap + excess[name]


# --- a store that is not there


AWAY: dict[str, Callable[[Redis], object]] = {
    "join": lambda client: RedisQuestionQueue(client).add_question(PLACE, question()),
    "first": lambda client: RedisQuestionQueue(client).get_first(PLACE),
    "leave": lambda client: RedisQuestionQueue(client).remove_question(PLACE, question()),
    "serve": lambda client: RedisQuestionQueue(client).try_lock(PLACE).__enter__(),
    "spent": lambda client: RedisSpendingStore(client).get_spending("U1"),
    "hold": lambda client: RedisSpendingStore(client).reserve_budget(hold("U1"), [("U1", 1.0)]),
    "settle": lambda client: RedisSpendingStore(client).settle_hold(hold("U1"), 1.0),
}


@pytest.mark.slow
def test_a_store_that_is_away_is_told_in_one_sentence() -> None:
    def catch_refusal(act: Callable[[Redis], object]) -> str:
        with (
            connect_server(f"redis://127.0.0.1:{closed_port()}/0") as client,
            pytest.raises(StoreUnavailable) as caught,
        ):
            act(client)
        return str(caught.value)

    with ThreadPoolExecutor(len(AWAY)) as pool:
        messages = dict(zip(AWAY, pool.map(catch_refusal, AWAY.values()), strict=True))
    assert {name: is_one_sentence(text) for name, text in messages.items()} == dict.fromkeys(AWAY, True)
