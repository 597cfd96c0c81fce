"""The GraphQL queries, and how their nodes become pull requests."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from bot.domain.pulls import GHOST, Account, PullRequest, Repository

_FACTS = """
fragment Facts on PullRequest {
  number title body state mergedAt updatedAt headRefOid baseRefName additions deletions changedFiles
  author { __typename login }
  mergedBy { __typename login }
  mergeCommit { oid message }
  labels(first: 20) { nodes { name } }
}
"""

# the commits of the default branch name the pull requests they came from: a count that owes nothing to the
# order of updates or to the search index
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


def instant(text: str) -> datetime:
    """An instant as GitHub writes it."""
    return datetime.fromisoformat(text)


def pull_of(repository: Repository, node: Mapping[str, Any]) -> PullRequest:
    """The pull request of a ``Facts`` node."""
    merged_at = node.get("mergedAt")
    commit = node.get("mergeCommit") or {}
    return PullRequest(
        repository=repository,
        number=node["number"],
        title=node["title"],
        body=node.get("body") or "",
        author=_account(node.get("author")),
        merged_by=_account(node.get("mergedBy")),
        merged_at=instant(merged_at) if merged_at else None,
        merge_commit=commit.get("oid"),
        head_commit=node.get("headRefOid") or "",
        additions=node["additions"],
        deletions=node["deletions"],
        changed_files=node["changedFiles"],
        state=node["state"],
        base=node.get("baseRefName") or "",
        labels=tuple(label["name"] for label in ((node.get("labels") or {}).get("nodes") or ())),
        commit_message=commit.get("message") or "",
    )


def _account(node: Mapping[str, Any] | None) -> Account:
    if node is None:
        return GHOST
    return Account(node["login"], is_bot=node.get("__typename") == "Bot")
