"""Calls to GitHub: PyGithub over connections that stay open, each call with a deadline, its answer checked."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self
from urllib.parse import quote

import requests
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from github import Auth, Github, GithubException, GithubRetry
from github.GithubException import RateLimitExceededExceedsMaxWait
from github.Requester import HTTPRequestsConnectionClass, HTTPSRequestsConnectionClass, Requester
from requests.utils import parse_header_links

from bot.errors import ConfigurationError, GitHubUnavailable, PrdigestError
from bot.platform import deadlines
from bot.platform.cleaning import clean_line, parse_node
from bot.platform.github.errors import GraphQLError, UnreadableResponse, translate_github_errors
from bot.platform.http import bounded_calls
from bot.platform.http.bounded_calls import CallWatch, DeadlineExceeded, bound_requests, watch_nothing
from bot.platform.http.connections import TrackingAdapter
from bot.platform.http.headers import parse_retry_after, parse_server_time
from bot.platform.pulls.models import derive_web_address
from bot.platform.pulls.sources import RateAllowance
from bot.settings import Settings, require_secret
from impact.repository import Repository

log = logging.getLogger(__name__)

# later versions drop fields, such as merge_commit_sha, so the version is fixed here
API_VERSION = "2022-11-28"
MEDIA_TYPE = "application/vnd.github+json"
# seconds; longer waits belong in a queue, not in a thread
MAX_WAIT = 30
# seconds for one request from its first byte to the last of its answer. GitHub gives up its own work after ten
# (docs.github.com/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api); the rest is for a slow line
REQUEST_SECONDS = 30.0
WRONG_SERVER = "The server is not GitHub: check GITHUB_API_URL."
# GitHub lists at most 3,000 files; the limit of pages stops a server that sends short pages without end
_MAX_FILES, _MAX_PAGES = 3_000, 300
# errors about what the token may not see: another call would not show it
_HIDDEN = ("NOT_FOUND", "FORBIDDEN")
# no count of GitHub has more digits, and Python refuses to parse thousands of them
_MAX_DIGITS = 18
_NO_GRAPHQL = (
    "GITHUB_API_URL has no GraphQL API: set it to https://api.github.com, or to https://HOST/api/v3 for "
    "GitHub Enterprise."
)
_NO_INSTALLATION = (
    "GitHub doesn't know that installation of the app: check GITHUB_APP_ID and GITHUB_APP_INSTALLATION_ID."
)
# the resources that a digest uses
_RESOURCES = ("core", "graphql")
_THREAD_ADAPTERS = threading.local()
# of one thread: a process has one client, and a client for the tokens of an app
_MAX_ADAPTERS = 4


class GitHubClient:
    """Calls for many threads, each with a PyGithub of its own: a shared one has been seen to mix up answers.

    ``seconds`` is the time limit of one request, ``watch`` watches each. A repository with another one of the
    ``present_names`` is asked for by that. :attr:`web` is the address of this GitHub's pages. Each method raises
    ``DeadlineExceeded`` besides what :func:`request_data` raises.
    """

    def __init__(
        self,
        base_url: str,
        auth: Auth.Auth | None,
        seconds: float = REQUEST_SECONDS,
        watch: CallWatch = watch_nothing,
        present_names: Mapping[Repository, Repository] = MappingProxyType({}),
    ) -> None:
        self._present_names = present_names
        self._base_url = base_url
        self.web = derive_web_address(base_url)
        self._auth = auth
        self._seconds = seconds
        self._watch = watch
        self._clients = threading.local()

    def run_query(self, query: str, repository: Repository, variables: Mapping[str, Any]) -> dict[str, Any]:
        """Run a query that has the variables ``$owner`` and ``$name``, and return its data.

        What the token may not see is null in it. Raises GraphQLError without the repository or the subject in it,
        and if GitHub could not compute a field, also a second time.
        """
        data, errors = self.run_repeated_query(query, repository, variables)
        if is_subject_missing(errors) or find_gaps(data, errors):
            raise GraphQLError(errors)
        return data

    def run_repeated_query(
        self, query: str, repository: Repository, variables: Mapping[str, Any]
    ) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Return the same as ``run_partial_query``, of a second attempt if the first one has gaps."""
        data, errors = self.run_partial_query(query, repository, variables)
        return self.run_partial_query(query, repository, variables) if find_gaps(data, errors) else (data, errors)

    def run_partial_query(
        self, query: str, repository: Repository, variables: Mapping[str, Any]
    ) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Return the data of a query, and errors about single fields. Raises GraphQLError without a repository.

        GitHub answers with success and null for a field that it could not compute: that is no empty list.
        """
        repository = self._present_names.get(repository, repository)
        with self._watch("graphql"), bound_requests(self._seconds):
            return run_graphql_query(self._get_client().requester, query, repository, variables)

    def list_files(self, repository: Repository, number: int) -> Iterator[Any]:
        """Yield the changed files as GitHub sends them, at most 3,000. Only one page of 100 is held at a time."""
        repository = self._present_names.get(repository, repository)
        return islice(self._iterate_items(f"/repos/{repository}/pulls/{number}/files"), _MAX_FILES)

    def compare(self, repository: Repository, base: str, head: str) -> dict[str, Any]:
        """Return what leads from a branch to a commit, also of a fork, with at most 300 files."""
        repository = self._present_names.get(repository, repository)
        # pages are of commits; the first one has the files
        return self.get_object(f"/repos/{repository}/compare/{quote(base, safe='')}...{head}", {"per_page": "1"})

    def get_object(self, address: str, parameters: dict[str, Any]) -> dict[str, Any]:
        """Return the JSON object at an address of the REST API. Raises UnreadableResponse if it is none."""
        with self._watch("rest"), bound_requests(self._seconds):
            _, answer = request_data(self._get_client().requester, "GET", address, parameters=parameters)
        if not isinstance(answer, dict):
            raise UnreadableResponse("no object")
        return answer

    def _iterate_items(self, address: str) -> Iterator[Any]:
        parameters: dict[str, Any] = {"per_page": 100}
        for _ in range(_MAX_PAGES):
            with self._watch("rest"), bound_requests(self._seconds):
                headers, page = request_data(self._get_client().requester, "GET", address, parameters=parameters)
            if not isinstance(page, list):
                raise UnreadableResponse("no list of files")
            yield from page
            links = {link.get("rel"): link["url"] for link in parse_header_links(headers.get("link", ""))}
            if not links.get("next"):
                return
            # the address of a further page has the parameters in it
            address, parameters = links["next"], {}

    def _get_client(self) -> Github:
        client: Github | None = getattr(self._clients, "client", None)
        if client is None:
            client = self._clients.client = make_github(
                auth=self._auth,
                base_url=self._base_url,
                timeout=20,
                per_page=100,
                retry=BoundedRetry(total=3, max_rate_limit_wait=MAX_WAIT),
            )
        return client


# --- errors about single fields


def is_subject_missing(errors: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether there is no such repository, or no such pull request in it."""
    # what is missing further down, such as an issue that the token may not see, is a gap of no record
    places = [error.get("path") for error in errors if error.get("type") == "NOT_FOUND"]
    return any(not isinstance(place, list) or len(place) <= 2 for place in places)


def find_gaps(data: Mapping[str, Any], errors: Iterable[Mapping[str, Any]]) -> list[list[Any]]:
    """Return the paths of the fields that are null because GitHub could not compute them.

    The path of an error that names no field is empty: it may be about each that is null.
    """
    places = [error.get("path") or [] for error in errors if error.get("type") not in _HIDDEN]
    return [place for place in places if isinstance(place, list) and (not place or _is_null(data, place))]


def _is_null(value: Any, place: Sequence[Any]) -> bool:
    for step in place:
        try:
            value = value[step]
        except (LookupError, TypeError):
            # null further up, as the field may not be null itself
            return value is None
    return value is None


# --- one call


def request_data(
    requester: Requester, verb: str, address: str, *, parameters: dict[str, Any] | None = None, body: Any = None
) -> tuple[dict[str, Any], Any]:
    """Return the headers and the JSON of an answer. PyGithub's own parsing fails at a number of 4,301 digits.

    Raises ConfigurationError without an installation of the app, GitHubUnavailable for what is no JSON at all,
    UnreadableResponse for what only begins so, and what PyGithub raises (GithubException, RequestException).
    """
    try:
        # for an installation of a GitHub App, this fetches a token if it is missing or expired
        _ = requester.auth and requester.auth.token
    except GithubException as error:
        if error.status != 404:
            raise
        # here, because it would look like the 404 of another call
        raise ConfigurationError(_NO_INSTALLATION) from error
    status, headers, text = requester.requestJson(verb, address, parameters, {"Accept": MEDIA_TYPE}, body)
    if status >= 400:
        try:
            error_body = parse_node(_parse_json(text))
        except UnreadableResponse:
            # such as the page of a proxy
            error_body = {"message": text[:200]}
        message = clean_line(error_body.get("message"))
        raise requester.createException(status, headers, {**error_body, "message": message})
    if text.lstrip()[:1] not in ("{", "["):
        raise GitHubUnavailable(WRONG_SERVER)
    return headers, _parse_json(text)


def run_graphql_query(
    requester: Requester, query: str, repository: Repository, variables: Mapping[str, Any]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the data of a query with ``$owner`` and ``$name``, and the errors about it.

    Raises ConfigurationError without an endpoint, and GraphQLError without the repository, too.
    """
    names = {"owner": repository.owner, "name": repository.name}
    body = {"query": query, "variables": {**names, **variables}}
    try:
        _, answer = request_data(requester, "POST", requester.graphql_url, body=body)
    except GithubException as error:
        if error.status != 404:
            raise
        # a missing repository is reported as a success with an error inside, so a 404 means a wrong address
        raise ConfigurationError(_NO_GRAPHQL) from error
    data, errors = (answer.get("data"), answer.get("errors")) if isinstance(answer, dict) else (None, None)
    is_graphql = isinstance(data, dict | None) and isinstance(errors, list | None)
    if not is_graphql or (data is None and errors is None):
        raise GitHubUnavailable(WRONG_SERVER)
    causes = [dict(parse_node(error)) for error in errors or []]
    if data is None or not parse_node(data.get("repository")):
        raise GraphQLError(causes or [{"type": "NOT_FOUND", "message": "no repository"}])
    return data, causes


def _parse_json(text: str) -> Any:
    """Parse JSON. A number with more than 18 digits becomes 0."""
    try:
        return json.loads(text, parse_int=lambda digits: int(digits) if len(digits) <= _MAX_DIGITS else 0)
    except (ValueError, RecursionError) as error:
        raise UnreadableResponse(type(error).__name__) from error


# --- connections and retries


class BoundedRetry(GithubRetry):
    """Retry policy of GitHub that gives up at once if GitHub asks for a longer pause than the time left."""

    def increment(self, *arguments: Any, **keywords: Any) -> Self:
        """Return the state for the next attempt; raise the error that ends the call if another one is useless."""
        error, response = keywords.get("error"), keywords.get("response")
        if error is not None and bounded_calls.is_call_over():
            raise error
        pause = (response is not None and self.get_retry_after(response)) or 0.0
        if response is not None and (pause > MAX_WAIT or not deadlines.can_wait(pause)):
            headers = dict(response.headers)
            response.close()
            raise RateLimitExceededExceedsMaxWait(response.status, None, headers, wait=pause)
        next_state: Self = super().increment(*arguments, **keywords)  # type: ignore[assignment]
        return next_state

    def get_retry_after(self, response: Any) -> float | None:
        """Return the seconds that GitHub asks for. The library's own method raises on fractions."""
        return parse_retry_after(response.headers.get("Retry-After"))

    def sleep(self, response: Any = None) -> None:
        """Pause before the next attempt. Raises RateLimitExceededExceedsMaxWait without time, ProcessShutdown."""
        pause = self.get_retry_after(response) if response is not None else None
        seconds = pause or self.get_backoff_time()
        if not deadlines.can_wait(seconds):
            raise RateLimitExceededExceedsMaxWait(429, None, None, wait=seconds)
        log.info("GitHub is asked again in %g s", seconds)
        bounded_calls.pause_call(seconds)


class _PersistentConnection:
    """Connection that uses sockets kept per thread. PyGithub creates a new connection object for each call."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        adapters: dict[Any, TrackingAdapter] = _THREAD_ADAPTERS.__dict__.setdefault("adapters", {})
        protocol, retry = self.protocol, self.retry  # type: ignore[attr-defined]
        if (protocol, retry) not in adapters:
            if len(adapters) >= _MAX_ADAPTERS:
                # of a client that is gone, or else its next call opens new sockets
                adapters.pop(next(iter(adapters))).close()
            adapters[protocol, retry] = TrackingAdapter(max_retries=retry)
        self.session.mount(f"{protocol}://", adapters[protocol, retry])  # type: ignore[attr-defined]

    def close(self) -> None:
        """Leave the sockets open."""


class _PlainConnection(_PersistentConnection, HTTPRequestsConnectionClass):
    pass


class _SecureConnection(_PersistentConnection, HTTPSRequestsConnectionClass):
    pass


def make_github(**options: Any) -> Github:
    """Create a PyGithub with bounded calls. This replaces its connection classes for the whole process."""
    Requester.injectConnectionClasses(_PlainConnection, _SecureConnection)
    # no pause between calls: eight at a time are far below GitHub's limit of a hundred
    no_pauses: dict[str, Any] = {"seconds_between_requests": None, "seconds_between_writes": None}
    return Github(user_agent="prdigest", api_version=API_VERSION, **no_pauses, **options)


# --- credentials and allowances


def create_github_auth(settings: Settings) -> Auth.Auth:
    """Return the credentials for GitHub: a token, or those of an app. Raises ConfigurationError."""
    if settings.github_token:
        return Auth.Token(settings.github_token.get_secret_value())
    if settings.github_app_id and settings.github_app_installation_id:
        key = require_secret(
            settings.github_app_private_key, "GITHUB_APP_PRIVATE_KEY", "the app's key or its file"
        )
        try:
            # the key itself, or what is in the file of that path
            key = key.replace("\\n", "\n") if "PRIVATE KEY" in key else Path(key).read_text(encoding="ascii")
            load_pem_private_key(key.encode(), password=None)
        except (OSError, ValueError, TypeError, UnsupportedAlgorithm) as error:
            raise ConfigurationError(
                "GITHUB_APP_PRIVATE_KEY is neither a private key nor a readable file."
            ) from error
        app = Auth.AppAuth(settings.github_app_id, key)
        return app.get_installation_auth(settings.github_app_installation_id)
    raise ConfigurationError(
        "Set GITHUB_TOKEN to a token that may read pull requests, or set up a GitHub App (GITHUB_APP_…)."
    )


def read_git_token(base_url: str, auth: Auth.Auth) -> str:
    """Return the token for git; an app's takes a call, and lasts an hour. Raises GitHubUnavailable."""
    # the credentials of an app need a client
    make_github(auth=auth, base_url=base_url, timeout=20, retry=None)
    try:
        with bound_requests(REQUEST_SECONDS):
            return auth.token
    except (GithubException, requests.exceptions.RequestException, DeadlineExceeded) as error:
        raise GitHubUnavailable("GitHub gave the app no token: check the GITHUB_APP_… settings.") from error


def fetch_allowances(
    requester: Requester, seconds: float = REQUEST_SECONDS
) -> tuple[tuple[RateAllowance, ...], datetime | None]:
    """Return the allowances for REST and GraphQL, and what GitHub's clock shows. Reading them counts against none.

    A server without limits has none. Raises PrdigestError.
    """
    with translate_github_errors(Repository("any", "repository")), bound_requests(seconds):
        try:
            headers, answer = request_data(requester, "GET", "/rate_limit")
        except GithubException as error:
            if error.status != 404:
                raise
            # a GitHub Enterprise server may have no rate limits; a wrong address answers 404, too
            message = str(error.data.get("message", "")) if isinstance(error.data, dict) else ""
            headers, answer = error.headers or {}, {"resources": {}} if "rate limiting" in message.lower() else {}
    if not isinstance(answer, dict) or "resources" not in answer:
        raise GitHubUnavailable(WRONG_SERVER)
    used = [answer["resources"][name] for name in _RESOURCES if name in answer["resources"]]
    allowances = (
        RateAllowance(int(each["remaining"]), int(each["limit"]), datetime.fromtimestamp(int(each["reset"]), UTC))
        for each in used
    )
    return tuple(allowances), parse_server_time(headers)


class GitHubRateLimits:
    """Reader of a token's limits, with a client of its own that never waits. Not safe for several threads."""

    def __init__(self, base_url: str, auth: Auth.Auth | None) -> None:
        self._github = make_github(auth=auth, base_url=base_url, timeout=20, retry=None)

    def list_allowances(self) -> tuple[RateAllowance, ...]:
        """Return the allowances, empty if GitHub does not tell them."""
        try:
            return fetch_allowances(self._github.requester)[0]
        except PrdigestError as error:
            log.info("GitHub does not tell its limits: %s", error)
            return ()
