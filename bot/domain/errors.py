"""What can go wrong, in the words of the domain. The message of each is one sentence for a person."""

from __future__ import annotations

from bot.domain.operations.usage import NOTHING, Usage


class PrdigestError(Exception):
    """Base of every error that ends in one sentence for a person instead of a traceback."""


class UsageError(PrdigestError):
    """What the person typed or set can't be used; the sentence says what to type or set."""


class NotSetUp(UsageError):
    """A setting is missing or wrong; the sentence names it, for whoever runs the bot."""


class RepositoryNotFound(PrdigestError):
    """GitHub knows no such repository, or the token may not see it."""


class PullRequestNotFound(PrdigestError):
    """The repository has no pull request of that number."""


class DayUnavailable(PrdigestError):
    """It is not known what was merged on a day, and never will be; the sentence says of which days it is.

    ``short`` says so in a few words, for a line about that day.
    """

    def __init__(self, message: str, short: str = "not known") -> None:
        super().__init__(message)
        self.short = short


class GitHubRefused(PrdigestError):
    """GitHub refused the token or its permissions."""


class RateLimited(PrdigestError):
    """A service asks for a pause that is longer than a caller may wait; ``retry_after`` is in seconds."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class GitHubUnavailable(PrdigestError):
    """GitHub did not give a usable answer after retries."""


class OutOfTime(PrdigestError):
    """The work did not end within the time that whoever waits for it was promised."""


class StoreUnavailable(PrdigestError):
    """Redis, or the embedded server, can't be started or reached."""


class SlackRefused(PrdigestError):
    """Slack refused the call for a reason that a person has to mend; ``code`` is Slack's own word."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


class SlackUnavailable(PrdigestError):
    """Slack did not answer, so it is not known whether the call had its effect.

    With ``retry_after`` (seconds) it had none: Slack asked for a pause.
    """

    def __init__(self, message: str = "", retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


def pause_of(error: PrdigestError) -> float | None:
    """The seconds that GitHub or Slack want to be left in peace, where that is what went wrong."""
    return error.retry_after if isinstance(error, RateLimited | SlackUnavailable) else None


class AnswerStopped(PrdigestError):
    """The asker wants no more of an answer that is being written."""


class InProgress(PrdigestError):
    """Another process is posting the same thing at this moment."""


class ModelError(PrdigestError):
    """The model gave no usable answer. ``usage`` is what asking took all the same."""

    def __init__(self, message: str, usage: Usage = NOTHING) -> None:
        super().__init__(message)
        self.usage = usage


class ModelBusy(ModelError):
    """429, 529, 5xx, a time-out or a lost connection: asking again later may help (seconds)."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ModelRejected(ModelError):
    """The key, the model's name or the request is refused; asking the same again can't help."""


class ModelRefused(ModelError):
    """The model declined to answer this input."""


class BudgetSpent(ModelError):
    """There is no money left for the call, or there were too many in a minute; nobody was asked."""


class ModelTruncated(ModelError):
    """The answer hit the token limit before it was complete."""


class ModelAnswerInvalid(ModelError):
    """The answer is not JSON of the asked shape, or a value is out of range."""
