"""The page about the cost, in Slack and in a terminal."""

from __future__ import annotations

from collections import Counter
from datetime import date

import pytest
from localslack.rules.messages import check_message, find_links, find_mentions

from bot.domain.operations.budget import BudgetLimits
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
from bot.domain.operations.usage_report import LastDigest, UsageReport, build_spendings
from bot.render.operations.usage import format_usage, render_usage

MONTH = date(2026, 2, 1)


def totals() -> CostTotals:
    amounts = Counter[str]()
    for kind, origin, usage, dollars in (
        (CallKind.SUMMARY, CallOrigin.SCHEDULE, Usage(input=2_000_000, output=20_000), 0.25),
        (CallKind.QUESTION, CallOrigin.PERSON, Usage(input=10_000, cache_read=30_000, output=500), 0.004),
        (CallKind.OVERVIEW, CallOrigin.TERMINAL, Usage(input=100, output=5), 1.5),
    ):
        amounts.update(build_call_entry(MONTH, kind, origin, usage, dollars).amounts)
    digest = Expense(2, Usage(input=1_000), 0.06, cache_hits=3, cache_misses=1)
    amounts.update(build_work_entry(MONTH, WorkKind.DIGEST, digest).amounts)
    return sum_days([amounts])


def report(today: float = 9.2, monthly: float | None = None) -> UsageReport:
    day, month = build_spendings(BudgetLimits(10.0, 2.0, monthly), today, 42.0)
    last = LastDigest("octo/engine, Saturday 28 February 2026", 1_000, 0.06)
    return UsageReport(MONTH, "Europe/Berlin", totals(), totals(), day, month, last)


def test_a_reader_sees_what_it_cost_what_for_and_what_is_left() -> None:
    shown = format_usage(report())
    for part in (
        "Today: $1.75 for 3 calls and 2.1 million tokens; $9.20 of the limit of $10.00 used, $0.80 left",
        "This month: $1.75 for 3 calls and 2.1 million tokens; no limit is set",
        "Summaries: $0.25 for 1 call and 2.0 million tokens",
        "Questions: under $0.01 for 1 call and 40,500 tokens",
        "Overviews: $1.50",
        "Digests: 1, on average $0.06 and 1,000 tokens",
        "Last digest (octo/engine, Saturday 28 February 2026): $0.06 and 1,000 tokens",
        "75% of summaries came from the cache; 1% of what models read came from their prompt cache",
        "Commands in a terminal: $1.50, which counts toward no limit",
        "Left out now, because a limit is near or reached: the second reading, overviews.",
        "the second reading at 80%, overviews at 90%, summaries of small pull requests at 95%",
        "all other model calls at 100%",
        "Days are those of Europe/Berlin.",
    ):
        assert part in " ".join(shown.split()), part


def test_a_month_with_a_limit_says_what_is_left_of_it() -> None:
    shown = format_usage(report(today=0.0, monthly=100.0))
    assert "$42.00 of the limit of $100.00 used, $58.00 left" in " ".join(shown.split())
    assert "Left out now" not in shown


def test_an_earlier_month_has_no_limits() -> None:
    shown = format_usage(UsageReport(MONTH, "UTC", totals()))
    assert "February: $1.75 for 3 calls" in shown
    assert "Today" not in shown


@pytest.mark.parametrize(
    "made",
    [report(), report(0.0, 0.0), UsageReport(MONTH, "UTC", CostTotals())],
    ids=["full", "no money", "empty"],
)
def test_slack_takes_every_page(made: UsageReport) -> None:
    post = render_usage(made)
    payload = post.build_payload()
    assert check_message(payload) is None
    assert (find_mentions(payload), find_links(payload)) == ([], [])


def test_a_month_without_calls_says_so() -> None:
    assert "February: No model was called" in format_usage(UsageReport(MONTH, "UTC", CostTotals()))
