"""Translation of GitHub's failures into errors of the domain."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import requests
from github import BadCredentialsException, GithubException, RateLimitExceededException, UnknownObjectException
from github.GithubException import RateLimitExceededExceedsMaxWait
from github.Requester import Requester

from bot.errors import GitHubAccessDenied, GitHubUnavailable, PrdigestError, RateLimited, RepositoryNotFound
from bot.platform.http.bounded_calls import DeadlineExceeded
from bot.platform.pulls.models import Reference
from bot.text import format_count
from impact.repository import Repository


class GraphQLError(Exception):
    """Error for a GraphQL answer that holds errors and no usable data."""

    def __init__(self, errors: list[dict[str, Any]]) -> None:
        super().__init__("; ".join(str(error.get("message")) for error in errors))
        self.errors = errors


class UnreadableResponse(Exception):
    """Error for an answer of the wrong shape. The message describes it for the log."""


@contextmanager
def translate_github_errors(repository: Repository, number: int | None = None) -> Iterator[None]:
    """Raise errors of the domain in place of what PyGithub raises in the block."""
    try:
        yield
    except GraphQLError as error:
        raise _translate_graphql_error(error, repository, number) from error
    except GithubException as error:
        raise _translate_rest_error(error, repository, number) from error
    except requests.exceptions.RequestException as error:
        raise _translate_transport_error(error) from error
    except UnreadableResponse as error:
        raise GitHubUnavailable(
            f"GitHub's answer for {repository} can't be read ({error}): try again in a few minutes."
        ) from error
    except DeadlineExceeded as error:
        raise GitHubUnavailable("GitHub answers too slowly: try again in a few minutes.") from error


def _translate_graphql_error(error: GraphQLError, repository: Repository, number: int | None) -> PrdigestError:
    kinds = {item.get("type") for item in error.errors}
    if "RATE_LIMITED" in kinds:
        return _build_rate_limit_error()
    if "NOT_FOUND" in kinds:
        is_of_pull = any("pullRequest" in (item.get("path") or []) for item in error.errors)
        return _build_not_found_error(repository, number if is_of_pull else None)
    if "FORBIDDEN" in kinds:
        return _build_forbidden_error(repository)
    return GitHubUnavailable(f"GitHub could not answer for {repository} ({error}): try again in a few minutes.")


def _translate_rest_error(error: GithubException, repository: Repository, number: int | None) -> PrdigestError:
    if isinstance(error, RateLimitExceededExceedsMaxWait):
        return _build_rate_limit_error(error.wait)
    if isinstance(error, RateLimitExceededException) or error.status == 429:
        return _build_rate_limit_error()
    if isinstance(error, BadCredentialsException) or error.status == 401:
        return GitHubAccessDenied("GitHub rejected the token: set GITHUB_TOKEN to a valid one.")
    if isinstance(error, UnknownObjectException) or error.status == 404:
        return _build_not_found_error(repository, number)
    if error.status == 403:
        # it may be a rate limit for which PyGithub could not read when it ends
        message = error.data.get("message") if isinstance(error.data, dict) else error.data
        is_limit = isinstance(message, str) and Requester.isRateLimitError(message)
        return _build_rate_limit_error() if is_limit else _build_forbidden_error(repository)
    return GitHubUnavailable(f"GitHub answered {error.status} for {repository}: try again in a few minutes.")


def _translate_transport_error(error: requests.exceptions.RequestException) -> PrdigestError:
    """Return the error for a failed connection, or for the end of PyGithub's retries."""
    if "too many 429" in str(error) or "too many 403" in str(error):
        return _build_rate_limit_error()
    if "too many 50" in str(error):
        return GitHubUnavailable("GitHub kept answering with server errors: try again in a few minutes.")
    return GitHubUnavailable("GitHub can't be reached: check GITHUB_API_URL and the network, then try again.")


def _build_rate_limit_error(wait: float | None = None) -> RateLimited:
    when = "later"
    if wait:
        minutes = math.ceil(wait / 60)
        when = f"in {minutes / 60:.0f} hours" if minutes >= 120 else f"in {format_count(minutes, 'minute')}"
    return RateLimited(f"GitHub's rate limit for this token is used up: try again {when}.", wait)


def _build_not_found_error(repository: Repository, number: int | None) -> PrdigestError:
    if number is not None:
        return Reference(repository, number).build_missing_error()
    return RepositoryNotFound(
        f"GitHub has no repository {repository}, or the token may not read it: check its name in the settings, "
        "and give the token access."
    )


def _build_forbidden_error(repository: Repository) -> GitHubAccessDenied:
    return GitHubAccessDenied(f"The token may not read {repository}: give it read access to pull requests.")
