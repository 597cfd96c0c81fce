"""Translation of GitHub's failures into errors of the domain."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import requests
from github import (
    BadCredentialsException,
    GithubException,
    RateLimitExceededException,
    UnknownObjectException,
)
from github.GithubException import RateLimitExceededExceedsMaxWait
from github.Requester import Requester

from bot.adapters.http.bounded_calls import TooSlow
from bot.domain.errors import (
    GitHubRefused,
    GitHubUnavailable,
    PrdigestError,
    PullRequestNotFound,
    RateLimited,
    RepositoryNotFound,
)
from bot.domain.pull_requests.models import Repository
from bot.domain.text.strings import plural


class GraphQLFailed(Exception):
    """Error for a GraphQL answer that holds errors and no usable data."""

    def __init__(self, errors: list[dict[str, Any]]) -> None:
        super().__init__("; ".join(str(error.get("message")) for error in errors))
        self.errors = errors


class AnswerUnreadable(Exception):
    """Error for an answer of the wrong shape. The message describes it for the log."""


@contextmanager
def translate_github_errors(repository: Repository, number: int | None = None) -> Iterator[None]:
    """Raise errors of the domain in place of what PyGithub raises in the block."""
    try:
        yield
    except GraphQLFailed as error:
        raise _of_graphql(error, repository, number) from error
    except GithubException as error:
        raise _of_rest(error, repository, number) from error
    except requests.exceptions.RequestException as error:
        raise _of_transport(error) from error
    except AnswerUnreadable as error:
        raise GitHubUnavailable(
            f"GitHub's answer for {repository} can't be read ({error}): try again in a few minutes."
        ) from error
    except TooSlow as error:
        raise GitHubUnavailable("GitHub answers too slowly: try again in a few minutes.") from error


def _of_graphql(error: GraphQLFailed, repository: Repository, number: int | None) -> PrdigestError:
    """Return the error of the domain for a GraphQL error."""
    kinds = {item.get("type") for item in error.errors}
    if "RATE_LIMITED" in kinds:
        return _limited()
    if "NOT_FOUND" in kinds:
        paths = [item.get("path") or [] for item in error.errors]
        return _missing(repository, number if any("pullRequest" in path for path in paths) else None)
    if "FORBIDDEN" in kinds:
        return _forbidden(repository)
    return GitHubUnavailable(f"GitHub could not answer for {repository} ({error}): try again in a few minutes.")


def _of_rest(error: GithubException, repository: Repository, number: int | None) -> PrdigestError:
    """Return the error of the domain for an error of the REST API."""
    if isinstance(error, RateLimitExceededExceedsMaxWait):
        return _limited(error.wait)
    if isinstance(error, RateLimitExceededException) or error.status == 429:
        return _limited()
    if isinstance(error, BadCredentialsException) or error.status == 401:
        return GitHubRefused("GitHub refused the token: set GITHUB_TOKEN to one that is valid.")
    if isinstance(error, UnknownObjectException) or error.status == 404:
        return _missing(repository, number)
    if error.status == 403:
        return _limited() if _tells_of_limit(error.data) else _forbidden(repository)
    return GitHubUnavailable(f"GitHub answered {error.status} for {repository}: try again in a few minutes.")


def _tells_of_limit(data: object) -> bool:
    """Return whether a refusal is a rate limit for which PyGithub could not read when it ends."""
    message = data.get("message") if isinstance(data, dict) else data
    return isinstance(message, str) and Requester.isRateLimitError(message)


def _of_transport(error: requests.exceptions.RequestException) -> PrdigestError:
    """Return the error of the domain for a failed connection, or for the end of PyGithub's retries."""
    if "too many 429" in str(error) or "too many 403" in str(error):
        return _limited()
    if "too many 50" in str(error):
        return GitHubUnavailable("GitHub kept answering with server errors: try again in a few minutes.")
    return GitHubUnavailable("GitHub can't be reached: check GITHUB_API_URL and the network, then try again.")


def _limited(wait: float | None = None) -> RateLimited:
    """Return the error for a used up rate limit. ``wait`` is in seconds, None if it is unknown."""
    when = _in_words(wait) if wait else "later"
    return RateLimited(f"GitHub's rate limit for this token is used up: try again {when}.", wait)


def _in_words(seconds: float) -> str:
    """Format seconds as a phrase such as "in 5 minutes", or "in 2 hours" from two hours on."""
    minutes = math.ceil(seconds / 60)
    return f"in {minutes / 60:.0f} hours" if minutes >= 120 else f"in {plural(minutes, 'minute')}"


def _missing(repository: Repository, number: int | None) -> PrdigestError:
    """Return the error for a missing pull request, or for a missing repository if ``number`` is None."""
    if number is not None:
        return PullRequestNotFound(f"{repository} has no pull request #{number}.")
    return RepositoryNotFound(f"GitHub has no repository {repository}, or the token may not see it.")


def _forbidden(repository: Repository) -> GitHubRefused:
    """Return the error for a token without read access to a repository."""
    return GitHubRefused(
        f"GitHub does not let this token read {repository}: give it read access to pull requests."
    )
