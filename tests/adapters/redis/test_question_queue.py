"""Questions that wait for their turn, on a real server."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import permutations
from typing import cast

import pytest
from redis import Redis

from bot.adapters.redis.question_queue import RedisQuestionQueue
from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.conversations.thread import Question
from bot.domain.errors import StoreUnavailable
from bot.platform.store.connection import connect_server
from tests.helpers.checks import closed_port, is_one_sentence

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


# --- a store that is not there


AWAY: dict[str, Callable[[Redis], object]] = {
    "join": lambda client: RedisQuestionQueue(client).add_question(PLACE, question()),
    "first": lambda client: RedisQuestionQueue(client).get_first(PLACE),
    "leave": lambda client: RedisQuestionQueue(client).remove_question(PLACE, question()),
    "serve": lambda client: RedisQuestionQueue(client).try_lock(PLACE).__enter__(),
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
