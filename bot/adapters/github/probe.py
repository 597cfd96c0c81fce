"""Checks of GitHub for the doctor: one attempt each, with a short timeout."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from github import Auth, GithubException

from bot.adapters.github.api_calls import ELSEWHERE, ask_graphql, ask_json
from bot.adapters.github.errors import GraphQLFailed, translate_github_errors
from bot.adapters.github.transport import make_github
from bot.adapters.http.bounded_calls import bounded
from bot.adapters.http.server_time import time_of
from bot.domain.errors import GitHubUnavailable
from bot.domain.pull_requests.models import Repository
from bot.ports.probes import Allowance, GitHubAccess

# stands for the repository in sentences about the token alone
_ANY = Repository("any", "repository")
_READ = """
query Read($owner: String!, $name: String!) {
  repository(owner: $owner, name: $name) {
    pullRequests(states: MERGED, first: 1) { nodes { number } }
    defaultBranchRef { name }
  }
}
"""
# the resources that a digest uses
_USED = ("core", "graphql")


class PyGithubProbe:
    """``GitHubProbe`` with PyGithub. ``timeout`` is in seconds."""

    def __init__(self, base_url: str, auth: Auth.Auth, timeout: int) -> None:
        self._timeout = timeout
        self._requester = make_github(auth=auth, base_url=base_url, timeout=timeout, retry=None).requester

    def access(self) -> GitHubAccess:
        """Check the token and return the access it gives. Reading the limits counts against none of them."""
        with translate_github_errors(_ANY), bounded(self._timeout):
            try:
                headers, answer = ask_json(self._requester, "GET", "/rate_limit")
            except GithubException as error:
                if error.status != 404:
                    raise
                headers, answer = error.headers or {}, {"resources": {}} if _has_no_limits(error) else {}
        if "resources" not in answer:
            raise GitHubUnavailable(ELSEWHERE)
        return GitHubAccess(_allowance(answer["resources"]), time_of(headers))

    def reads(self, repository: Repository) -> bool:
        """Read the number of one pull request, and return whether the default branch can be read too."""
        names = {"owner": repository.owner, "name": repository.name}
        with translate_github_errors(repository), bounded(self._timeout):
            data, errors = ask_graphql(self._requester, _READ, names)
            node = data.get("repository")
            if not node:
                raise GraphQLFailed(errors or [{"type": "NOT_FOUND", "message": "no repository"}])
            if node.get("pullRequests") is None:
                raise GraphQLFailed([{"type": "FORBIDDEN", "message": "no pull requests"}])
        return node.get("defaultBranchRef") is not None


def _has_no_limits(error: GithubException) -> bool:
    """Return whether a GitHub Enterprise server reports that it has no rate limits.

    An error from a wrong address does not count.
    """
    return isinstance(error.data, dict) and "rate limiting" in str(error.data.get("message", "")).lower()


def _allowance(resources: Mapping[str, Any]) -> Allowance | None:
    """Return the allowance of the resource with the fewest calls left, None if no resource is listed."""
    used = [resources[name] for name in _USED if name in resources]
    if not used:
        return None
    scarce = min(used, key=lambda each: int(each["remaining"]))
    return Allowance(int(scarce["remaining"]), datetime.fromtimestamp(int(scarce["reset"]), UTC))
