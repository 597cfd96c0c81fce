"""Calls to GitHub: authentication, retries, one client per thread."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, Self

from github import Auth, Github, GithubRetry
from github.File import File
from github.GithubException import RateLimitExceededExceedsMaxWait
from github.PaginatedList import PaginatedList

from bot.adapters.github_calls import MEDIA_TYPE, VERSION, ask_graphql, prepare_token
from bot.adapters.github_errors import GraphQLFailed
from bot.domain.pulls import Repository

# seconds; longer waits are for a queue, not for a thread
LONGEST_WAIT = 30


class _BoundedRetry(GithubRetry):
    """Retries as GitHub wants it, but gives up at once where it asks for a pause longer than a thread may wait."""

    def increment(self, *arguments: Any, **named: Any) -> Self:
        response = named.get("response")
        asked = "" if response is None else response.headers.get("Retry-After", "")
        if response is not None and asked.isdigit() and int(asked) > LONGEST_WAIT:
            headers = dict(response.headers)
            response.close()
            raise RateLimitExceededExceedsMaxWait(response.status, None, headers, wait=float(asked))
        found: Self = super().increment(*arguments, **named)  # type: ignore[assignment]
        return found


class GitHubClient:
    """PyGithub for many threads. A client that threads share has been seen to mix up answers."""

    def __init__(self, base_url: str, auth: Auth.Auth | None) -> None:
        self._base_url = base_url
        self._auth = auth
        self._clients = threading.local()

    def graphql(self, query: str, repository: Repository, variables: Mapping[str, Any]) -> dict[str, Any]:
        """The data of a query that takes ``$owner`` and ``$name``.

        An answer that holds the repository and errors about single fields is used as it is.
        """
        given = {"owner": repository.owner, "name": repository.name, **variables}
        data, errors = ask_graphql(self._client().requester, query, given)
        is_missing = any(error.get("type") == "NOT_FOUND" for error in errors)
        if is_missing or not data.get("repository"):
            raise GraphQLFailed(errors or [{"type": "NOT_FOUND", "message": "no repository"}])
        return data

    def files(self, repository: Repository, number: int) -> list[File]:
        """The changed files, 100 to a call, 3,000 at most."""
        requester = self._client().requester
        prepare_token(requester)
        address, wanted = f"/repos/{repository}/pulls/{number}/files", {"Accept": MEDIA_TYPE}
        return list(PaginatedList(File, requester, address, None, headers=wanted))

    def _client(self) -> Github:
        client: Github | None = getattr(self._clients, "client", None)
        if client is None:
            client = self._clients.client = Github(
                auth=self._auth,
                base_url=self._base_url,
                timeout=20,
                per_page=100,
                user_agent="prdigest",
                api_version=VERSION,
                retry=_BoundedRetry(total=3, max_rate_limit_wait=LONGEST_WAIT),
                # eight calls at a time are far below GitHub's hundred; a pause between calls only adds up
                seconds_between_requests=None,
                seconds_between_writes=None,
            )
        return client
