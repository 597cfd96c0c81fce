"""GraphQL queries, and the conversion of their nodes to pull requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.adapters.records.cleaning import (
    account_of,
    count_of,
    hash_of,
    instant_of,
    line_of,
    node_of,
    nodes_of,
    text_of,
    title_of,
)
from bot.domain.pull_requests.models import PullRequest, Repository

_STATES = ("OPEN", "CLOSED", "MERGED")

_FACTS = """
fragment Facts on PullRequest {
  number title body state mergedAt updatedAt headRefOid baseRefName additions deletions changedFiles
  author { __typename login }
  mergedBy { __typename login }
  mergeCommit { oid message }
  labels(first: 20) { nodes { name } }
}
"""

# the commits of the default branch name the pull requests they came from: this count depends neither on the
# order of updates nor on the search index
_HISTORY = """
  defaultBranchRef { name target { ... on Commit {
    history(since: $since, until: $until, first: 100, after: $commitsAfter) {
      pageInfo { hasNextPage endCursor }
      nodes { associatedPullRequests(first: 5) { nodes { number mergedAt } } }
    }
  } } }
"""

RECENT = (
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
    + _HISTORY
    + """}
  }
}
"""
    + _FACTS
)

PAST = (
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
    id
    ... @include(if: $count) {"""
    + _HISTORY
    + """}
  }
}
"""
    + _FACTS
)

HISTORY = (
    """
query History(
  $owner: String!, $name: String!, $since: GitTimestamp!, $until: GitTimestamp!, $commitsAfter: String
) {
  repository(owner: $owner, name: $name) {"""
    + _HISTORY
    + """}
}
"""
)

ONE = (
    """
query One($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) { ...Facts } }
}
"""
    + _FACTS
)

ALL = {"recent": RECENT, "past": PAST, "history": HISTORY, "one": ONE}


def pull_of(repository: Repository, node: Mapping[str, Any], number: int) -> PullRequest:
    """Return the pull request of a ``Facts`` node. Missing and wrong values are replaced, never an error."""
    merged_at = instant_of(node.get("mergedAt"))
    commit = node_of(node.get("mergeCommit"))
    state = node.get("state")
    return PullRequest(
        repository=repository,
        number=number,
        title=title_of(node.get("title")),
        body=text_of(node.get("body")),
        author=account_of(node.get("author")),
        merged_by=account_of(node.get("mergedBy")),
        merged_at=merged_at,
        merge_commit=hash_of(commit.get("oid")) or None,
        head_commit=hash_of(node.get("headRefOid")),
        additions=count_of(node.get("additions")),
        deletions=count_of(node.get("deletions")),
        changed_files=count_of(node.get("changedFiles")),
        state=state if state in _STATES else "MERGED" if merged_at else "OPEN",
        base=line_of(node.get("baseRefName")),
        labels=tuple(name for label in nodes_of(node.get("labels")) if (name := line_of(label.get("name")))),
        commit_message=text_of(commit.get("message")),
    )
