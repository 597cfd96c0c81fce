"""Reasons for facts are codes; what readers see of them stays word for word."""

import pytest

from bot.errors import BudgetExceeded, ModelBusy
from bot.features.merges.summary import (
    Fallback,
    FallbackReason,
    describe_fallback,
    explain_fallback,
    is_for_budget,
)
from bot.usage import BudgetRefusal

# what readers of reports and digests see
SHOWN = {
    FallbackReason.NO_MODEL: "no model is set up",
    FallbackReason.UNREADABLE: "it could not be read",
    FallbackReason.NO_FILES: "its files could not be loaded",
    FallbackReason.NOT_SUMMARISED: "it was not summarized when the digest was made",
    FallbackReason.NOT_REQUESTED: "nobody has asked for it before",
    BudgetRefusal.DAY_NEARLY_USED: "today's model budget is nearly used up",
    BudgetRefusal.DAY_USED: "today's model budget is used up",
    BudgetRefusal.MONTH_NEARLY_USED: "this month's model budget is nearly used up",
    BudgetRefusal.MONTH_USED: "this month's model budget is used up",
    BudgetRefusal.PERSON_USED: "the person who asked has used up their budget for today",
    BudgetRefusal.TOO_MANY_CALLS: "the person who asked sent too many requests in a minute",
}


@pytest.mark.parametrize(("reason", "clause"), SHOWN.items())
def test_each_reason_has_its_clause(reason: FallbackReason | BudgetRefusal, clause: str) -> None:
    assert describe_fallback(Fallback(reason)) == clause
    assert is_for_budget(Fallback(reason)) == isinstance(reason, BudgetRefusal)


def test_what_is_left_are_the_error_of_the_model_and_the_second_reading() -> None:
    rest = {*FallbackReason, *BudgetRefusal} - SHOWN.keys()
    assert rest == {FallbackReason.MODEL_FAILED, BudgetRefusal.REVIEWS_USED}
    assert BudgetRefusal.REVIEWS_USED.clause == "today's budget for the AI bug review is used up"


def test_an_error_is_a_reason_by_its_type_not_by_its_words() -> None:
    assert explain_fallback(BudgetExceeded(BudgetRefusal.DAY_USED)) == Fallback(BudgetRefusal.DAY_USED)
    alike = explain_fallback(ModelBusy("today's model budget is used up"))
    assert (alike.clause, is_for_budget(alike)) == ("today's model budget is used up", False)
