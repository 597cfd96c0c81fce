"""The failure of a service as a finding: a short problem, and the error's own sentence as advice."""

from __future__ import annotations

from bot.domain.errors import (
    GitHubRefused,
    ModelRejected,
    NotSetUp,
    PrdigestError,
    RateLimited,
    RepositoryNotFound,
    SlackRefused,
    StoreUnavailable,
)
from bot.domain.operations.finding import Finding

_WORDS: dict[type[PrdigestError], str] = {
    NotSetUp: "not set up",
    GitHubRefused: "refused",
    SlackRefused: "refused",
    ModelRejected: "refused",
    RateLimited: "used up",
    RepositoryNotFound: "not found",
    StoreUnavailable: "can't be used",
}


def failure(name: str, error: PrdigestError, advice: str = "") -> Finding:
    """Return the finding of a check that ended in an error."""
    problem = next((word for kind, word in _WORDS.items() if isinstance(error, kind)), "no answer")
    return Finding.failed(name, problem, advice or str(error))
