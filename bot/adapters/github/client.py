"""Client for GitHub: authentication, one PyGithub client per thread, and a deadline for each request."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from github import Auth, Github
from requests.utils import parse_header_links

from bot.adapters.github.api_calls import request_data, run_graphql_query
from bot.adapters.github.errors import GraphQLError, UnreadableResponse
from bot.adapters.github.transport import MAX_WAIT, REQUEST_SECONDS, BoundedRetry, make_github
from bot.adapters.records.cleaning import parse_node
from bot.domain.pull_requests.models import Repository, derive_web_address
from bot.platform.http.bounded_calls import bound_requests
from bot.ports import CallWatch, watch_nothing

# GitHub lists at most 3,000 files; the limit of pages stops a server that sends short pages without end
_MAX_FILES, _MAX_PAGES = 3_000, 300
# parts of the path of an error about "repository" or "repository", "pullRequest"
_SUBJECT_DEPTH = 2


class GitHubClient:
    """Wrapper of PyGithub for many threads. A client shared by threads has been seen to mix up answers.

    ``seconds`` is the time limit of one request, ``watch`` watches each. :attr:`web` is the address of this
    GitHub's pages. Each method raises ``DeadlineExceeded`` besides what PyGithub raises.
    """

    def __init__(
        self,
        base_url: str,
        auth: Auth.Auth | None,
        seconds: float = REQUEST_SECONDS,
        watch: CallWatch = watch_nothing,
    ) -> None:
        self._base_url = base_url
        self.web = derive_web_address(base_url)
        self._auth = auth
        self._seconds = seconds
        self._watch = watch
        self._clients = threading.local()

    def run_query(self, query: str, repository: Repository, variables: Mapping[str, Any]) -> dict[str, Any]:
        """Run a query that has the variables ``$owner`` and ``$name``, and return its data.

        An answer that holds the repository and errors about single fields is used as it is.

        Raises:
            GraphQLError: the answer does not hold the repository, or what was asked for in it was not found.
        """
        data, errors = self.run_partial_query(query, repository, variables)
        if any(_is_missing_subject(error) for error in errors):
            raise GraphQLError(errors)
        return data

    def run_partial_query(
        self, query: str, repository: Repository, variables: Mapping[str, Any]
    ) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Run a query as ``run_query`` does, and return its data and the errors about single fields.

        Raises:
            GraphQLError: the answer does not hold the repository.
        """
        all_variables = {"owner": repository.owner, "name": repository.name, **variables}
        with self._watch("graphql"), bound_requests(self._seconds):
            data, errors = run_graphql_query(self._get_client().requester, query, all_variables)
        if not parse_node(data.get("repository")):
            raise GraphQLError(errors or [{"type": "NOT_FOUND", "message": "no repository"}])
        return dict(data), errors

    def list_files(self, repository: Repository, number: int) -> Iterator[Any]:
        """Yield the changed files as GitHub sends them, at most 3,000, with 100 per call.

        Only one page is held at a time.
        """
        return islice(self._iterate_items(f"/repos/{repository}/pulls/{number}/files"), _MAX_FILES)

    def get_object(self, address: str, parameters: dict[str, Any]) -> dict[str, Any]:
        """Return the JSON object at an address of the REST API. Raises UnreadableResponse if it is none."""
        with self._watch("rest"), bound_requests(self._seconds):
            _, answer = request_data(self._get_client().requester, "GET", address, parameters=parameters)
        if not isinstance(answer, dict):
            raise UnreadableResponse("no object")
        return answer

    def _iterate_items(self, address: str) -> Iterator[Any]:
        """Yield the items of all pages of a listing. Raise UnreadableResponse for a page that is not a list."""
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
        """Return the client of the current thread, and create it if there is none."""
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


def _is_missing_subject(error: Mapping[str, Any]) -> bool:
    """Return whether the repository or a field of it was not found.

    What is missing further down, such as an issue that the token may not see, is an error about a single field.
    """
    place = error.get("path")
    return error.get("type") == "NOT_FOUND" and (not isinstance(place, list) or len(place) <= _SUBJECT_DEPTH)
