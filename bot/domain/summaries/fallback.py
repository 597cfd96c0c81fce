"""Reasons why facts stand in for the model: by code, with the clause that readers see for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from bot.domain.errors import BudgetExceeded, ModelError
from bot.domain.operations.usage import BudgetRefusal


class FallbackReason(StrEnum):
    """A reason that has nothing to do with the budget."""

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
