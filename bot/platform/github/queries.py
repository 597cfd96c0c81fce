"""GraphQL queries, and the conversion of their nodes to pull requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.platform.cleaning import (
    clean_hash,
    clean_line,
    clean_text,
    clean_title,
    parse_account,
    parse_count,
    parse_instant,
    parse_node,
    parse_nodes,
    parse_number,
)
from bot.platform.pulls.models import LinkedIssue, PullRequest
from impact.repository import Repository
from impact.source.models import DiffSide

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
    "query Name($owner: String!, $name: String!) { repository(owner: $owner, name: $name) { nameWithOwner } }"
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
