"""Pull requests: GraphQL for the facts of a day, in three calls, one REST call per pull request for patches."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise
from typing import Any

from bot.dates import LocalDay
from bot.errors import GitHubUnavailable, PullRequestNotFound, RateLimited
from bot.platform.cleaning import (
    clean_hash,
    clean_line,
    clean_text,
    clean_title,
    parse_account,
    parse_count,
    parse_files,
    parse_instant,
    parse_node,
    parse_nodes,
    parse_number,
)
from bot.platform.github.client import GitHubClient, find_gaps, is_subject_missing
from bot.platform.github.errors import GraphQLError, UnreadableResponse, translate_github_errors
from bot.platform.pulls.models import LinkedIssue, PullRequest, Reference, sort_newest_first
from bot.platform.pulls.sources import CountCheck, DayMerges
from impact.repository import Repository
from impact.source.models import DiffSide

# --- queries

_STATES = ("OPEN", "CLOSED", "MERGED")

# as in the fragment: more issues say no more about the reason for a change
_MAX_LINKED_ISSUES = 5
# a pull request may close issues of other repositories, also of private ones that the token may see and readers of
# the digest may not: the repositories are compared
_FACTS_FRAGMENT = """
fragment Facts on PullRequest {
  number title body state mergedAt updatedAt headRefOid baseRefName additions deletions changedFiles
  author { __typename login }
  mergedBy { __typename login }
  mergeCommit { oid message }
  labels(first: 20) { nodes { name } }
  repository { id defaultBranchRef { name } }
  closingIssuesReferences(first: 5) { nodes { number title repository { id } } }
}
"""

# the commits of the default branch name the pull requests they came from: this count depends neither on the
# order of updates nor on the search index. Those of forks that took the commit over are among them
_HISTORY_FIELDS = """
  id nameWithOwner
  defaultBranchRef { name target { ... on Commit {
    history(since: $since, until: $until, first: 100, after: $commitsAfter) {
      pageInfo { hasNextPage endCursor }
      nodes { oid associatedPullRequests(first: 5) { nodes { number mergedAt repository { id } } } }
    }
  } } }
"""

RECENT_QUERY = (
    """
query Recent(
  $owner: String!, $name: String!, $after: String,
  $count: Boolean!, $since: GitTimestamp!, $until: GitTimestamp!, $commitsAfter: String
) {
  repository(owner: $owner, name: $name) {
    pullRequests(states: MERGED, first: 100, after: $after, orderBy: {field: UPDATED_AT, direction: DESC}) {
      pageInfo { hasNextPage endCursor }
      nodes { ...Facts }
    }
    ... @include(if: $count) {"""
    + _HISTORY_FIELDS
    + """}
  }
}
"""
    + _FACTS_FRAGMENT
)

PAST_QUERY = (
    """
query Past(
  $owner: String!, $name: String!, $search: String!, $after: String,
  $count: Boolean!, $since: GitTimestamp!, $until: GitTimestamp!, $commitsAfter: String
) {
  search(type: ISSUE, query: $search, first: 100, after: $after) {
    issueCount
    pageInfo { hasNextPage endCursor }
    nodes { ...Facts }
  }
  repository(owner: $owner, name: $name) {
    nameWithOwner
    ... @include(if: $count) {"""
    + _HISTORY_FIELDS
    + """}
  }
}
"""
    + _FACTS_FRAGMENT
)

HISTORY_QUERY = (
    """
query History(
  $owner: String!, $name: String!, $since: GitTimestamp!, $until: GitTimestamp!, $commitsAfter: String
) {
  repository(owner: $owner, name: $name) {"""
    + _HISTORY_FIELDS
    + """}
}
"""
)

SINGLE_QUERY = (
    """
query One($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) { ...Facts } }
}
"""
    + _FACTS_FRAGMENT
)

HEAD_QUERY = """
query Head($owner: String!, $name: String!, $until: GitTimestamp) {
  repository(owner: $owner, name: $name) {
    nameWithOwner
    defaultBranchRef { target { ... on Commit { history(first: 1, until: $until) { nodes { oid } } } } }
  }
}
"""

NAME_QUERY = (
    "query Name($owner: String!, $name: String!) "
    "{ repository(owner: $owner, name: $name) { nameWithOwner isPrivate } }"
)

# vLLM had some 100 releases in its first three years
RELEASES_QUERY = """
query Releases($owner: String!, $name: String!) {
  repository(owner: $owner, name: $name) {
    releases(first: 100, orderBy: {field: CREATED_AT, direction: DESC}) {
      nodes { tagName publishedAt isDraft isPrerelease }
    }
    refs(refPrefix: "refs/tags/", first: 100, orderBy: {field: TAG_COMMIT_DATE, direction: DESC}) {
      nodes {
        name
        target {
          ... on Commit { committedDate }
          ... on Tag { target { ... on Commit { committedDate } } }
        }
      }
    }
  }
}
"""

# a release branch of vLLM has up to some 40 commits of its own
TAG_QUERY = """
query TagHistory($owner: String!, $name: String!, $tag: String!) {
  repository(owner: $owner, name: $name) {
    id
    defaultBranchRef { name }
    ref(qualifiedName: $tag) { target { ...History ... on Tag { target { ...History } } } }
  }
}
fragment History on Commit {
  history(first: 100) {
    nodes {
      oid
      associatedPullRequests(first: 5) { nodes { baseRefName mergeCommit { oid } repository { id } } }
    }
  }
}
"""

# ``oid`` is the hash of the bytes: it shows whether ``text`` has all of them
_SOURCE_FRAGMENT = """
fragment Source on TreeEntry {
  mode
  object { __typename ... on Blob { oid byteSize isBinary isTruncated text } }
}
"""


# the letters of the variables and of the fields of each side's files
SOURCE_LETTERS = {DiffSide.NEW: ("p", "f"), DiffSide.OLD: ("q", "g")}


def build_source_query(new: int, old: int) -> str:
    """Build the query for ``new`` files of the commit ``$commit``, and for ``old`` files of its first parent.

    The file at the path ``$p0`` is in the field ``f0``, and so on; that at ``$q0`` of the parent is in ``g0``. No
    path is part of the query's text.
    """
    counts = {DiffSide.NEW: new, DiffSide.OLD: old}
    letters = [(*SOURCE_LETTERS[side], index) for side in SOURCE_LETTERS for index in range(counts[side])]
    parameters = " ".join(f"${path}{index}: String!" for path, _, index in letters)
    fields = [f"{field}{index}: file(path: ${path}{index}) {{ ...Source }}" for path, field, index in letters]
    before = "\n".join(fields[new:])
    files = "\n".join([*fields[:new], *([f"parents(first: 1) {{ nodes {{\n{before}\n}} }}"] if old else [])])
    return f"""
query Files($owner: String!, $name: String!, $commit: GitObjectID! {parameters}) {{
  repository(owner: $owner, name: $name) {{
    object(oid: $commit) {{ __typename ... on Commit {{
{files}
    }} }}
  }}
}}
{_SOURCE_FRAGMENT}"""


_REMARK_FIELDS = "author { __typename login } authorAssociation body createdAt url isMinimized"
# the newest of each: a call has at most 525 nodes, and costs one point of 5,000 an hour
DISCUSSION_QUERY = f"""
query Discussion($owner: String!, $name: String!, $number: Int!) {{
  repository(owner: $owner, name: $name) {{
    id
    pullRequest(number: $number) {{
      number title author {{ login }}
      closingIssuesReferences(first: 5) {{
        nodes {{
          number title state body createdAt authorAssociation author {{ __typename login }} repository {{ id }}
        }}
      }}
      comments(last: 100) {{ totalCount nodes {{ {_REMARK_FIELDS} }} }}
      reviews(last: 60) {{ totalCount nodes {{ state {_REMARK_FIELDS} }} }}
      reviewThreads(last: 60) {{
        totalCount
        nodes {{
          isResolved path
          opening: comments(first: 1) {{ totalCount nodes {{ {_REMARK_FIELDS} }} }}
          latest: comments(last: 4) {{ nodes {{ {_REMARK_FIELDS} }} }}
        }}
      }}
    }}
  }}
}}
"""


def build_commits_query(count: int) -> str:
    """Build the query for the merges of commits: ``$c0``, a hash or its beginning, is in the field ``c0``."""
    parameters = " ".join(f"$c{index}: String!" for index in range(count))
    commits = "\n".join(f"c{index}: object(expression: $c{index}) {{ ...Origin }}" for index in range(count))
    return f"""
query Commits($owner: String!, $name: String! {parameters}) {{
  repository(owner: $owner, name: $name) {{
id
{commits}
  }}
}}
fragment Origin on GitObject {{
  __typename oid ... on Commit {{ associatedPullRequests(first: 5) {{ nodes {{ ...Facts }} }} }}
}}
{_FACTS_FRAGMENT}"""


def parse_pull_request(repository: Repository, node: Mapping[str, Any], number: int) -> PullRequest:
    """Return the pull request of a ``Facts`` fragment. Missing and wrong values are replaced, never an error."""
    merged_at = parse_instant(node.get("mergedAt"))
    commit = parse_node(node.get("mergeCommit"))
    state, place = node.get("state"), parse_node(node.get("repository"))
    home = place.get("id")
    issues = parse_nodes(node.get("closingIssuesReferences"))[:_MAX_LINKED_ISSUES]
    return PullRequest(
        repository=repository,
        number=number,
        title=clean_title(node.get("title")),
        body=clean_text(node.get("body")),
        author=parse_account(node.get("author")),
        merged_by=parse_account(node.get("mergedBy")),
        merged_at=merged_at,
        merge_commit=clean_hash(commit.get("oid")) or None,
        head_commit=clean_hash(node.get("headRefOid")),
        additions=parse_count(node.get("additions")),
        deletions=parse_count(node.get("deletions")),
        changed_files=parse_count(node.get("changedFiles")),
        state=state if state in _STATES else "MERGED" if merged_at else "OPEN",
        base=clean_line(node.get("baseRefName")),
        default_branch=clean_line(parse_node(place.get("defaultBranchRef")).get("name")),
        labels=tuple(name for label in parse_nodes(node.get("labels")) if (name := clean_line(label.get("name")))),
        commit_message=clean_text(commit.get("message")),
        linked_issues=tuple(
            LinkedIssue(issue_number, clean_title(issue.get("title")))
            for issue in issues
            if (issue_number := parse_number(issue.get("number")))
            and isinstance(home, str)
            and parse_node(issue.get("repository")).get("id") == home
        ),
    )


# --- reading

log = logging.getLogger(__name__)

# recent merges are listed by their last update; for a day before that, a search takes fewer calls
RECENT_AGE = timedelta(days=3)
# a squash commit is dated within a second of its merge; the window for commits is that much wider
_SKEW = timedelta(minutes=2)
# search gives no more than this many results for one query
_MAX_SEARCH_RESULTS = 1_000
_MAX_EXTRA_FETCHES = 20

Node = Mapping[str, Any]


@dataclass(frozen=True)
class GitHubPullRequests:
    """``PullRequests`` of GitHub. ``now`` returns the current aware time."""

    client: GitHubClient
    now: Callable[[], datetime]

    def list_merged(self, repository: Repository, day: LocalDay) -> DayMerges:
        """List the pull requests merged in a day, with an independent count from the default branch."""
        walk = _DayWalk(self.client, repository, day)
        with translate_github_errors(repository):
            if day.end > self.now() - RECENT_AGE:
                nodes, place = walk.list_by_update()
            else:
                nodes, place = walk.list_by_search()
            unreadable = _count_unreadable(repository, nodes)
            incomplete, undated = walk.find_incomplete(nodes)
            listed = {
                number: parse_pull_request(repository, node, number)
                for node in nodes
                if (number := parse_number(node.get("number"))) and walk.is_of_day(node)
            }
            branch, committed, unlinked = walk.read_branch(place)
        # a walk loses a pull request that is updated between two pages, and a search one that its index lacks yet
        missing = (committed or frozenset()) - set(listed)
        gaps = (incomplete & set(listed)) | undated
        for number in [*sorted(gaps), *sorted(missing - gaps)][:_MAX_EXTRA_FETCHES]:
            try:
                pull = self.fetch_pull_request(repository, number)
            except PullRequestNotFound as error:
                # the count of the day shows that something is missing
                log.warning("a commit names what is not there: %s", error)
                continue
            except (GitHubUnavailable, RateLimited) as error:
                if number in missing:
                    raise
                log.warning("%s#%d stays incomplete: %s", repository, number, error)
                continue
            incomplete.discard(number)
            unreadable -= number in undated
            if pull.merged_at and pull.merged_at in day:
                listed[number] = pull
        left_out = tuple(sorted(incomplete & set(listed)))
        if committed is None:
            check = CountCheck(None, "the default branch", unreadable, incomplete=left_out, unlinked=unlinked)
        else:
            # the commits of the default branch do not show merges into others: those count as they were listed
            elsewhere = {number for number, pull in listed.items() if pull.base != branch}
            source = f"the commits of {branch}"
            counted = len(committed | elsewhere)
            check = CountCheck(counted, source, unreadable, incomplete=left_out, unlinked=unlinked)
        pulls = tuple(replace(pull, web=self.client.web) for pull in listed.values())
        return DayMerges(sort_newest_first(pulls), check)

    def fetch_pull_request(self, repository: Repository, number: int) -> PullRequest:
        """Fetch one pull request, without files."""
        with translate_github_errors(repository, number):
            data = self.client.run_query(SINGLE_QUERY, repository, {"number": number})
            node = parse_node(parse_node(data["repository"]).get("pullRequest"))
        if not node:
            raise Reference(repository, number).build_missing_error()
        return replace(parse_pull_request(repository, node, number), web=self.client.web)

    def load_files(self, pull: PullRequest) -> PullRequest:
        """Return the pull request with its files. One without changed files costs no call."""
        if not pull.changed_files:
            return replace(pull, files=())
        with translate_github_errors(pull.repository, pull.number):
            # one by one: the whole answer would be many times larger than the part that is kept
            files = tuple(parse_files(self.client.list_files(pull.repository, pull.number)))
        return replace(pull, files=files)


@dataclass(frozen=True)
class _DayWalk:
    """The pages of one day of one repository, by two ways: each returns all records and the repository's node.

    ``gaps`` are the records of which GitHub could not compute a field. ``renamed`` is the present name of a
    repository that has another one: GitHub follows the earlier one, but its search does not.
    """

    client: GitHubClient
    repository: Repository
    day: LocalDay
    gaps: list[Node] = field(default_factory=list)
    renamed: str = ""

    @property
    def _window(self) -> dict[str, str]:
        return {"since": (self.day.start - _SKEW).isoformat(), "until": (self.day.end + _SKEW).isoformat()}

    def list_by_update(self) -> tuple[list[Node], Node]:
        """Walk from the last update back. This is complete: nothing is merged after its last update."""
        nodes, place, after = list[Node](), None, None
        while True:
            page = parse_node(self._query_page(RECENT_QUERY, after)["repository"])
            place = place or page
            pulls = parse_node(page.get("pullRequests"))
            nodes += parse_nodes(pulls)
            last, after = find_last_update(nodes), find_next_cursor(pulls, after)
            if after is None or (last and last < self.day.start):
                return nodes, place

    def list_by_search(self) -> tuple[list[Node], Node]:
        """Search, one query per hundred: for a day long past, walking back by update takes too long."""
        first = self._query_past(self.day.start, self.day.end, None)
        name = parse_node(first["repository"]).get("nameWithOwner")
        if isinstance(name, str) and not self.renamed and self._report_rename(name):
            return replace(self, renamed=str(Repository.parse(name))).list_by_search()
        nodes = list(self._iterate_results(parse_node(first["search"]), self.day.start, self.day.end))
        return nodes, parse_node(first["repository"])

    def _query_past(self, start: datetime, end: datetime, after: str | None) -> dict[str, Any]:
        # search knows only whole seconds and includes both ends
        first, last = (each.astimezone(UTC).isoformat() for each in (start, end - timedelta(seconds=1)))
        search = f"repo:{self.renamed or self.repository} is:pr is:merged merged:{first}..{last}"
        return self._query_page(PAST_QUERY, after, search=search)

    def _query_page(self, query: str, after: str | None, **variables: Any) -> dict[str, Any]:
        """Run a query for one page. Only the first page includes the commits of the branch."""
        page = {"after": after, "count": after is None, "commitsAfter": None, **self._window, **variables}
        data, errors = self.client.run_partial_query(query, self.repository, page)
        if is_subject_missing(errors):
            raise GraphQLError(errors)
        for place in find_gaps(data, errors):
            if not place:
                listed = parse_nodes(data.get("search") or parse_node(data["repository"]).get("pullRequests"))
                self.gaps.extend(node for node in listed if None in node.values())
            elif (record := _find_record(data, place)) is not None:
                self.gaps.append(record)
            elif not isinstance(place[-1], int) and (place[0] == "search" or "pullRequests" in place):
                # what is left is not the list; a record that is null as a whole counts as unreadable
                raise GraphQLError(errors)
        return data

    def find_incomplete(self, nodes: Iterable[Node]) -> tuple[set[int], set[int]]:
        """Return the numbers of the records with gaps, and of those among them whose day is not known either."""
        gaps = {id(node) for node in self.gaps}
        incomplete = {
            number: node for node in nodes if id(node) in gaps and (number := parse_number(node.get("number")))
        }
        undated = {number for number, node in incomplete.items() if not parse_instant(node.get("mergedAt"))}
        return set(incomplete), undated

    def _iterate_results(self, page: Node, start: datetime, end: datetime) -> Iterator[Node]:
        """Yield all results of a search between two instants. Halve the span while it holds more than 1,000."""
        if parse_count(page.get("issueCount")) > _MAX_SEARCH_RESULTS and end - start > timedelta(seconds=2):
            middle = start + timedelta(seconds=(end - start) // timedelta(seconds=2))
            for half in ((start, middle), (middle, end)):
                yield from self._iterate_results(parse_node(self._query_past(*half, None)["search"]), *half)
            return
        yield from parse_nodes(page)
        after = None
        while after := find_next_cursor(page, after):
            page = parse_node(self._query_past(start, end, after)["search"])
            yield from parse_nodes(page)

    def read_branch(self, place: Node) -> tuple[str, frozenset[int] | None, tuple[str, ...]]:
        """Return the default branch, and the numbers of the day's merges in its commits, None without commits.

        The hashes are those of commits whose pull requests GitHub does not say when it is asked again.
        """
        if isinstance(present := place.get("nameWithOwner"), str):
            self._report_rename(present)
        branch = parse_node(place.get("defaultBranchRef"))
        name, commits = clean_line(branch.get("name")), parse_node(parse_node(branch.get("target")).get("history"))
        own = place.get("id")
        if not isinstance(commits.get("nodes"), list) or not isinstance(own, str):
            return name, None, ()
        nodes = [*self._iterate_commits(commits)]
        if not all(nodes):
            # a commit that is null as a whole names none, so there is nothing to ask again for
            return name, None, ()
        again = self._load_commits([oid for node in nodes if (oid := _find_unlinked(node))][:_MAX_EXTRA_FETCHES])
        nodes = [again.get(_find_unlinked(node), node) for node in nodes]
        linked = (
            pull
            for node in nodes
            for pull in parse_nodes(node.get("associatedPullRequests"))
            if parse_node(pull.get("repository")).get("id") == own
        )
        numbers = (parse_number(pull.get("number")) for pull in linked if self.is_of_day(pull))
        unlinked = tuple(oid for node in nodes if (oid := _find_unlinked(node)))
        return name, frozenset(number for number in numbers if number), unlinked

    def _load_commits(self, hashes: Sequence[str]) -> dict[str, Node]:
        """Return commits by their hashes, in one call."""
        if not hashes:
            return {}
        asked = {f"c{index}": oid for index, oid in enumerate(hashes)}
        data, _ = self.client.run_partial_query(build_commits_query(len(asked)), self.repository, asked)
        return {oid: parse_node(parse_node(data["repository"]).get(field)) for field, oid in asked.items()}

    def _report_rename(self, present: str) -> bool:
        """Return whether the repository has another name now, which operators are told once in a process."""
        is_other = present.lower() != str(self.repository).lower()
        if is_other:
            _log_rename(str(self.repository), present)
        return is_other

    def _iterate_commits(self, page: Node) -> Iterator[Node]:
        yield from parse_nodes(page)
        after = None
        while after := find_next_cursor(page, after):
            data = self.client.run_query(HISTORY_QUERY, self.repository, {"commitsAfter": after, **self._window})
            branch = parse_node(parse_node(data["repository"]).get("defaultBranchRef"))
            page = parse_node(parse_node(branch.get("target")).get("history"))
            yield from parse_nodes(page)

    def is_of_day(self, node: Node) -> bool:
        merged_at = parse_instant(node.get("mergedAt"))
        return merged_at is not None and merged_at in self.day


def _find_unlinked(commit: Node) -> str:
    """Return the hash of a commit of which GitHub does not say all pull requests; else an empty text."""
    listed = parse_node(commit.get("associatedPullRequests")).get("nodes")
    return "" if isinstance(listed, list) and None not in listed else clean_hash(commit.get("oid"))


@cache
def _log_rename(before: str, now: str) -> None:
    log.warning("%s was renamed to %s", before, clean_line(now))


def _find_record(data: Mapping[str, Any], place: Sequence[Any]) -> Node | None:
    """Return the pull request that a path leads into, None if it leads elsewhere."""
    value: Any = data
    for step, following in pairwise(place):
        try:
            value = value[step]
        except (LookupError, TypeError):
            return None
        if (
            isinstance(step, int)
            and isinstance(value, Mapping)
            and isinstance(following, str)
            and "title" in value
        ):
            return value
    return None


def _count_unreadable(repository: Repository, nodes: list[Node]) -> int:
    """Return how many records have no number or no time of their merge, and log which."""
    unreadable = [
        node for node in nodes if not (parse_number(node.get("number")) and parse_instant(node.get("mergedAt")))
    ]
    if unreadable:
        numbers = ", ".join(f"#{number}" for node in unreadable if (number := parse_number(node.get("number"))))
        log.warning(
            "%s: %d records of merges can't be read (%s)", repository, len(unreadable), numbers or "no numbers"
        )
    return len(unreadable)


def find_next_cursor(page: Node, before: str | None) -> str | None:
    """Return the cursor behind a page, None after the last. Raises UnreadableResponse if the list breaks off."""
    if not isinstance(page.get("nodes"), list):
        raise UnreadableResponse("a list is missing")
    about = parse_node(page.get("pageInfo"))
    if about.get("hasNextPage") is False:
        return None
    after = about.get("endCursor")
    if not isinstance(after, str) or not after or after == before:
        # as a last page, this would lose the rest of the day; from the first page again, the loop would not end
        raise UnreadableResponse("a list breaks off")
    return after


def find_last_update(nodes: list[Node]) -> datetime | None:
    """Return the last update of the last record that has one; nothing is merged after its last update."""
    for node in reversed(nodes):
        updates = [at for name in ("updatedAt", "mergedAt") if (at := parse_instant(node.get(name)))]
        if updates:
            return max(updates)
    return None
