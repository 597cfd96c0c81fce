"""Checks of GitHub for the doctor: one attempt each, with a short timeout."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from github import Auth, GithubException

from bot.adapters.github.api_calls import WRONG_SERVER, request_object, run_graphql_query
from bot.adapters.github.errors import GraphQLError, translate_github_errors
from bot.adapters.github.transport import make_github
from bot.domain.errors import GitHubUnavailable
from bot.domain.pull_requests.models import Repository
from bot.platform.http.bounded_calls import bound_requests
from bot.platform.http.server_time import parse_server_time
from bot.ports.probes import GitHubAccess, RemainingCalls

# stands for the repository in sentences about the token alone
_PLACEHOLDER = Repository("any", "repository")
_ACCESS_QUERY = """
query Read($owner: String!, $name: String!) {
  repository(owner: $owner, name: $name) {
    pullRequests(states: MERGED, first: 1) { nodes { number } }
    defaultBranchRef { name }
  }
}
"""
# the resources that a digest uses
_RESOURCES = ("core", "graphql")


class PyGithubProbe:
    """``GitHubProbe`` with PyGithub. ``timeout`` is in seconds."""

    def __init__(self, base_url: str, auth: Auth.Auth, timeout: int) -> None:
        self._timeout = timeout
        self._requester = make_github(auth=auth, base_url=base_url, timeout=timeout, retry=None).requester

    def check_access(self) -> GitHubAccess:
        """Check the token and return the access it gives. Reading the limits counts against none of them."""
        with translate_github_errors(_PLACEHOLDER), bound_requests(self._timeout):
            try:
                headers, answer = request_object(self._requester, "GET", "/rate_limit")
            except GithubException as error:
                if error.status != 404:
                    raise
                headers, answer = error.headers or {}, {"resources": {}} if _has_no_limits(error) else {}
        if "resources" not in answer:
            raise GitHubUnavailable(WRONG_SERVER)
        return GitHubAccess(_find_lowest_allowance(answer["resources"]), parse_server_time(headers))

    def can_read_commits(self, repository: Repository) -> bool:
        """Read the number of one pull request, and return whether the default branch can be read too."""
        names = {"owner": repository.owner, "name": repository.name}
        with translate_github_errors(repository), bound_requests(self._timeout):
            data, errors = run_graphql_query(self._requester, _ACCESS_QUERY, names)
            node = data.get("repository")
            if not node:
                raise GraphQLError(errors or [{"type": "NOT_FOUND", "message": "no repository"}])
            if node.get("pullRequests") is None:
                raise GraphQLError([{"type": "FORBIDDEN", "message": "no pull requests"}])
        return node.get("defaultBranchRef") is not None


def _has_no_limits(error: GithubException) -> bool:
    """Return whether a GitHub Enterprise server reports that it has no rate limits.

    An error from a wrong address does not count.
    """
    return isinstance(error.data, dict) and "rate limiting" in str(error.data.get("message", "")).lower()


def _find_lowest_allowance(resources: Mapping[str, Any]) -> RemainingCalls | None:
    """Return the allowance of the resource with the fewest calls left, None if no resource is listed."""
    used = [resources[name] for name in _RESOURCES if name in resources]
    if not used:
        return None
    scarce = min(used, key=lambda each: int(each["remaining"]))
    return RemainingCalls(int(scarce["remaining"]), datetime.fromtimestamp(int(scarce["reset"]), UTC))
