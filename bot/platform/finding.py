"""The results of the doctor's checks of an installation."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from bot.errors import (
    ConfigurationError,
    GitHubAccessDenied,
    ModelRequestRejected,
    PrdigestError,
    RateLimited,
    RepositoryNotFound,
    SlackCallRefused,
    StoreUnavailable,
)

_PROBLEMS: dict[type[PrdigestError], str] = {
    ConfigurationError: "not set up",
    GitHubAccessDenied: "refused",
    SlackCallRefused: "refused",
    ModelRequestRejected: "refused",
    RateLimited: "used up",
    RepositoryNotFound: "not found",
    StoreUnavailable: "can't be used",
}


_NOT_CHECKED = "not checked"


class CheckStatus(StrEnum):
    OK = "ok"
    FAILED = "failed"
    NOTE = "note"
    """Nothing to fix: a remark, something not in use here, or not checked."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A check and its result, ``result``. ``advice`` is one sentence on what to do; all failed checks have it."""

    name: str
    status: CheckStatus
    result: str
    advice: str = ""

    @classmethod
    def build_success(cls, name: str, result: str) -> Finding:
        return cls(name, CheckStatus.OK, result)

    @classmethod
    def build_failure(cls, name: str, result: str, advice: str) -> Finding:
        return cls(name, CheckStatus.FAILED, result, advice)

    @classmethod
    def build_note(cls, name: str, result: str, advice: str = "") -> Finding:
        return cls(name, CheckStatus.NOTE, result, advice)

    @classmethod
    def build_unchecked(cls, name: str, cause: str) -> Finding:
        """Build the finding of a check that was skipped because of another failure, which has its own finding."""
        return cls(name, CheckStatus.NOTE, f"{_NOT_CHECKED}: {cause}")

    @property
    def is_unchecked(self) -> bool:
        return self.result.startswith(_NOT_CHECKED)

    @classmethod
    def build_error(cls, name: str, error: PrdigestError, advice: str = "") -> Finding:
        """Build the finding of a check that ended in an error, whose own sentence is the advice."""
        problem = next((words for kind, words in _PROBLEMS.items() if isinstance(error, kind)), "no answer")
        return cls.build_failure(name, problem, advice or str(error))
