"""The ledger adds up exactly, whatever is written in whatever order."""

from __future__ import annotations

from collections import Counter
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.operations.budget import BudgetLimits, CallPurpose
from bot.domain.operations.ledger import (
    CallKind,
    CallOrigin,
    CostTotals,
    Expense,
    WorkKind,
    build_call_entry,
    build_work_entry,
    sum_days,
)
from bot.domain.operations.usage import Usage
from bot.domain.operations.usage_report import Spending, UsageReport, build_spendings

DAY = date(2026, 2, 28)
COUNT = st.integers(0, 10**7)
USAGES = st.builds(Usage, COUNT, COUNT, COUNT, COUNT, COUNT)
CALLS = st.tuples(
    st.sampled_from(CallKind), st.sampled_from(CallOrigin), USAGES, st.integers(0, 10**8).map(lambda n: n / 10**6)
)


@given(st.lists(CALLS, max_size=20), st.integers(1, 3))
def test_the_sum_of_days_is_the_sum_of_their_calls(
    calls: list[tuple[CallKind, CallOrigin, Usage, float]], days: int
) -> None:
    stored = [Counter[str]() for _ in range(days)]
    for place, call in enumerate(calls):
        stored[place % days].update(build_call_entry(DAY, *call).amounts)
    totals = sum_days(stored)
    assert totals.total.usage == sum((usage for _, _, usage, _ in calls), Usage())
    assert totals.total.calls == len(calls)
    assert totals.total.dollars == pytest.approx(sum(dollars for *_, dollars in calls), abs=1e-5)
    assert sum(totals.by_origin.values()) == pytest.approx(totals.total.dollars, abs=1e-5)
    assert set(totals.by_kind) == {kind for kind, *_ in calls}


def test_works_have_averages_and_the_cache_a_share() -> None:
    stored = Counter[str]()
    first = Expense(3, Usage(input=900, output=100), 0.06, cache_hits=30, cache_misses=10)
    for expense in (first, Expense(cache_hits=40)):
        stored.update(build_work_entry(DAY, WorkKind.DIGEST, expense).amounts)
    stored.update(build_work_entry(DAY, WorkKind.ANSWER, Expense(2, Usage(input=10), 0.5)).amounts)
    totals = sum_days([stored])
    digests = totals.work[WorkKind.DIGEST]
    assert (digests.count, digests.tokens) == (2, 1_000)
    assert digests.average_dollars == pytest.approx(0.03)
    assert totals.work[WorkKind.ANSWER].average_dollars == pytest.approx(0.5)
    assert totals.cache_share == pytest.approx(70 / 80)
    assert totals.total == Expense(), "the calls of works have entries of their own"


def test_names_that_a_later_version_wrote_are_left_out() -> None:
    assert sum_days([{"call:poem:schedule:calls": 3, "new": 1}]) == CostTotals()


@pytest.mark.parametrize(
    ("today", "month", "monthly", "left_out"),
    [
        (0.0, 0.0, None, 0),
        (7.99, 500.0, None, 0),
        (8.0, 0.0, None, 1),
        (0.0, 90.0, 100.0, 2),
        (9.5, 0.0, 100.0, 3),
        (0.0, 100.0, 100.0, 4),
        (12.0, 0.0, None, 4),
        (0.0, 0.0, 0.0, 4),
    ],
)
def test_what_is_left_out_follows_the_fuller_of_both_budgets(
    today: float, month: float, monthly: float | None, left_out: int
) -> None:
    day, of_month = build_spendings(BudgetLimits(10.0, 1.0, monthly), today, month)
    report = UsageReport(DAY, "UTC", CostTotals(), CostTotals(), day, of_month)
    assert report.omissions == tuple(CallPurpose)[:left_out]


@pytest.mark.parametrize(("spending", "left"), [((3.0, 10.0), 7.0), ((12.0, 10.0), 0.0), ((3.0, None), None)])
def test_what_is_left_is_never_below_nothing(spending: tuple[float, float | None], left: float | None) -> None:
    assert Spending(*spending).left == left
