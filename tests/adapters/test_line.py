"""Questions that wait for their turn, and dollars that were spent, on a real server."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import permutations

import pytest
from redis import Redis

from bot.adapters.line import RedisLine, RedisSpending
from bot.adapters.store import connect
from bot.domain.errors import StoreUnavailable
from bot.domain.talk import Question
from bot.domain.visits import Visit
from tests.checks import closed_port, is_one_sentence

PLACE = "C0HOME:1772300000.000100"
VISIT = Visit("Ev1", "T0TEAM", "C0HOME", "U0ASKER", thread="1772300000.000100")


def question(ts: str = "1772300001.000100", text: str = "Why?") -> Question:
    return Question(replace(VISIT, key=f"Ev:{ts}"), text, ts)


@pytest.fixture
def line(store: Redis) -> RedisLine:
    return RedisLine(store)


def served(line: RedisLine, place: str = PLACE) -> list[Question]:
    """All that wait, each after the one before has left."""
    found: list[Question] = []
    while (first := line.first(place)) and len(found) < 1_000:
        found.append(first)
        line.leave(place, first)
    return found


# --- turns


def test_nobody_waits_at_first(line: RedisLine) -> None:
    assert line.first(PLACE) is None


# the last differ in the last digit of what Slack gives, and in nothing that text sorts by
TIMES = ("999999999.999999", "1772300001.000100", "1772300001.000101", "1772300001.000102")


@pytest.mark.parametrize("order", [tuple(order) for order in permutations(TIMES)][::5], ids=lambda order: order[0])
def test_turns_go_by_the_time_of_asking_and_not_of_joining(line: RedisLine, order: tuple[str, ...]) -> None:
    for ts in order:
        line.join(PLACE, question(ts))
    assert [found.ts for found in served(line)] == list(TIMES)


def test_who_asked_earlier_and_joins_later_comes_first(line: RedisLine) -> None:
    line.join(PLACE, question("1772300002.000000"))
    assert line.first(PLACE) == question("1772300002.000000")
    line.join(PLACE, question("1772300001.999999"))
    assert line.first(PLACE) == question("1772300001.999999")


def test_who_joins_twice_waits_once(line: RedisLine) -> None:
    for _ in range(3):
        line.join(PLACE, question())
    assert served(line) == [question()]


def test_the_first_stays_until_it_leaves(line: RedisLine) -> None:
    line.join(PLACE, question())
    assert [line.first(PLACE) for _ in range(3)] == [question()] * 3
    line.leave(PLACE, question())
    assert line.first(PLACE) is None


def test_who_does_not_wait_may_leave(line: RedisLine) -> None:
    line.join(PLACE, question())
    line.leave(PLACE, question("1772300009.000100"))
    line.leave("C0ELSE:1.1", question())
    assert served(line) == [question()]


def test_who_left_may_join_again(line: RedisLine) -> None:
    for _ in range(2):
        line.join(PLACE, question())
        line.leave(PLACE, question())
    line.join(PLACE, question())
    assert served(line) == [question()]


def test_places_are_kept_apart(line: RedisLine) -> None:
    line.join(PLACE, question("1.1"))
    line.join("C0HOME:2", question("2.2"))
    assert [served(line, place) for place in (PLACE, "C0HOME:2")] == [[question("1.1")], [question("2.2")]]


ALL_FIELDS = Visit(
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
def test_a_question_comes_back_as_it_was_asked(line: RedisLine, asked: Question) -> None:
    line.join(PLACE, asked)
    assert served(line) == [asked]


def test_those_who_wait_outlive_who_let_them_in(store_url: str, line: RedisLine) -> None:
    with connect(store_url) as web:
        RedisLine(web).join(PLACE, question())
    assert served(line) == [question()]


def test_a_line_is_kept_over_a_weekend_after_the_last_who_joined_and_not_for_ever(
    line: RedisLine, store: Redis
) -> None:
    line.join(PLACE, question())
    (key,) = store.scan_iter()
    store.expire(key, 60)
    line.join(PLACE, question("1772300002.000100"))
    assert 3 * 86_400 - 10 <= int(str(store.ttl(key))) <= 3 * 86_400
    served(line)
    assert store.dbsize() == 0


def test_many_join_at_once_and_none_is_lost(line: RedisLine) -> None:
    asked = [question(f"17723000{n:02}.000100") for n in range(40)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda each: line.join(PLACE, each), reversed(asked)))
    assert served(line) == asked


# --- one serves


def test_one_serves_a_line_at_a_time(store_url: str, line: RedisLine) -> None:
    with connect(store_url) as other, line.serve(PLACE) as ours:
        with RedisLine(other).serve(PLACE) as theirs, line.serve(PLACE) as again:
            assert (ours, theirs, again) == (True, False, False)
        with RedisLine(other).serve("C0ELSE:1.1") as elsewhere:
            assert elsewhere


def test_who_was_not_let_in_frees_nothing(store_url: str, line: RedisLine) -> None:
    with connect(store_url) as other, line.serve(PLACE):
        for _ in range(2):
            with RedisLine(other).serve(PLACE) as theirs:
                assert not theirs


def test_a_line_is_free_after_it_was_served(store_url: str, line: RedisLine, store: Redis) -> None:
    with connect(store_url) as other:
        for client in (store, other, store):
            with RedisLine(client).serve(PLACE) as ours:
                assert ours
    assert store.dbsize() == 0


def test_a_line_is_free_after_who_served_it_failed(line: RedisLine) -> None:
    with pytest.raises(KeyError), line.serve(PLACE):
        raise KeyError
    with line.serve(PLACE) as ours:
        assert ours


def test_who_waits_may_join_and_leave_while_a_line_is_served(store_url: str, line: RedisLine) -> None:
    with connect(store_url) as other, line.serve(PLACE):
        RedisLine(other).join(PLACE, question())
        assert served(line) == [question()]


def test_of_many_who_come_at_once_one_serves(store_url: str, line: RedisLine) -> None:
    inside: list[int] = []
    peaks: list[int] = []

    def work(number: int) -> None:
        with line.serve(PLACE) as ours:
            if ours:
                inside.append(number)
                peaks.append(len(inside))
                inside.remove(number)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(16)))
    assert set(peaks) == {1}


# --- dollars


@pytest.fixture
def spending(store: Redis) -> RedisSpending:
    return RedisSpending(store)


def test_nothing_is_spent_at_first(spending: RedisSpending) -> None:
    assert spending.spent("U1") == 0


def test_what_is_spent_is_added_up_for_each_name(spending: RedisSpending) -> None:
    spending.add(0.1, "U1", "all")
    spending.add(0.2, "U2", "all")
    spending.add(0.3, "U1")
    assert [spending.spent(name) for name in ("U1", "U2", "all", "U3")] == [0.4, 0.2, pytest.approx(0.3), 0]


def test_small_amounts_add_up_exactly(spending: RedisSpending) -> None:
    for _ in range(100):
        spending.add(0.000_123, "U1")
    assert spending.spent("U1") == 0.0123


def test_nothing_may_be_added_and_to_nobody(spending: RedisSpending, store: Redis) -> None:
    spending.add(0, "U1")
    spending.add(1.0)
    assert (spending.spent("U1"), store.dbsize()) == (0, 1)


def test_those_who_spend_at_once_are_all_counted(spending: RedisSpending) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: spending.add(0.01, "all"), range(50)))
    assert spending.spent("all") == 0.5


def test_what_was_spent_is_kept_for_two_days_over_a_new_client(
    store_url: str, spending: RedisSpending, store: Redis
) -> None:
    with connect(store_url) as other:
        RedisSpending(other).add(1.5, "U1")
    assert spending.spent("U1") == 1.5
    (key,) = store.scan_iter()
    assert 2 * 86_400 - 10 <= int(str(store.ttl(key))) <= 2 * 86_400


# --- a store that is not there


AWAY: dict[str, Callable[[Redis], object]] = {
    "join": lambda client: RedisLine(client).join(PLACE, question()),
    "first": lambda client: RedisLine(client).first(PLACE),
    "leave": lambda client: RedisLine(client).leave(PLACE, question()),
    "serve": lambda client: RedisLine(client).serve(PLACE).__enter__(),
    "spent": lambda client: RedisSpending(client).spent("U1"),
    "add": lambda client: RedisSpending(client).add(1.0, "U1"),
}


def test_a_store_that_is_away_is_told_in_one_sentence() -> None:
    def said(act: Callable[[Redis], object]) -> str:
        with connect(f"redis://127.0.0.1:{closed_port()}/0") as client, pytest.raises(StoreUnavailable) as caught:
            act(client)
        return str(caught.value)

    with ThreadPoolExecutor(len(AWAY)) as pool:
        found = dict(zip(AWAY, pool.map(said, AWAY.values()), strict=True))
    assert {name: is_one_sentence(text) for name, text in found.items()} == dict.fromkeys(AWAY, True)
