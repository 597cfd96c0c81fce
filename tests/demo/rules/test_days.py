"""Which days a question names, as the bot's tools take them."""

from __future__ import annotations

import datetime as dt

import pytest

from bot.demo.rules.days import parse_days

# a Sunday
TODAY = dt.date(2026, 3, 1)
NAMED = {
    "what merged today?": "today",
    "anything risky today?": "today",
    "what should we do today?": "",
    "what changed today that we need to know?": "today",
    "what merged yesterday?": "yesterday",
    "what merged the day before yesterday?": "2026-02-27",
    "and on 2026-02-27?": "2026-02-27",
    "2026-02-20..2026-02-27": "2026-02-20..2026-02-27",
    "what landed on 27 February?": "2026-02-27",
    "what landed on Feb 27th?": "2026-02-27",
    "on the 3rd of December": "2025-12-03",
    "on December 3, 2024": "2024-12-03",
    "on 31 February": "",
    "on Friday": "2026-02-27",
    "last Sunday": "2026-02-22",
    "since Friday": "2026-02-27..2026-03-01",
    "in the last 3 days": "3d",
    "7d": "7d",
    "what merged last week?": "7d",
    "this month": "30d",
    "tomorrow": "2026-03-02",
    "what changed in 0.17?": "",
    "which may break?": "",
}


@pytest.mark.parametrize(("question", "days"), NAMED.items(), ids=NAMED)
def test_the_days_that_a_question_names(question: str, days: str) -> None:
    assert parse_days(question, TODAY) == days
