"""The list of a day's merges, found in one of two ways, and what the default branch's commits say of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.adapters.github_queries import HISTORY, PAST, RECENT, instant, pull_of
from bot.domain.days import LocalDay
from bot.domain.pulls import PullRequest, Repository

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
    """The merges of a day as one way found them, and the branch to check them against."""

    pulls: tuple[PullRequest, ...]
    branch: Branch


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
        while True:
            pulls = page["pullRequests"]
            nodes += pulls["nodes"]
            if not pulls["pageInfo"]["hasNextPage"] or instant(nodes[-1]["updatedAt"]) < self._day.start:
                return self._found(nodes, first)
            page = self._recent(pulls["pageInfo"]["endCursor"])

    def by_search(self) -> Found:
        """One query per hundred: for a day long past a walk over all that was updated since would be long."""
        first = self._past(self._day.start, self._day.end, None)
        nodes = self._results(first["search"], self._day.start, self._day.end)
        return self._found(list(nodes), first["repository"])

    def _found(self, nodes: list[Node], repository: Node) -> Found:
        pulls = tuple(pull_of(self._repository, node) for node in nodes if self._is_of_day(node))
        return Found(pulls, self._branch(repository))

    def _recent(self, after: str | None) -> dict[str, Any]:
        page: dict[str, Any] = self._asked(RECENT, after)["repository"]
        return page

    def _past(self, start: datetime, end: datetime, after: str | None) -> dict[str, Any]:
        return self._asked(PAST, after, search=_merged_between(self._repository, start, end))

    def _asked(self, query: str, after: str | None, **variables: Any) -> dict[str, Any]:
        """Only the first page brings the branch's commits along."""
        given = {"after": after, "count": after is None, "commitsAfter": None, **self._window, **variables}
        return self._ask(query, self._repository, given)

    def _results(self, page: Node, start: datetime, end: datetime) -> Iterator[Node]:
        if page["issueCount"] > _SEARCH_CAP and end - start > timedelta(seconds=2):
            middle = start + timedelta(seconds=(end - start) // timedelta(seconds=2))
            for half in ((start, middle), (middle, end)):
                yield from self._results(self._past(*half, None)["search"], *half)
            return
        yield from page["nodes"]
        while page["pageInfo"]["hasNextPage"]:
            page = self._past(start, end, page["pageInfo"]["endCursor"])["search"]
            yield from page["nodes"]

    def _branch(self, repository: Node) -> Branch:
        branch = repository.get("defaultBranchRef") or {}
        commits = (branch.get("target") or {}).get("history")
        if commits is None:
            return Branch(branch.get("name") or "", None)
        named = [pull for node in self._commits(commits) for pull in node["associatedPullRequests"]["nodes"]]
        return Branch(branch["name"], frozenset(pull["number"] for pull in named if self._is_of_day(pull)))

    def _commits(self, page: Node) -> Iterator[Node]:
        yield from page["nodes"]
        while page["pageInfo"]["hasNextPage"]:
            variables = {"commitsAfter": page["pageInfo"]["endCursor"], **self._window}
            data = self._ask(HISTORY, self._repository, variables)
            page = data["repository"]["defaultBranchRef"]["target"]["history"]
            yield from page["nodes"]

    def _is_of_day(self, node: Node) -> bool:
        merged_at = node.get("mergedAt")
        return merged_at is not None and instant(merged_at) in self._day


def _merged_between(repository: Repository, start: datetime, end: datetime) -> str:
    """Search speaks of whole seconds and includes both ends."""
    first, last = (each.astimezone(UTC).isoformat() for each in (start, end - timedelta(seconds=1)))
    return f"repo:{repository} is:pr is:merged merged:{first}..{last}"
