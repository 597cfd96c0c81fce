"""Reasons why facts stand in for the model: by code, with the clause that readers see for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from bot.domain.errors import BudgetExceeded, ModelError
from bot.domain.operations.budget import BudgetRefusal


class FallbackReason(StrEnum):
    """A reason that has nothing to do with the budget. The store may have it; no value is ever changed."""

    # no key is set, which is no failure
    NO_MODEL = "no_model"
    # GitHub's record of the pull request is malformed
    UNREADABLE = "unreadable"
    NO_FILES = "no_files"
    # the digest was made without it
    NOT_SUMMARISED = "not_summarised"
    NOT_REQUESTED = "not_requested"
    MODEL_FAILED = "model_failed"


_CLAUSES: Mapping[FallbackReason, str] = {
    FallbackReason.NO_MODEL: "no model is set up",
    FallbackReason.UNREADABLE: "it could not be read",
    FallbackReason.NO_FILES: "its files could not be loaded",
    FallbackReason.NOT_SUMMARISED: "it was not summarized when the digest was made",
    FallbackReason.NOT_REQUESTED: "nobody has asked for it before",
    FallbackReason.MODEL_FAILED: "the model gave no answer",
}
# the clauses that earlier versions stored in place of a reason: they stay as they are, whatever readers see today
_STORED_CLAUSES: Mapping[str, FallbackReason | BudgetRefusal] = {
    "no model is set up": FallbackReason.NO_MODEL,
    "it could not be read": FallbackReason.UNREADABLE,
    "its files could not be loaded": FallbackReason.NO_FILES,
    "it was not summarized when the digest was made": FallbackReason.NOT_SUMMARISED,
    "nobody has asked for it before": FallbackReason.NOT_REQUESTED,
    "today's model budget is nearly used up": BudgetRefusal.DAY_NEARLY_USED,
    "today's model budget is used up": BudgetRefusal.DAY_USED,
    "this month's model budget is nearly used up": BudgetRefusal.MONTH_NEARLY_USED,
    "this month's model budget is used up": BudgetRefusal.MONTH_USED,
    "the person who asked has used up their budget for today": BudgetRefusal.PERSON_USED,
    "the person who asked sent too many requests in a minute": BudgetRefusal.TOO_MANY_CALLS,
}


@dataclass(frozen=True, slots=True)
class Fallback:
    """Why facts stand in for the model. ``detail`` is the clause of the error with which the model failed."""

    reason: FallbackReason | BudgetRefusal
    detail: str = ""

    @property
    def clause(self) -> str:
        """The reason as a clause for readers."""
        if isinstance(self.reason, BudgetRefusal):
            return self.reason.clause
        return self.detail or _CLAUSES[self.reason]


def explain_fallback(error: ModelError) -> Fallback:
    """Return why facts stand in for an answer that ended with an error."""
    if isinstance(error, BudgetExceeded):
        return Fallback(error.refusal)
    return Fallback(FallbackReason.MODEL_FAILED, str(error))


def describe_fallback(fallback: Fallback | None) -> str:
    """Return the reason as a clause for readers; empty without one, as the model answered."""
    return fallback.clause if fallback else ""


def is_for_budget(fallback: Fallback | None) -> bool:
    """Return whether the model was not asked because of the budget."""
    return fallback is not None and isinstance(fallback.reason, BudgetRefusal)


def read_fallback(stored: object) -> object:
    """Return what is stored of a reason in today's form. Earlier versions stored its clause, empty without one."""
    if not isinstance(stored, str):
        return stored
    if not stored:
        return None
    reason = _STORED_CLAUSES.get(stored)
    return Fallback(reason) if reason else Fallback(FallbackReason.MODEL_FAILED, stored)


def store_fallback(fallback: Fallback | None) -> object:
    """Return what to store of a reason. Without one it is empty, as earlier versions expect it."""
    return {"reason": fallback.reason.value, "detail": fallback.detail} if fallback else ""
