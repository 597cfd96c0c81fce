"""Lists of a day's merges, built in one of two ways, and the merges that the default branch's commits name."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.adapters.github.errors import AnswerUnreadable
from bot.adapters.github.queries import HISTORY, PAST, RECENT, pull_of
from bot.adapters.records.cleaning import count_of, instant_of, line_of, node_of, nodes_of, number_of
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.domain.time.day import LocalDay

log = logging.getLogger(__name__)

# a squash commit is dated within a second of its merge; the window for commits is that much wider
_SKEW = timedelta(minutes=2)
# search gives no more than this many results for one query
_SEARCH_CAP = 1_000

Node = Mapping[str, Any]
Ask = Callable[[str, Repository, Mapping[str, Any]], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Branch:
    """The default branch, and the numbers of the day's merges that its commits name.

    ``numbers`` is None if GitHub returned no commits.
    """

    name: str
    numbers: frozenset[int] | None


@dataclass(frozen=True, slots=True)
class Found:
    """The merges of a day as one of the two ways lists them, and the branch to check them against.

    ``unread`` is how many records have no number or no time of their merge.
    """

    pulls: tuple[PullRequest, ...]
    branch: Branch
    unread: int = 0


class DayOfMerges:
    """Finder of the merges of one day of one repository, with GraphQL."""

    def __init__(self, ask: Ask, repository: Repository, day: LocalDay) -> None:
        self._ask = ask
        self._repository = repository
        self._day = day
        self._window = {"since": (day.start - _SKEW).isoformat(), "until": (day.end + _SKEW).isoformat()}

    def by_walk(self) -> Found:
        """List the merges from the last update back. This is complete: nothing is merged after its last update."""
        first = page = self._recent(None)
        nodes: list[Node] = []
        after = None
        while True:
            pulls = node_of(page.get("pullRequests"))
            nodes += nodes_of(pulls)
            last, after = _last_update(nodes), _next(pulls, after)
            if after is None or (last and last < self._day.start):
                return self._found(nodes, first)
            page = self._recent(after)

    def by_search(self) -> Found:
        """List the merges by search, one query per hundred.

        For a day long past, walking back by update takes too long.
        """
        first = self._past(self._day.start, self._day.end, None)
        nodes = self._results(node_of(first["search"]), self._day.start, self._day.end)
        return self._found(list(nodes), node_of(first["repository"]))

    def _found(self, nodes: list[Node], repository: Node) -> Found:
        """Build the result from nodes and a repository's node. Log the records that can't be read."""
        unreadable = [
            node for node in nodes if not (number_of(node.get("number")) and instant_of(node.get("mergedAt")))
        ]
        if unreadable:
            numbers = ", ".join(f"#{number}" for node in unreadable if (number := number_of(node.get("number"))))
            log.warning(
                "%s: %d records of merges can't be read (%s)",
                self._repository,
                len(unreadable),
                numbers or "no numbers",
            )
        pulls = tuple(
            pull_of(self._repository, node, number)
            for node in nodes
            if (number := number_of(node.get("number"))) and self._is_of_day(node)
        )
        return Found(pulls, self._branch(repository), len(unreadable))

    def _recent(self, after: str | None) -> Node:
        """Return the repository's node with a page of recently updated pull requests, the page after a cursor."""
        return node_of(self._asked(RECENT, after)["repository"])

    def _past(self, start: datetime, end: datetime, after: str | None) -> dict[str, Any]:
        """Return the data of a search between two instants, the page after a cursor."""
        return self._asked(PAST, after, search=_merged_between(self._repository, start, end))

    def _asked(self, query: str, after: str | None, **variables: Any) -> dict[str, Any]:
        """Run a query for one page. Only the first page includes the commits of the branch."""
        page_variables = {
            "after": after,
            "count": after is None,
            "commitsAfter": None,
            **self._window,
            **variables,
        }
        return self._ask(query, self._repository, page_variables)

    def _results(self, page: Node, start: datetime, end: datetime) -> Iterator[Node]:
        """Yield all results of a search between two instants.

        Halve the time span while it holds more than 1,000.
        """
        if count_of(page.get("issueCount")) > _SEARCH_CAP and end - start > timedelta(seconds=2):
            middle = start + timedelta(seconds=(end - start) // timedelta(seconds=2))
            for half in ((start, middle), (middle, end)):
                yield from self._results(node_of(self._past(*half, None)["search"]), *half)
            return
        yield from nodes_of(page)
        after = None
        while after := _next(page, after):
            page = node_of(self._past(start, end, after)["search"])
            yield from nodes_of(page)

    def _branch(self, repository: Node) -> Branch:
        """Return the default branch and the day's merges that its commits name."""
        branch = node_of(repository.get("defaultBranchRef"))
        name, commits = line_of(branch.get("name")), node_of(node_of(branch.get("target")).get("history"))
        if not commits:
            return Branch(name, None)
        linked = [pull for node in self._commits(commits) for pull in nodes_of(node.get("associatedPullRequests"))]
        numbers = (number_of(pull.get("number")) for pull in linked if self._is_of_day(pull))
        return Branch(name, frozenset(number for number in numbers if number))

    def _commits(self, page: Node) -> Iterator[Node]:
        """Yield the nodes of the commits of a first page and of all pages after it."""
        yield from nodes_of(page)
        after = None
        while after := _next(page, after):
            data = self._ask(HISTORY, self._repository, {"commitsAfter": after, **self._window})
            branch = node_of(node_of(data["repository"]).get("defaultBranchRef"))
            page = node_of(node_of(branch.get("target")).get("history"))
            yield from nodes_of(page)

    def _is_of_day(self, node: Node) -> bool:
        """Return whether a node was merged on the day."""
        merged_at = instant_of(node.get("mergedAt"))
        return merged_at is not None and merged_at in self._day


def _next(page: Node, before: str | None) -> str | None:
    """Return the cursor of the next page, or None after the last page. ``before`` is the cursor of this page.

    Raises:
        AnswerUnreadable: the list breaks off.
    """
    about = node_of(page.get("pageInfo"))
    if about.get("hasNextPage") is False:
        return None
    after = about.get("endCursor")
    if not isinstance(after, str) or not after or after == before:
        # as a last page, this would lose the rest of the day; from the first page again, the loop would not end
        raise AnswerUnreadable("a list breaks off")
    return after


def _last_update(nodes: list[Node]) -> datetime | None:
    """Return the last update of the last record that has one.

    The time of the merge counts too, because nothing is merged after its last update.
    """
    for node in reversed(nodes):
        updates = [at for name in ("updatedAt", "mergedAt") if (at := instant_of(node.get(name)))]
        if updates:
            return max(updates)
    return None


def _merged_between(repository: Repository, start: datetime, end: datetime) -> str:
    """Return a search query for the merges from ``start`` up to but not including ``end`` (aware).

    Search knows only whole seconds and includes both ends.
    """
    first, last = (each.astimezone(UTC).isoformat() for each in (start, end - timedelta(seconds=1)))
    return f"repo:{repository} is:pr is:merged merged:{first}..{last}"
