"""Lists of a day's merges, built in one of two ways, and the merges that the default branch's commits name."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.adapters.github.errors import UnreadableResponse
from bot.adapters.github.queries import HISTORY_QUERY, PAST_QUERY, RECENT_QUERY, parse_pull_request
from bot.adapters.records.cleaning import (
    clean_line,
    parse_count,
    parse_instant,
    parse_node,
    parse_nodes,
    parse_number,
)
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.domain.time.day import LocalDay

log = logging.getLogger(__name__)

# a squash commit is dated within a second of its merge; the window for commits is that much wider
_SKEW = timedelta(minutes=2)
# search gives no more than this many results for one query
_MAX_SEARCH_RESULTS = 1_000

Node = Mapping[str, Any]
QueryRunner = Callable[[str, Repository, Mapping[str, Any]], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class BranchMerges:
    """The default branch, and the numbers of the day's merges that its commits name.

    ``numbers`` is None if GitHub returned no commits.
    """

    name: str
    numbers: frozenset[int] | None


@dataclass(frozen=True, slots=True)
class MergeSearchResult:
    """The merges of a day as one of the two ways lists them, and the branch to check them against.

    ``unreadable`` is how many records have no number or no time of their merge.
    """

    pulls: tuple[PullRequest, ...]
    branch: BranchMerges
    unreadable: int = 0


class MergeFinder:
    """Finder of the merges of one day of one repository, with GraphQL."""

    def __init__(self, ask: QueryRunner, repository: Repository, day: LocalDay) -> None:
        self._ask = ask
        self._repository = repository
        self._day = day
        self._window = {"since": (day.start - _SKEW).isoformat(), "until": (day.end + _SKEW).isoformat()}

    def list_by_update(self) -> MergeSearchResult:
        """List the merges from the last update back. This is complete: nothing is merged after its last update."""
        first = page = self._query_recent(None)
        nodes: list[Node] = []
        after = None
        while True:
            pulls = parse_node(page.get("pullRequests"))
            nodes += parse_nodes(pulls)
            last, after = _find_last_update(nodes), _find_next_cursor(pulls, after)
            if after is None or (last and last < self._day.start):
                return self._build_result(nodes, first)
            page = self._query_recent(after)

    def list_by_search(self) -> MergeSearchResult:
        """List the merges by search, one query per hundred.

        For a day long past, walking back by update takes too long.
        """
        first = self._query_past(self._day.start, self._day.end, None)
        nodes = self._iterate_results(parse_node(first["search"]), self._day.start, self._day.end)
        return self._build_result(list(nodes), parse_node(first["repository"]))

    def _build_result(self, nodes: list[Node], repository: Node) -> MergeSearchResult:
        """Build the result from nodes and a repository's node. Log the records that can't be read."""
        unreadable = [
            node
            for node in nodes
            if not (parse_number(node.get("number")) and parse_instant(node.get("mergedAt")))
        ]
        if unreadable:
            numbers = ", ".join(
                f"#{number}" for node in unreadable if (number := parse_number(node.get("number")))
            )
            log.warning(
                "%s: %d records of merges can't be read (%s)",
                self._repository,
                len(unreadable),
                numbers or "no numbers",
            )
        pulls = tuple(
            parse_pull_request(self._repository, node, number)
            for node in nodes
            if (number := parse_number(node.get("number"))) and self._is_of_day(node)
        )
        return MergeSearchResult(pulls, self._read_branch(repository), len(unreadable))

    def _query_recent(self, after: str | None) -> Node:
        """Return the repository's node with a page of recently updated pull requests, the page after a cursor."""
        return parse_node(self._query_page(RECENT_QUERY, after)["repository"])

    def _query_past(self, start: datetime, end: datetime, after: str | None) -> dict[str, Any]:
        """Return the data of a search between two instants, the page after a cursor."""
        return self._query_page(PAST_QUERY, after, search=_build_search_query(self._repository, start, end))

    def _query_page(self, query: str, after: str | None, **variables: Any) -> dict[str, Any]:
        """Run a query for one page. Only the first page includes the commits of the branch."""
        page_variables = {
            "after": after,
            "count": after is None,
            "commitsAfter": None,
            **self._window,
            **variables,
        }
        return self._ask(query, self._repository, page_variables)

    def _iterate_results(self, page: Node, start: datetime, end: datetime) -> Iterator[Node]:
        """Yield all results of a search between two instants.

        Halve the time span while it holds more than 1,000.
        """
        if parse_count(page.get("issueCount")) > _MAX_SEARCH_RESULTS and end - start > timedelta(seconds=2):
            middle = start + timedelta(seconds=(end - start) // timedelta(seconds=2))
            for half in ((start, middle), (middle, end)):
                yield from self._iterate_results(parse_node(self._query_past(*half, None)["search"]), *half)
            return
        yield from parse_nodes(page)
        after = None
        while after := _find_next_cursor(page, after):
            page = parse_node(self._query_past(start, end, after)["search"])
            yield from parse_nodes(page)

    def _read_branch(self, repository: Node) -> BranchMerges:
        """Return the default branch and the day's merges that its commits name."""
        branch = parse_node(repository.get("defaultBranchRef"))
        name, commits = clean_line(branch.get("name")), parse_node(parse_node(branch.get("target")).get("history"))
        if not commits:
            return BranchMerges(name, None)
        linked = [
            pull
            for node in self._iterate_commits(commits)
            for pull in parse_nodes(node.get("associatedPullRequests"))
        ]
        numbers = (parse_number(pull.get("number")) for pull in linked if self._is_of_day(pull))
        return BranchMerges(name, frozenset(number for number in numbers if number))

    def _iterate_commits(self, page: Node) -> Iterator[Node]:
        """Yield the nodes of the commits of a first page and of all pages after it."""
        yield from parse_nodes(page)
        after = None
        while after := _find_next_cursor(page, after):
            data = self._ask(HISTORY_QUERY, self._repository, {"commitsAfter": after, **self._window})
            branch = parse_node(parse_node(data["repository"]).get("defaultBranchRef"))
            page = parse_node(parse_node(branch.get("target")).get("history"))
            yield from parse_nodes(page)

    def _is_of_day(self, node: Node) -> bool:
        """Return whether a node was merged on the day."""
        merged_at = parse_instant(node.get("mergedAt"))
        return merged_at is not None and merged_at in self._day


def _find_next_cursor(page: Node, before: str | None) -> str | None:
    """Return the cursor of the next page, or None after the last page. ``before`` is the cursor of this page.

    Raises:
        UnreadableResponse: the list breaks off.
    """
    about = parse_node(page.get("pageInfo"))
    if about.get("hasNextPage") is False:
        return None
    after = about.get("endCursor")
    if not isinstance(after, str) or not after or after == before:
        # as a last page, this would lose the rest of the day; from the first page again, the loop would not end
        raise UnreadableResponse("a list breaks off")
    return after


def _find_last_update(nodes: list[Node]) -> datetime | None:
    """Return the last update of the last record that has one.

    The time of the merge counts too, because nothing is merged after its last update.
    """
    for node in reversed(nodes):
        updates = [at for name in ("updatedAt", "mergedAt") if (at := parse_instant(node.get(name)))]
        if updates:
            return max(updates)
    return None


def _build_search_query(repository: Repository, start: datetime, end: datetime) -> str:
    """Return a search query for the merges from ``start`` up to but not including ``end`` (aware).

    Search knows only whole seconds and includes both ends.
    """
    first, last = (each.astimezone(UTC).isoformat() for each in (start, end - timedelta(seconds=1)))
    return f"repo:{repository} is:pr is:merged merged:{first}..{last}"
