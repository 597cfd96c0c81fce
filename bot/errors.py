"""Errors of the domain. The message of each is one sentence for a person."""

from __future__ import annotations

from bot.usage import NO_USAGE, BudgetRefusal, Usage
from impact import errors

# what impact raises is a PrdigestError, too
PrdigestError = errors.ImpactError
UsageError = errors.UsageError


class ConfigurationError(UsageError):
    """A missing or invalid setting. The message names it for the operator."""


class RepositoryNotFound(PrdigestError):
    """A repository that GitHub does not know or that the token may not read."""


class PullRequestNotFound(PrdigestError):
    """A number that no pull request of the repository has."""


class DayUnavailable(PrdigestError):
    """A day for which the list of merges cannot be had, now or later. The message names the day or days.

    ``short`` is a version of a few words for a line about that day.
    """

    def __init__(self, message: str, short: str = "not known") -> None:
        super().__init__(message)
        self.short = short


class GitHubAccessDenied(PrdigestError):
    """A refusal by GitHub of the token or of its permissions."""


class RateLimited(PrdigestError):
    """A rate limit with a longer pause than the caller may wait. ``retry_after`` is in seconds."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class GitHubUnavailable(PrdigestError):
    """No usable answer from GitHub, after retries."""


class SourceUnavailable(PrdigestError):
    """A commit whose files can't be read."""


class PackageUnavailable(PrdigestError):
    """A version of a package whose source can't be read. The message says why."""


class DiscussionUnavailable(PrdigestError):
    """A pull request whose discussion can't be read. The message says why."""


class MirrorUnavailable(PrdigestError):
    """A mirror that can't be made or brought up to date. The message names the reason for the log.

    ``is_known``: it was told before.
    """

    def __init__(self, message: str, *, is_known: bool = False) -> None:
        super().__init__(message)
        self.is_known = is_known


class TimeLimitExceeded(PrdigestError):
    """Work that did not end within the time promised to the person or process that waits for it."""


class StoreUnavailable(PrdigestError):
    """A Redis server, external or embedded, that cannot be started or reached."""


class SlackCallRefused(PrdigestError):
    """A call that Slack refused for a reason that a person has to fix. ``code`` is Slack's error code."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


class SlackUnavailable(PrdigestError):
    """A call that Slack did not answer: it may have had its effect, but not with ``retry_after`` (seconds)."""

    def __init__(self, message: str = "", retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


def get_retry_delay(error: PrdigestError) -> float | None:
    """Return the pause, in seconds, that GitHub or Slack asked for; None if the error is another one."""
    return error.retry_after if isinstance(error, RateLimited | SlackUnavailable) else None


class AnswerCancelled(PrdigestError):
    """A request by the asker to stop the answer that is being written."""


class PostingInProgress(PrdigestError):
    """A publication that another process is posting at this moment."""


class ModelError(PrdigestError):
    """No usable answer from the model. ``usage`` counts the tokens that the attempt used all the same."""

    def __init__(self, message: str, usage: Usage = NO_USAGE) -> None:
        super().__init__(message)
        self.usage = usage


class ModelBusy(ModelError):
    """A temporary failure: 429, 529, 5xx, a timeout or a lost connection. ``retry_after`` is in seconds."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ModelRequestRejected(ModelError):
    """A rejected key, model name or request. The same request would fail again."""


class ModelInputTooLong(ModelError):
    """A request that the model's context window can't hold. A shorter one may succeed.

    ``excess`` is the number of tokens by which it is too long, None if that is unknown.
    """

    def __init__(self, message: str, excess: int | None = None) -> None:
        super().__init__(message)
        self.excess = excess


class ModelRefusal(ModelError):
    """A refusal of the model to answer this input."""


class BudgetExceeded(ModelError):
    """A call that was not made because the budget is used up or there were too many calls in a minute."""

    def __init__(self, refusal: BudgetRefusal) -> None:
        super().__init__(refusal.clause)
        self.refusal = refusal


class ModelAnswerTruncated(ModelError):
    """An answer that reached the token limit before it was complete."""


class ModelAnswerInvalid(ModelError):
    """An answer that is not JSON of the requested schema or has a value out of range."""
