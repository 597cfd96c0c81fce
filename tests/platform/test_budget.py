"""Answers cost money: not more than is set for a day and for a person."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol

import pytest
from redis import Redis

from bot.dates import LocalDay, get_today, parse_zone
from bot.errors import BudgetExceeded, StoreUnavailable
from bot.platform.costs import PEOPLE_SHARE, Budget, Expense, WorkKind, name_payer
from bot.platform.slack.requests import SlackRequest
from bot.platform.store.connection import SHORT_TIMEOUTS, connect_server
from bot.platform.store.spending import BudgetHold, SpendingStore
from bot.usage import CallPurpose
from tests.helpers.checks import closed_port, is_one_sentence
from tests.helpers.doubles import slack_request

# eight in the morning in UTC is midnight in California
MIDNIGHT = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
ADA = slack_request()
GRACE = slack_request(user="U0GRACE")
NAMESAKE = slack_request(team="T0OTHER")


@dataclass
class Now:
    at: datetime = MIDNIGHT - timedelta(minutes=1)
    zone: str = "America/Los_Angeles"

    def __call__(self) -> LocalDay:
        return get_today(self.at, parse_zone(self.zone))


class MakeBudget(Protocol):
    def __call__(
        self, daily: float = 5.0, personal: float = 1.0, now: Now | None = None, monthly: float | None = None
    ) -> Budget: ...


@pytest.fixture
def budget(store: Redis) -> MakeBudget:
    def make(
        daily: float = 5.0, personal: float = 1.0, now: Now | None = None, monthly: float | None = None
    ) -> Budget:
        return Budget(SpendingStore(store), now or Now(), daily, personal, monthly)

    return make


def spend(there: Budget, asked: SlackRequest, dollars: float) -> None:
    there.settle_cost(there.reserve_cost(name_payer(asked), CallPurpose.USUAL, dollars), dollars)


def test_there_is_an_answer_until_the_budget_is_used_up(budget: MakeBudget) -> None:
    there = budget()
    assert there.explain_refusal(ADA) == ""
    spend(there, ADA, 0.5)
    assert there.explain_refusal(ADA) == ""
    spend(there, ADA, 0.5)
    assert there.explain_refusal(ADA) == (
        "You have used up your budget for today; it resets at midnight (America/Los_Angeles)."
    )


def test_one_persons_budget_is_not_anothers(budget: MakeBudget) -> None:
    there = budget()
    spend(there, ADA, 1.0)
    assert there.explain_refusal(ADA)
    assert there.explain_refusal(GRACE) == ""
    assert there.explain_refusal(NAMESAKE) == "", "of another workspace"


def test_all_together_have_one_too(budget: MakeBudget) -> None:
    there = budget(daily=2.0)
    spend(there, ADA, 0.7)
    spend(there, GRACE, 0.7)
    assert there.explain_refusal(NAMESAKE) == ""
    spend(there, NAMESAKE, 0.2)
    for somebody in (ADA, GRACE, NAMESAKE, slack_request(user="U0NEW")):
        refusal = there.explain_refusal(somebody)
        assert refusal.startswith("Today's model budget is used up; it resets at midnight")
        assert is_one_sentence(refusal)


def test_an_answer_may_go_over_it_but_not_the_next(budget: MakeBudget) -> None:
    there = budget()
    spend(there, ADA, 40.0)
    assert there.explain_refusal(GRACE)


@pytest.mark.parametrize(("daily", "personal"), [(0.0, 1.0), (5.0, 0.0)])
def test_no_budget_is_no_answer(budget: MakeBudget, daily: float, personal: float) -> None:
    assert budget(daily, personal).explain_refusal(ADA)


@pytest.mark.parametrize(
    ("zone", "minutes", "is_anew"),
    [
        ("America/Los_Angeles", 0, False),
        ("America/Los_Angeles", 1, True),
        ("UTC", 1, False),
        ("UTC", 16 * 60, False),
        ("UTC", 16 * 60 + 1, True),
        ("Asia/Tokyo", 6 * 60 + 59, False),
        ("Asia/Tokyo", 7 * 60 + 1, True),
    ],
)
def test_it_begins_anew_at_midnight_there(budget: MakeBudget, zone: str, minutes: int, is_anew: bool) -> None:
    now = Now(zone=zone)
    there = budget(now=now)
    spend(there, ADA, 9.0)
    now.at += timedelta(minutes=minutes)
    assert (there.explain_refusal(ADA) == "") == is_anew


def test_the_sentence_names_the_zone(budget: MakeBudget) -> None:
    there = budget(now=Now(zone="Asia/Tokyo"))
    spend(there, ADA, 9.0)
    assert "midnight (Asia/Tokyo)" in there.explain_refusal(ADA)


@pytest.mark.slow
def test_nobody_guesses_where_the_store_is_away() -> None:
    with connect_server(f"redis://127.0.0.1:{closed_port()}/0", timeouts=SHORT_TIMEOUTS) as client:
        there = Budget(SpendingStore(client), Now(), 5.0, 1.0)
        for act in (
            lambda: there.explain_refusal(ADA),
            lambda: there.reserve_cost("", CallPurpose.USUAL, 0.1),
            lambda: there.settle_cost(BudgetHold("a", 0.1, ("b",)), 0.1),
        ):
            with pytest.raises(StoreUnavailable):
                act()
        there.add_work(WorkKind.DIGEST, Expense(10, 0.1))  # a digest is shown all the same


# --- who gets how much of it, and what is given up first


def why(there: Budget, payer: str, need: CallPurpose = CallPurpose.USUAL) -> str:
    """Why there is no such call; empty where there is."""
    try:
        there.reserve_cost(payer, need, 0.01)
    except BudgetExceeded as error:
        return str(error)
    return ""


OWN, NEARLY, ALL = (
    "the person who asked has used up their budget for today",
    "today's model budget is nearly used up",
    "today's model budget is used up",
)


@pytest.mark.parametrize(
    ("spent", "given_up"),
    [(0.0, 0), (7.9, 0), (8.0, 1), (8.9, 1), (9.0, 2), (9.4, 2), (9.5, 3), (9.9, 3), (10.0, 4), (40.0, 4)],
)
def test_what_can_be_missed_most_easily_is_given_up_first(budget: MakeBudget, spent: float, given_up: int) -> None:
    there = budget(daily=10.0)
    there.settle_cost(there.reserve_cost("", CallPurpose.USUAL, spent), spent)
    refused = [need for need in CallPurpose if why(there, "", need)]
    assert (
        refused
        == [CallPurpose.SECOND_READING, CallPurpose.OVERVIEW, CallPurpose.SMALL, CallPurpose.USUAL][:given_up]
    )
    assert {why(there, "", need) for need in refused} == (
        {NEARLY} if 0 < given_up < 4 else {ALL} if given_up else set()
    )


def test_people_together_leave_the_rest_to_what_comes_by_itself(budget: MakeBudget) -> None:
    there = budget(daily=10.0, personal=1.0)
    for number in range(40):
        asked = slack_request(user=f"U{number}")
        if not there.explain_refusal(asked):
            spend(there, asked, 0.99)
    assert there.read_spending_today() == pytest.approx(10.0 * PEOPLE_SHARE, abs=1.0)
    assert (why(there, name_payer(ADA)), why(there, "")) == (ALL, "")
    assert there.explain_refusal(ADA).startswith("Today's model budget is used up")


def test_a_person_over_their_own_is_refused_and_nobody_else(budget: MakeBudget) -> None:
    there = budget()
    spend(there, ADA, 1.0)
    assert (why(there, name_payer(ADA)), why(there, name_payer(GRACE)), why(there, "")) == (OWN, "", "")


# --- a month

MONTH_NEARLY, MONTH_ALL = ("this month's model budget is nearly used up", "this month's model budget is used up")


@pytest.mark.parametrize(("spent", "given_up"), [(79.0, 0), (80.0, 1), (90.0, 2), (95.0, 3), (100.0, 4)])
def test_a_month_gives_up_the_same_things_in_the_same_order(
    budget: MakeBudget, spent: float, given_up: int
) -> None:
    now = Now()
    there = budget(daily=1_000.0, monthly=100.0, now=now)
    there.settle_cost(there.reserve_cost("", CallPurpose.USUAL, spent), spent)
    now.at -= timedelta(days=3)
    refused = [need for need in CallPurpose if why(there, "", need)]
    assert refused == list(CallPurpose)[:given_up]
    assert {why(there, "", need) for need in refused} <= {MONTH_NEARLY, MONTH_ALL}
    assert (why(there, "") == MONTH_ALL) == (given_up == 4)


def test_the_days_of_a_month_add_up_and_the_next_month_begins_with_nothing(budget: MakeBudget) -> None:
    now = Now(at=datetime(2026, 2, 3, 20, 0, tzinfo=UTC))
    there = budget(daily=50.0, monthly=100.0, now=now)
    for _ in range(2):
        there.settle_cost(there.reserve_cost("", CallPurpose.USUAL, 50.0), 50.0)
        assert why(there, "") == ALL
        now.at += timedelta(days=1)
    assert why(there, "") == MONTH_ALL
    now.at = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
    assert (why(there, ""), there.read_spending_of_month()) == ("", 0.0)


def test_a_month_without_a_limit_is_counted_all_the_same(budget: MakeBudget) -> None:
    there = budget(daily=1_000.0)
    there.settle_cost(there.reserve_cost("", CallPurpose.USUAL, 900.0), 900.0)
    assert (why(there, ""), there.read_spending_of_month()) == ("", 900.0)


def test_people_leave_a_quarter_of_the_month_to_the_schedule(budget: MakeBudget) -> None:
    there = budget(daily=1_000.0, personal=1_000.0, monthly=100.0)
    spend(there, ADA, 75.0)
    assert (why(there, name_payer(GRACE)), why(there, "")) == (MONTH_ALL, "")


@pytest.mark.parametrize(
    ("at", "first"),
    [(datetime(2026, 2, 14, tzinfo=UTC), "2026-03-01"), (datetime(2026, 12, 31, 22, tzinfo=UTC), "2027-01-01")],
)
def test_the_sentence_says_when_the_month_is_over(budget: MakeBudget, at: datetime, first: str) -> None:
    there = budget(daily=1_000.0, personal=1_000.0, monthly=10.0, now=Now(at=at))
    spend(there, ADA, 10.0)
    refusal = there.explain_refusal(GRACE)
    assert refusal == f"This month's model budget is used up; it resets on {first} (America/Los_Angeles)."
    assert is_one_sentence(refusal)
