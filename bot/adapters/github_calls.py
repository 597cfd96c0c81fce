"""What all calls to GitHub have in common: the version of its interface, who asks, and GraphQL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from github import GithubException
from github.Requester import Requester

from bot.domain.errors import GitHubUnavailable, NotSetUp

# later versions leave fields out, such as merge_commit_sha: GitHub shall not choose when we get one
VERSION = "2022-11-28"
MEDIA_TYPE = "application/vnd.github+json"
ELSEWHERE = "Something else than GitHub answers: check GITHUB_API_URL."
_NO_GRAPHQL = (
    "GitHub's GraphQL is not where GITHUB_API_URL says: set it to https://api.github.com, or to "
    "https://HOST/api/v3 for GitHub Enterprise."
)
_NO_INSTALLATION = (
    "GitHub knows no such installation of the app: check GITHUB_APP_ID and GITHUB_APP_INSTALLATION_ID."
)


def prepare_token(requester: Requester) -> None:
    """Have a token to show. That of a GitHub App's installation is fetched, where there is none or it is old.

    Raises:
        NotSetUp: there is no such installation; in the middle of another call its 404 would look like that call's.
    """
    try:
        _ = requester.auth and requester.auth.token
    except GithubException as error:
        if error.status != 404:
            raise
        raise NotSetUp(_NO_INSTALLATION) from error


def ask_json(requester: Requester, verb: str, address: str, **given: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The headers and the object that GitHub answers.

    Raises:
        NotSetUp: no GitHub App is installed where the settings say.
        GitHubUnavailable: the answer is no object of JSON.
        GithubException, RequestException: what PyGithub raises.
    """
    prepare_token(requester)
    headers, answer = requester.requestJsonAndCheck(verb, address, headers={"Accept": MEDIA_TYPE}, **given)
    if not isinstance(answer, dict):
        raise GitHubUnavailable(ELSEWHERE)
    return headers, answer


def ask_graphql(
    requester: Requester, query: str, variables: Mapping[str, Any]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The data of a query, and the errors about it. Raises what ``ask_json`` does."""
    try:
        _, answer = ask_json(
            requester, "POST", requester.graphql_url, input={"query": query, "variables": variables}
        )
    except GithubException as error:
        if error.status != 404:
            raise
        # of a repository that is not there it tells with a success and an error inside
        raise NotSetUp(_NO_GRAPHQL) from error
    data, errors = answer.get("data"), answer.get("errors")
    is_graphql = isinstance(data, dict | None) and isinstance(errors, list | None)
    if not is_graphql or (data is None and errors is None):
        raise GitHubUnavailable(ELSEWHERE)
    return data or {}, errors or []
