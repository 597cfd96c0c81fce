"""What all calls to GitHub have in common: the version of its interface, who asks, and GraphQL."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from github import GithubException
from github.Requester import Requester

from bot.adapters.github.errors import AnswerUnreadable
from bot.adapters.records.cleaning import line_of, node_of
from bot.domain.errors import GitHubUnavailable, NotSetUp

# later versions leave fields out, such as merge_commit_sha: GitHub shall not choose when we get one
VERSION = "2022-11-28"
MEDIA_TYPE = "application/vnd.github+json"
# no count of GitHub's has more digits, and Python refuses to read thousands
_MOST_DIGITS = 18
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


def ask(
    requester: Requester, verb: str, address: str, *, parameters: dict[str, Any] | None = None, body: Any = None
) -> tuple[dict[str, Any], Any]:
    """The headers and the JSON that GitHub answers. PyGithub's own reading ends at a number of 4,301 digits.

    Raises:
        NotSetUp: no GitHub App is installed where the settings say.
        GitHubUnavailable: the answer is no JSON at all.
        AnswerUnreadable: the answer begins as JSON and can't be read.
        GithubException, RequestException: what PyGithub raises.
    """
    prepare_token(requester)
    status, headers, text = requester.requestJson(verb, address, parameters, {"Accept": MEDIA_TYPE}, body)
    if status >= 400:
        raise requester.createException(status, headers, _problem(text))
    if text.lstrip()[:1] not in ("{", "["):
        raise GitHubUnavailable(ELSEWHERE)
    return headers, _read(text)


def ask_json(
    requester: Requester, verb: str, address: str, body: Any = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The headers and the object that GitHub answers. Raises what ``ask`` does, GitHubUnavailable for a list."""
    headers, answer = ask(requester, verb, address, body=body)
    if not isinstance(answer, dict):
        raise GitHubUnavailable(ELSEWHERE)
    return headers, answer


def ask_graphql(
    requester: Requester, query: str, variables: Mapping[str, Any]
) -> tuple[Mapping[str, Any], list[dict[str, Any]]]:
    """The data of a query, and the errors about it. Raises what ``ask_json`` does."""
    try:
        _, answer = ask_json(requester, "POST", requester.graphql_url, {"query": query, "variables": variables})
    except GithubException as error:
        if error.status != 404:
            raise
        # of a repository that is not there it tells with a success and an error inside
        raise NotSetUp(_NO_GRAPHQL) from error
    data, errors = answer.get("data"), answer.get("errors")
    is_graphql = isinstance(data, dict | None) and isinstance(errors, list | None)
    if not is_graphql or (data is None and errors is None):
        raise GitHubUnavailable(ELSEWHERE)
    return node_of(data), [dict(node_of(error)) for error in errors or []]


def _read(text: str) -> Any:
    try:
        return json.loads(text, parse_int=lambda digits: int(digits) if len(digits) <= _MOST_DIGITS else 0)
    except (ValueError, RecursionError) as error:
        raise AnswerUnreadable(type(error).__name__) from error


def _problem(text: str) -> dict[str, Any]:
    """What a refusal says of itself; a proxy's is no JSON."""
    try:
        said = node_of(_read(text))
    except AnswerUnreadable:
        said = {"message": text[:200]}
    return {**said, "message": line_of(said.get("message"))}
