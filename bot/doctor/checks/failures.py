"""The failure of a service as a finding: a short problem, and the error's own sentence as advice."""

from __future__ import annotations

from bot.domain.errors import (
    ConfigurationError,
    GitHubAccessDenied,
    ModelRequestRejected,
    PrdigestError,
    RateLimited,
    RepositoryNotFound,
    SlackCallRefused,
    StoreUnavailable,
)
from bot.domain.operations.finding import Finding

_PROBLEMS: dict[type[PrdigestError], str] = {
    ConfigurationError: "not set up",
    GitHubAccessDenied: "refused",
    SlackCallRefused: "refused",
    ModelRequestRejected: "refused",
    RateLimited: "used up",
    RepositoryNotFound: "not found",
    StoreUnavailable: "can't be used",
}


def describe_failure(name: str, error: PrdigestError, advice: str = "") -> Finding:
    """Return the finding of a check that ended in an error."""
    problem = next((word for kind, word in _PROBLEMS.items() if isinstance(error, kind)), "no answer")
    return Finding.build_failure(name, problem, advice or str(error))
