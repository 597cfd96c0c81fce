"""Open pull requests: one call for a hundred of them, and one more for the files of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from bot.platform.cleaning import (
    clean_hash,
    parse_count,
    parse_file,
    parse_instant,
    parse_node,
    parse_nodes,
    parse_number,
)
from bot.platform.github.client import GitHubClient, is_subject_missing
from bot.platform.github.errors import GraphQLError, UnreadableResponse, translate_github_errors
from bot.platform.github.pulls import Node, find_last_update, find_next_cursor, parse_pull_request
from bot.platform.pulls.models import PullRequest
from impact.repository import Repository

# hundreds that are listed at most
_MAX_PAGES = 15
# a comparison lists no more files (docs.github.com, "Compare two commits")
_MAX_FILES = 300

# without descriptions, which are most of a record and say nothing of the code
OPEN_QUERY = """
query Open($owner: String!, $name: String!, $after: String) {
  repository(owner: $owner, name: $name) {
    pullRequests(states: OPEN, first: 100, after: $after, orderBy: {field: UPDATED_AT, direction: DESC}) {
      totalCount
      pageInfo { hasNextPage endCursor }
      nodes {
        number title state isDraft updatedAt headRefOid baseRefName changedFiles
        author { __typename login }
        repository { id defaultBranchRef { name } }
      }
    }
  }
}
"""


@dataclass(frozen=True, slots=True)
class OpenPulls:
    """Open pull requests into the default branch, last updated first, without files.

    Of ``total`` open ones, the ``drafts`` are left out, those into ``other_branches``, and the ``idle``
    ones, without an update in the time that was asked for. Of the ``unlisted`` nothing is known.
    """

    pulls: tuple[PullRequest, ...]
    total: int
    drafts: int = 0
    other_branches: int = 0
    idle: int = 0
    unlisted: int = 0


@dataclass(frozen=True)
class GitHubOpenPulls:
    client: GitHubClient

    def list_open(self, repository: Repository, since: datetime) -> OpenPulls:
        """List those that were updated since an instant (aware). Raises as ``PullRequests`` does."""
        nodes, total, is_cut = list[Node](), 0, True
        with translate_github_errors(repository):
            for page in self._iterate_pages(repository):
                nodes += parse_nodes(page)
                total, last = parse_count(page.get("totalCount")), find_last_update(nodes)
                if (last and last < since) or parse_node(page.get("pageInfo")).get("hasNextPage") is False:
                    is_cut = False
                    break
        # one that is updated meanwhile is on two pages
        known = {number: node for node in nodes if (number := parse_number(node.get("number")))}
        times = {number: parse_instant(node.get("updatedAt")) or since for number, node in known.items()}
        recent = {number: node for number, node in known.items() if times[number] >= since}
        ready = [
            replace(parse_pull_request(repository, node, number), web=self.client.web)
            for number, node in recent.items()
            if node.get("isDraft") is not True
        ]
        own = tuple(pull for pull in ready if not pull.other_branch)
        unlisted = sum(not parse_number(node.get("number")) for node in nodes)
        rest = max(0, total - len(known) - unlisted)
        return OpenPulls(
            own,
            total,
            drafts=len(recent) - len(ready),
            other_branches=len(ready) - len(own),
            idle=len(known) - len(recent) + (0 if is_cut else rest),
            unlisted=unlisted + (rest if is_cut else 0),
        )

    def _iterate_pages(self, repository: Repository) -> Iterator[Node]:
        after: str | None = None
        for _ in range(_MAX_PAGES):
            data, errors = self.client.run_repeated_query(OPEN_QUERY, repository, {"after": after})
            if is_subject_missing(errors):
                raise GraphQLError(errors)
            page = parse_node(parse_node(data["repository"]).get("pullRequests"))
            after = find_next_cursor(page, after)
            yield page

    def load_changes(self, pull: PullRequest) -> tuple[PullRequest, str]:
        """Return a pull request with its files, without patches, and the commit from which its head branched off.

        Without that commit, GitHub would show what others merged since as its changes.
        """
        with translate_github_errors(pull.repository, pull.number):
            if not pull.head_commit:
                raise UnreadableResponse("no head")
            answer = self.client.compare(pull.repository, pull.base, pull.head_commit)
            base, listed = clean_hash(parse_node(answer.get("merge_base_commit")).get("sha")), answer.get("files")
            if not base or not isinstance(listed, list):
                raise UnreadableResponse("no comparison")
        nodes = [{**node, "patch": None} for node in parse_nodes(listed[:_MAX_FILES])]
        # of fewer, the count on its page may be that of another day
        count = len(nodes) if len(nodes) < _MAX_FILES else max(pull.changed_files, _MAX_FILES)
        return replace(pull, files=tuple(map(parse_file, nodes)), changed_files=count), base
