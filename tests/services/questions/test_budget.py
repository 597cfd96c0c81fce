"""Answers cost money: not more than is set for a day and for a person."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from bot.domain.days import LocalDay, today, zone_of
from bot.domain.errors import StoreUnavailable
from bot.services.questions.budget import Budget
from tests.checks import is_one_sentence
from tests.services.doubles import visit

# eight in the morning in UTC is midnight in California
MIDNIGHT = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
ADA = visit()
GRACE = visit(user="U0GRACE")
NAMESAKE = visit(team="T0OTHER")


@dataclass
class MemorySpending:
    """``Spending`` in a dictionary."""

    dollars: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    error: StoreUnavailable | None = None

    def spent(self, name: str) -> float:
        if self.error:
            raise self.error
        return self.dollars[name]

    def add(self, dollars: float, *names: str) -> None:
        if self.error:
            raise self.error
        for name in names:
            self.dollars[name] += dollars


@dataclass
class Now:
    """A day in a zone, by a clock that a test sets."""

    at: datetime = MIDNIGHT - timedelta(minutes=1)
    zone: str = "America/Los_Angeles"

    def __call__(self) -> LocalDay:
        return today(self.at, zone_of(self.zone))


def budget(daily: float = 5.0, personal: float = 1.0, now: Now | None = None) -> Budget:
    return Budget(MemorySpending(), now or Now(), daily, personal)


def test_there_is_an_answer_until_the_budget_is_used_up() -> None:
    there = budget()
    assert there.refusal(ADA) == ""
    there.spend(ADA, 0.5)
    assert there.refusal(ADA) == ""
    there.spend(ADA, 0.5)
    assert there.refusal(ADA) == (
        "You have used up your budget for answers today; it begins anew at midnight (America/Los_Angeles)."
    )


def test_one_persons_budget_is_not_anothers() -> None:
    there = budget()
    there.spend(ADA, 1.0)
    assert there.refusal(ADA)
    assert there.refusal(GRACE) == ""
    assert there.refusal(NAMESAKE) == "", "of another workspace"


def test_all_together_have_one_too() -> None:
    there = budget(daily=2.0)
    there.spend(ADA, 0.9)
    there.spend(GRACE, 0.9)
    assert there.refusal(NAMESAKE) == ""
    there.spend(NAMESAKE, 0.2)
    for somebody in (ADA, GRACE, NAMESAKE, visit(user="U0NEW")):
        said = there.refusal(somebody)
        assert said.startswith("Today's budget for answers is used up; it begins anew at midnight")
        assert is_one_sentence(said)


def test_an_answer_may_go_over_it_but_not_the_next() -> None:
    there = budget()
    there.spend(ADA, 40.0)
    assert there.refusal(GRACE)


@pytest.mark.parametrize(("daily", "personal"), [(0.0, 1.0), (5.0, 0.0)])
def test_no_budget_is_no_answer(daily: float, personal: float) -> None:
    assert budget(daily, personal).refusal(ADA)


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
def test_it_begins_anew_at_midnight_there(zone: str, minutes: int, is_anew: bool) -> None:
    now = Now(zone=zone)
    there = budget(now=now)
    there.spend(ADA, 9.0)
    now.at += timedelta(minutes=minutes)
    assert (there.refusal(ADA) == "") == is_anew


def test_the_sentence_names_the_zone() -> None:
    there = budget(now=Now(zone="Asia/Tokyo"))
    there.spend(ADA, 9.0)
    assert "midnight (Asia/Tokyo)" in there.refusal(ADA)


def test_what_costs_nothing_is_not_written_down() -> None:
    spending = MemorySpending(error=StoreUnavailable("away"))
    Budget(spending, Now(), 5.0, 1.0).spend(ADA, 0.0)


def test_nobody_guesses_where_the_store_is_away() -> None:
    there = Budget(MemorySpending(error=StoreUnavailable("away")), Now(), 5.0, 1.0)
    with pytest.raises(StoreUnavailable):
        there.refusal(ADA)
    with pytest.raises(StoreUnavailable):
        there.spend(ADA, 0.1)
