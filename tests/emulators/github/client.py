"""How the tests of the GitHub emulator call it: the client that the product uses, on a small repository."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from github import Auth, Github, GithubException, GithubRetry

from tests.emulators.github.server import GitHubEmulator, pull

REPO = "acme/rocket"
NOON = datetime(2026, 2, 28, 12, 0, tzinfo=UTC)
TOKEN = Auth.Token("ghp_test")


def start_emulator() -> GitHubEmulator:
    emulator = GitHubEmulator()
    emulator.add(REPO, *(pull(number, merged_at=NOON + timedelta(hours=number)) for number in range(1, 8)))
    return emulator


def client(hub: GitHubEmulator, auth: Auth.Auth | None = TOKEN, retries: int = 0, **options: Any) -> Github:
    """A client without PyGithub's pauses between calls; without retries it raises what it is told."""
    retry = GithubRetry(total=retries, backoff_factor=0, max_rate_limit_wait=5) if retries else None
    pace: dict[str, Any] = {"seconds_between_requests": None, "seconds_between_writes": None}
    return Github(auth=auth, base_url=hub.url, retry=retry, **pace, **options)


def ask(hub: GitHubEmulator, query: str, **variables: Any) -> dict[str, Any]:
    with client(hub) as github:
        data: dict[str, Any] = github.requester.graphql_query(query, variables)[1]["data"]
    return data


def refusal(hub: GitHubEmulator, query: str, **variables: Any) -> dict[str, Any]:
    with pytest.raises(GithubException) as caught:
        ask(hub, query, **variables)
    body: dict[str, Any] = caught.value.data
    return body


def numbers(page: dict[str, Any]) -> list[int]:
    return [node["number"] for node in page["nodes"]]
