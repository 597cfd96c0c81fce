from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import date
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from localslack.rules.messages import check_message, find_links, find_mentions

from bot.app import App
from bot.errors import UsageError
from bot.features.usage import (
    CostTotals,
    LastDigest,
    UsageReport,
    UsageRequest,
    WorkTotal,
    add_budgets,
    answer_usage,
    render_usage,
    sum_days,
)
from bot.platform.costs import Budget, CallKind, CallOrigin, Expense, WorkKind, count_call, count_work
from bot.platform.slack.requests import Audience
from bot.platform.slack.terminal import format_message
from bot.platform.store.spending import SpendingStore
from bot.usage import CallPurpose, Usage
from handlers import COMMANDS
from handlers.usage import enqueue_usage
from tests.helpers.builders import DAY
from tests.helpers.checks import is_one_sentence
from tests.helpers.doubles import slack_request

MARCH = date(2026, 3, 14)
MONTH = date(2026, 2, 1)


def totals() -> CostTotals:
    amounts = Counter[str]()
    for kind, origin, usage, dollars in (
        (CallKind.SUMMARY, CallOrigin.SCHEDULE, Usage(input=2_000_000, output=20_000), 0.25),
        (CallKind.QUESTION, CallOrigin.PERSON, Usage(input=10_000, cache_read=30_000, output=500), 0.004),
        (CallKind.OVERVIEW, CallOrigin.TERMINAL, Usage(input=100, output=5), 1.5),
    ):
        amounts.update(count_call(kind, origin, usage, dollars))
    amounts.update(count_work(WorkKind.DIGEST, Expense(1_000, 0.06, cache_hits=3, cache_misses=1)))
    return sum_days([amounts])


def report(today: float = 9.2, monthly: float | None = None, month: float = 42.0) -> UsageReport:
    budget = Budget(cast("SpendingStore", None), lambda: DAY, 10.0, 2.0, monthly)
    last = LastDigest("octo/engine, Saturday 28 February 2026", 1_000, 0.06)
    made = UsageReport(MONTH, "Europe/Berlin", totals(), totals(), last_digest=last)
    return add_budgets(made, budget, today, month)


def format_usage(made: UsageReport) -> str:
    return format_message(render_usage(made))


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
        "Left out now, because a limit is near or reached: the AI bug review, overviews.",
        "the AI bug review at 80%, overviews at 90%, summaries of small pull requests at 95%",
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
    report = UsageReport(MONTH, "UTC", CostTotals())
    assert "February: No model was called" in format_usage(report)
    assert "February: I no longer keep its calls, so I can't tell" in format_usage(replace(report, is_kept=False))


# --- sums

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
        stored[place % days].update(count_call(*call))
    totals = sum_days(stored)
    used = sum((usage for _, _, usage, _ in calls), Usage())
    assert (totals.tokens, totals.prompt_tokens, totals.calls) == (used.tokens, used.prompt_tokens, len(calls))
    assert (totals.input_tokens, totals.output_tokens) == (used.input, used.output)
    assert (totals.cache_read_tokens, totals.cache_write_tokens) == (
        used.cache_read,
        used.cache_write + used.cache_write_hour,
    )
    assert totals.dollars == pytest.approx(sum(dollars for *_, dollars in calls), abs=1e-5)
    assert sum(totals.dollars_by_origin.values()) == pytest.approx(totals.dollars, abs=1e-5)
    assert set(totals.by_kind) == {kind for kind, *_ in calls}


def test_digests_and_answers_are_summed_beside_their_calls() -> None:
    stored = Counter[str]()
    for expense in (Expense(1_000, 0.06, cache_hits=30, cache_misses=10), Expense(cache_hits=40)):
        stored.update(count_work(WorkKind.DIGEST, expense))
    stored.update(count_work(WorkKind.ANSWER, Expense(10, 0.5)))
    work = {WorkKind.DIGEST: WorkTotal(2, 1_000, 0.06), WorkKind.ANSWER: WorkTotal(1, 10, 0.5)}
    expected = CostTotals(work=work, summaries_from_cache=70, summaries_made=10)
    assert sum_days([stored]) == expected, "the calls of works have entries of their own"


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
    made = report(today, monthly, month)
    assert made.left_out == tuple(CallPurpose)[:left_out]


# --- what is asked for, and who sees the answer


@pytest.mark.parametrize(
    ("text", "month", "is_private"),
    [
        ("usage", None, False),
        ("USAGE private", None, True),
        ("usage 2026-03", date(2026, 3, 1), False),
        ("2025-12", date(2025, 12, 1), False),
        ("", None, False),
    ],
)
def test_a_request_is_read_and_written_back(text: str, month: date | None, is_private: bool) -> None:
    request = UsageRequest.parse(text, MARCH)
    assert request == UsageRequest(month, is_private)
    assert UsageRequest.parse(str(request), MARCH) == UsageRequest(month)


@pytest.mark.parametrize(
    "text",
    [
        "usage 2026-13",
        "usage 2026-00",
        "usage 0000-01",
        "usage march",
        "usage 2026-3",
        "usage \uff12\uff10\uff12\uff16-01",
        "usage 2026-04",
        "usage 9999-12",
        "usage 2026-01 2026-02",
        "usage month:2026-01",
    ],
)
def test_what_is_no_month_is_refused_with_advice(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        UsageRequest.parse(text, MARCH)
    assert is_one_sentence(str(caught.value))


class Queue:
    def __init__(self) -> None:
        self.sent: list[tuple[object, Any]] = []

    @property
    def jobs(self) -> Queue:
        return self

    def send(self, job: object, payload: Any) -> None:
        self.sent.append((job, payload))


@pytest.mark.parametrize(
    ("audience", "seen_by"),
    [
        (Audience.CHANNEL, Audience.ASKER),
        (Audience.HERE, Audience.ASKER),
        (Audience.ASKER, Audience.ASKER),
        (Audience.SHARED, Audience.SHARED),
    ],
)
def test_only_who_asks_sees_the_cost_unless_it_is_shared(audience: Audience, seen_by: Audience) -> None:
    queue = Queue()
    enqueue_usage(cast("App", queue), slack_request(), UsageRequest(), audience)
    ((job, payload),) = queue.sent
    assert (job, payload["audience"]) == (answer_usage, seen_by)


def test_its_word_is_one_of_prdigest() -> None:
    command = next(each for each in COMMANDS if "prdigest" in each.trigger_words)
    assert UsageRequest in next(each.request_types for each in command.requests if each.word == "usage")
