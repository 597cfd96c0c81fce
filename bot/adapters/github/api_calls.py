"""Common parts of all calls to GitHub: the version of the API, the token, and GraphQL."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from github import GithubException
from github.Requester import Requester

from bot.adapters.github.errors import UnreadableResponse
from bot.adapters.records.cleaning import clean_line, parse_node
from bot.domain.errors import ConfigurationError, GitHubUnavailable

# later versions drop fields, such as merge_commit_sha, so the version is fixed here
API_VERSION = "2022-11-28"
MEDIA_TYPE = "application/vnd.github+json"
# no count of GitHub has more digits, and Python refuses to parse thousands of them
_MAX_DIGITS = 18
WRONG_SERVER = "The server is not GitHub: check GITHUB_API_URL."
_NO_GRAPHQL = (
    "GITHUB_API_URL has no GraphQL API: set it to https://api.github.com, or to https://HOST/api/v3 for "
    "GitHub Enterprise."
)
_NO_INSTALLATION = (
    "GitHub doesn't know that installation of the app: check GITHUB_APP_ID and GITHUB_APP_INSTALLATION_ID."
)


def prepare_token(requester: Requester) -> None:
    """Ensure that there is a valid token.

    For an installation of a GitHub App, fetch one if it is missing or expired.

    Raises:
        ConfigurationError: there is no such installation. Checked here because its 404 would look like that of
            another call.
    """
    try:
        _ = requester.auth and requester.auth.token
    except GithubException as error:
        if error.status != 404:
            raise
        raise ConfigurationError(_NO_INSTALLATION) from error


def request_data(
    requester: Requester, verb: str, address: str, *, parameters: dict[str, Any] | None = None, body: Any = None
) -> tuple[dict[str, Any], Any]:
    """Send a request and return the headers and the JSON of GitHub's answer.

    PyGithub's own parsing fails at a number of 4,301 digits.

    Raises:
        ConfigurationError: no GitHub App is installed where the settings say.
        GitHubUnavailable: the answer is not JSON at all.
        UnreadableResponse: the answer begins as JSON and can't be parsed.
        GithubException, RequestException: what PyGithub raises.
    """
    prepare_token(requester)
    status, headers, text = requester.requestJson(verb, address, parameters, {"Accept": MEDIA_TYPE}, body)
    if status >= 400:
        raise requester.createException(status, headers, _parse_error_body(text))
    if text.lstrip()[:1] not in ("{", "["):
        raise GitHubUnavailable(WRONG_SERVER)
    return headers, _parse_json(text)


def request_object(
    requester: Requester, verb: str, address: str, body: Any = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Send a request and return the headers and the JSON object of GitHub's answer.

    Raises:
        GitHubUnavailable: the answer is a list.
        Exception: everything that ``request_data`` raises.
    """
    headers, answer = request_data(requester, verb, address, body=body)
    if not isinstance(answer, dict):
        raise GitHubUnavailable(WRONG_SERVER)
    return headers, answer


def run_graphql_query(
    requester: Requester, query: str, variables: Mapping[str, Any]
) -> tuple[Mapping[str, Any], list[dict[str, Any]]]:
    """Run a query and return its data and the errors about it.

    Raises:
        ConfigurationError: there is no GraphQL endpoint where GITHUB_API_URL says.
        Exception: everything that ``request_object`` raises.
    """
    try:
        _, answer = request_object(
            requester, "POST", requester.graphql_url, {"query": query, "variables": variables}
        )
    except GithubException as error:
        if error.status != 404:
            raise
        # a missing repository is reported as a success with an error inside, so a 404 means a wrong address
        raise ConfigurationError(_NO_GRAPHQL) from error
    data, errors = answer.get("data"), answer.get("errors")
    is_graphql = isinstance(data, dict | None) and isinstance(errors, list | None)
    if not is_graphql or (data is None and errors is None):
        raise GitHubUnavailable(WRONG_SERVER)
    return parse_node(data), [dict(parse_node(error)) for error in errors or []]


def _parse_json(text: str) -> Any:
    """Parse JSON. A number with more than 18 digits becomes 0. Raise UnreadableResponse for what is not JSON."""
    try:
        return json.loads(text, parse_int=lambda digits: int(digits) if len(digits) <= _MAX_DIGITS else 0)
    except (ValueError, RecursionError) as error:
        raise UnreadableResponse(type(error).__name__) from error


def _parse_error_body(text: str) -> dict[str, Any]:
    """Return the body of a refusal as an object with a clean ``message``; a proxy's body is not JSON."""
    try:
        body = parse_node(_parse_json(text))
    except UnreadableResponse:
        body = {"message": text[:200]}
    return {**body, "message": clean_line(body.get("message"))}
