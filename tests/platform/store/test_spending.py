import os
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Timer
from typing import cast
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis import Redis

from bot.errors import StoreUnavailable
from bot.platform.store.connection import RedisTimeouts, connect_server
from bot.platform.store.spending import BUDGET_HOLDS, SPENDING, BudgetHold, SpendingStore
from tests.helpers.checks import closed_port, eventually, is_one_sentence


@pytest.fixture
def spending(store: Redis) -> SpendingStore:
    return SpendingStore(store)


def hold(*names: str, mark: str = "", dollars: float = 1.0) -> BudgetHold:
    return BudgetHold(mark or uuid4().hex, dollars, names)


def list_unsettled_holds(store: Redis, name: str) -> list[str]:
    members = cast("list[bytes]", store.zrange(BUDGET_HOLDS.build_key(name), 0, -1))
    return [each.decode() for each in members if b":settled:" not in each]


def test_nothing_is_spent_at_first(spending: SpendingStore) -> None:
    assert spending.get_spending("U1") == 0


def test_what_is_settled_is_added_up_for_each_name(spending: SpendingStore) -> None:
    spending.settle_hold(hold("U1", "all"), 0.1)
    spending.settle_hold(hold("U2", "all"), 0.2)
    spending.settle_hold(hold("U1"), 0.3)
    assert [spending.get_spending(name) for name in ("U1", "U2", "all", "U3")] == [0.4, 0.2, pytest.approx(0.3), 0]


def test_small_amounts_add_up_exactly(spending: SpendingStore) -> None:
    for _ in range(100):
        spending.settle_hold(hold("U1"), 0.000_123)
    assert spending.get_spending("U1") == 0.0123


def test_those_who_spend_at_once_are_all_counted(spending: SpendingStore) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: spending.settle_hold(hold("all", mark=str(n)), 0.01), range(50)))
    assert spending.get_spending("all") == 0.5


def test_what_was_spent_is_kept_for_two_days_over_a_new_client(
    store_url: str, spending: SpendingStore, store: Redis
) -> None:
    with connect_server(store_url) as other:
        SpendingStore(other).settle_hold(hold("U1"), 1.5)
    assert spending.get_spending("U1") == 1.5
    assert 2 * 86_400 - 10 <= int(str(store.ttl(SPENDING.build_key("U1")))) <= 2 * 86_400


def test_what_is_reserved_counts_until_it_is_settled(spending: SpendingStore, store: Redis) -> None:
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
    store: Redis, store_url: str, spending: SpendingStore, *, is_reserved: bool
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
            SpendingStore(hasty).settle_hold(call, 0.25)
        finally:
            waking.join()
    assert [spending.get_spending(name) for name in ("U1", "all")] == [0.35, 0.35]


def test_who_reserves_again_is_not_refused_for_the_first_time(spending: SpendingStore) -> None:
    call = hold("U1", dollars=1.0)
    assert [spending.reserve_budget(call, [("U1", 0.5)]) for _ in range(2)] == [None, None]
    assert spending.reserve_budget(hold("U1"), [("U1", 0.5)]) == 0


@pytest.mark.slow
def test_a_process_that_dies_reserves_nothing_for_ever(store: Redis) -> None:
    spending = SpendingStore(store, hold_seconds=1)
    vain = hold("U1")
    assert spending.reserve_budget(vain, [("U1", 0.5)]) is None
    assert spending.reserve_budget(hold("U1", mark="b"), [("U1", 0.5)]) == 0
    eventually(lambda: spending.reserve_budget(hold("U1", mark="b"), [("U1", 0.5)]) is None, 5)
    # and what was reserved in vain is settled late all the same, if its process lives after all
    spending.settle_hold(vain, 0.3)
    assert spending.get_spending("U1") == 0.3


@pytest.mark.slow
def test_processes_that_reserve_at_once_stay_below_together(store_url: str, spending: SpendingStore) -> None:
    def reserve(number: int) -> bool:
        with connect_server(store_url) as own:
            reserved = hold("all", mark=str(number), dollars=0.1)
            return SpendingStore(own).reserve_budget(reserved, [("all", 1.0)]) is None

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
    spending, caps = SpendingStore(store), {"a": own, "b": own, "all": whole}
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


AWAY: dict[str, Callable[[SpendingStore], object]] = {
    "spent": lambda store: store.get_spending("U1"),
    "hold": lambda store: store.reserve_budget(hold("U1"), [("U1", 1.0)]),
    "settle": lambda store: store.settle_hold(hold("U1"), 1.0),
}


@pytest.mark.slow
@pytest.mark.parametrize("act", AWAY.values(), ids=AWAY)
def test_a_store_that_is_away_is_told_in_one_sentence(act: Callable[[SpendingStore], object]) -> None:
    with (
        connect_server(f"redis://127.0.0.1:{closed_port()}/0") as client,
        pytest.raises(StoreUnavailable) as caught,
    ):
        act(SpendingStore(client))
    assert is_one_sentence(str(caught.value))
