"""The list of a day's merges, found in one of two ways, and what the default branch's commits say of it."""

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
    """The default branch, and the merges of the day that its commits name; None if GitHub gave no commits."""

    name: str
    numbers: frozenset[int] | None


@dataclass(frozen=True, slots=True)
class Found:
    """The merges of a day as one way found them, and the branch to check them against.

    ``unread`` records were listed that have no number, or no time of their merge.
    """

    pulls: tuple[PullRequest, ...]
    branch: Branch
    unread: int = 0


class DayOfMerges:
    """Finds the merges of one day of one repository with GraphQL."""

    def __init__(self, ask: Ask, repository: Repository, day: LocalDay) -> None:
        self._ask = ask
        self._repository = repository
        self._day = day
        self._window = {"since": (day.start - _SKEW).isoformat(), "until": (day.end + _SKEW).isoformat()}

    def by_walk(self) -> Found:
        """From the last update back: complete, because nothing is merged after its last update."""
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
        """One query per hundred: for a day long past a walk over all that was updated since would be long."""
        first = self._past(self._day.start, self._day.end, None)
        nodes = self._results(node_of(first["search"]), self._day.start, self._day.end)
        return self._found(list(nodes), node_of(first["repository"]))

    def _found(self, nodes: list[Node], repository: Node) -> Found:
        odd = [node for node in nodes if not (number_of(node.get("number")) and instant_of(node.get("mergedAt")))]
        if odd:
            known = ", ".join(f"#{number}" for node in odd if (number := number_of(node.get("number"))))
            log.warning(
                "%s: %d records of merges can't be read (%s)", self._repository, len(odd), known or "no numbers"
            )
        pulls = tuple(
            pull_of(self._repository, node, number)
            for node in nodes
            if (number := number_of(node.get("number"))) and self._is_of_day(node)
        )
        return Found(pulls, self._branch(repository), len(odd))

    def _recent(self, after: str | None) -> Node:
        return node_of(self._asked(RECENT, after)["repository"])

    def _past(self, start: datetime, end: datetime, after: str | None) -> dict[str, Any]:
        return self._asked(PAST, after, search=_merged_between(self._repository, start, end))

    def _asked(self, query: str, after: str | None, **variables: Any) -> dict[str, Any]:
        """Only the first page brings the branch's commits along."""
        given = {"after": after, "count": after is None, "commitsAfter": None, **self._window, **variables}
        return self._ask(query, self._repository, given)

    def _results(self, page: Node, start: datetime, end: datetime) -> Iterator[Node]:
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
        branch = node_of(repository.get("defaultBranchRef"))
        name, commits = line_of(branch.get("name")), node_of(node_of(branch.get("target")).get("history"))
        if not commits:
            return Branch(name, None)
        named = [pull for node in self._commits(commits) for pull in nodes_of(node.get("associatedPullRequests"))]
        numbers = (number_of(pull.get("number")) for pull in named if self._is_of_day(pull))
        return Branch(name, frozenset(number for number in numbers if number))

    def _commits(self, page: Node) -> Iterator[Node]:
        yield from nodes_of(page)
        after = None
        while after := _next(page, after):
            data = self._ask(HISTORY, self._repository, {"commitsAfter": after, **self._window})
            branch = node_of(node_of(data["repository"]).get("defaultBranchRef"))
            page = node_of(node_of(branch.get("target")).get("history"))
            yield from nodes_of(page)

    def _is_of_day(self, node: Node) -> bool:
        merged_at = instant_of(node.get("mergedAt"))
        return merged_at is not None and merged_at in self._day


def _next(page: Node, before: str | None) -> str | None:
    """Where the next page begins; None after the last. ``before`` is where this one began.

    Raises:
        AnswerUnreadable: the list breaks off.
    """
    about = node_of(page.get("pageInfo"))
    if about.get("hasNextPage") is False:
        return None
    after = about.get("endCursor")
    if not isinstance(after, str) or not after or after == before:
        # as if it were the last page, the rest of the day would be lost; from the first again, it never ended
        raise AnswerUnreadable("a list breaks off")
    return after


def _last_update(nodes: list[Node]) -> datetime | None:
    """Of the last record that has one; a merge counts too, as nothing is merged after its last update."""
    for node in reversed(nodes):
        found = [at for name in ("updatedAt", "mergedAt") if (at := instant_of(node.get(name)))]
        if found:
            return max(found)
    return None


def _merged_between(repository: Repository, start: datetime, end: datetime) -> str:
    """Search speaks of whole seconds and includes both ends."""
    first, last = (each.astimezone(UTC).isoformat() for each in (start, end - timedelta(seconds=1)))
    return f"repo:{repository} is:pr is:merged merged:{first}..{last}"
