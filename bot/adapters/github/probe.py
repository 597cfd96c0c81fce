"""GitHub as the doctor asks it: once, with little patience."""

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

# what the sentences about the token alone name
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
    """``GitHubProbe`` over PyGithub. ``timeout`` is in seconds."""

    def __init__(self, base_url: str, auth: Auth.Auth, timeout: int) -> None:
        self._timeout = timeout
        self._requester = make_github(auth=auth, base_url=base_url, timeout=timeout, retry=None).requester

    def access(self) -> GitHubAccess:
        """Show the token. Asking for the limits counts against none."""
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
        """Read the number of one pull request, and the name of the default branch."""
        names = {"owner": repository.owner, "name": repository.name}
        with translate_github_errors(repository), bounded(self._timeout):
            data, errors = ask_graphql(self._requester, _READ, names)
            found = data.get("repository")
            if not found:
                raise GraphQLFailed(errors or [{"type": "NOT_FOUND", "message": "no repository"}])
            if found.get("pullRequests") is None:
                raise GraphQLFailed([{"type": "FORBIDDEN", "message": "no pull requests"}])
        return found.get("defaultBranchRef") is not None


def _has_no_limits(error: GithubException) -> bool:
    """Whether a server of GitHub Enterprise that knows no limits says so; a wrong address is no such server."""
    return isinstance(error.data, dict) and "rate limiting" in str(error.data.get("message", "")).lower()


def _allowance(resources: Mapping[str, Any]) -> Allowance | None:
    """Of the resource with the fewest calls left."""
    used = [resources[name] for name in _USED if name in resources]
    if not used:
        return None
    scarce = min(used, key=lambda each: int(each["remaining"]))
    return Allowance(int(scarce["remaining"]), datetime.fromtimestamp(int(scarce["reset"]), UTC))
