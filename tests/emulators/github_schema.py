"""The part of GitHub's GraphQL schema that the emulator answers, executed by graphql-core."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from graphql import (
    DocumentNode,
    ExecutionResult,
    FieldNode,
    GraphQLError,
    GraphQLResolveInfo,
    GraphQLSchema,
    build_schema,
    execute_sync,
    parse,
    validate,
)

from tests.emulators.github_store import (
    SEARCH_CAP,
    SITE,
    PullRecord,
    Repository,
    Search,
    Store,
    UnknownQualifier,
    instant,
    moment,
    sha,
)

# names, types and arguments are GitHub's; a test compares them with the public schema
SDL = """
scalar DateTime scalar GitObjectID scalar GitTimestamp scalar URI
enum PullRequestState { OPEN CLOSED MERGED }
enum OrderDirection { ASC DESC }
enum IssueOrderField { CREATED_AT UPDATED_AT }
enum SearchType { ISSUE }
enum PatchStatus { ADDED CHANGED COPIED DELETED MODIFIED RENAMED }
input IssueOrder { field: IssueOrderField! direction: OrderDirection! }
interface Node { id: ID! }
interface Actor { login: String! url: URI! }
interface RepositoryOwner { id: ID! login: String! url: URI! }
interface GitObject { id: ID! oid: GitObjectID! }
union SearchResultItem = PullRequest
type User implements Actor & Node & RepositoryOwner { id: ID! login: String! url: URI! }
type Bot implements Actor & Node { id: ID! login: String! url: URI! }
type PageInfo { startCursor: String endCursor: String hasNextPage: Boolean! hasPreviousPage: Boolean! }
type RateLimit { limit: Int! cost: Int! remaining: Int! used: Int! resetAt: DateTime! }
type Label implements Node { id: ID! name: String! }
type LabelEdge { cursor: String! node: Label }
type LabelConnection { totalCount: Int! pageInfo: PageInfo! nodes: [Label] edges: [LabelEdge] }
type PullRequestChangedFile { path: String! additions: Int! deletions: Int! changeType: PatchStatus! }
type PullRequestChangedFileEdge { cursor: String! node: PullRequestChangedFile }
type PullRequestChangedFileConnection {
  totalCount: Int! pageInfo: PageInfo! nodes: [PullRequestChangedFile] edges: [PullRequestChangedFileEdge]
}
type PullRequest implements Node {
  id: ID! number: Int! title: String! body: String! bodyText: String! url: URI! state: PullRequestState!
  merged: Boolean! mergedAt: DateTime createdAt: DateTime! updatedAt: DateTime! closedAt: DateTime
  isDraft: Boolean! author: Actor mergedBy: Actor mergeCommit: Commit potentialMergeCommit: Commit
  baseRefName: String! headRefName: String! baseRefOid: GitObjectID! headRefOid: GitObjectID!
  additions: Int! deletions: Int! changedFiles: Int! repository: Repository!
  labels(first: Int, last: Int, after: String, before: String): LabelConnection
  files(first: Int, last: Int, after: String, before: String): PullRequestChangedFileConnection
}
type PullRequestEdge { cursor: String! node: PullRequest }
type PullRequestConnection {
  totalCount: Int! pageInfo: PageInfo! nodes: [PullRequest] edges: [PullRequestEdge]
}
type Commit implements GitObject & Node {
  id: ID! oid: GitObjectID! message: String! messageHeadline: String! committedDate: DateTime!
  associatedPullRequests(first: Int, last: Int, after: String, before: String): PullRequestConnection
  history(
    since: GitTimestamp, until: GitTimestamp, first: Int, last: Int, after: String, before: String
  ): CommitHistoryConnection!
}
type CommitEdge { cursor: String! node: Commit }
type CommitHistoryConnection { totalCount: Int! pageInfo: PageInfo! nodes: [Commit] edges: [CommitEdge] }
type Ref implements Node { id: ID! name: String! target: GitObject }
type Repository implements Node {
  id: ID! name: String! owner: RepositoryOwner! nameWithOwner: String! url: URI! isPrivate: Boolean!
  defaultBranchRef: Ref
  object(oid: GitObjectID, expression: String): GitObject
  pullRequest(number: Int!): PullRequest
  pullRequests(
    states: [PullRequestState!], orderBy: IssueOrder, baseRefName: String, labels: [String!]
    first: Int, last: Int, after: String, before: String
  ): PullRequestConnection!
}
type SearchResultItemEdge { cursor: String! node: SearchResultItem }
type SearchResultItemConnection {
  issueCount: Int! pageInfo: PageInfo! nodes: [SearchResultItem] edges: [SearchResultItemEdge]
}
type Query {
  repository(owner: String!, name: String!, followRenames: Boolean): Repository
  search(
    query: String!, type: SearchType!, first: Int, last: Int, after: String, before: String
  ): SearchResultItemConnection!
  rateLimit(dryRun: Boolean): RateLimit
  viewer: User!
}
"""

_CHANGE_TYPES = {"added": "ADDED", "removed": "DELETED", "renamed": "RENAMED", "copied": "COPIED"}
_CHANGE_TYPES |= {"modified": "MODIFIED", "changed": "CHANGED", "unchanged": "CHANGED"}
# pages hold 1 to 100 nodes
_PAGE_LIMIT = 100

Info = GraphQLResolveInfo[Any]
Row = tuple[list[Any], Any]
Node = dict[str, Any]


@cache
def schema() -> GraphQLSchema:
    return build_schema(SDL)


@cache
def _checked(query: str) -> tuple[DocumentNode | None, tuple[GraphQLError, ...]]:
    try:
        document = parse(query)
    except GraphQLError as error:
        return None, (error,)
    return document, tuple(validate(schema(), document))


@dataclass(frozen=True)
class GraphQL:
    """Answers GraphQL requests from a store; ``hidden`` numbers are missing from search only."""

    store: Store
    hidden: Callable[[], set[int]]
    rate_limit: Callable[[], Node]
    viewer: str = "digest-tester"

    def answer(self, request: Node) -> Node:
        """The body of the answer to one POST, errors in GitHub's form."""
        document, errors = _checked(request.get("query") or "")
        if document is None or errors:
            return {"errors": [_refusal(error) for error in errors]}
        result = execute_sync(
            schema(),
            document,
            root_value=self._root(),
            variable_values=request.get("variables"),
            operation_name=request.get("operationName"),
        )
        return _body(result)

    def _root(self) -> Node:
        return {
            "repository": self._repository,
            "search": self._search,
            "rateLimit": lambda _info, **_: self.rate_limit(),
            "viewer": lambda _info: _actor(self.viewer, is_bot=False),
        }

    def _repository(self, _info: Info, owner: str, name: str, **_: Any) -> Node:
        found = self.store.find(f"{owner}/{name}")
        if found is None:
            raise _not_found(f"Could not resolve to a Repository with the name '{owner}/{name}'.")
        return repository_node(found)

    def _search(self, info: Info, query: str, **arguments: Any) -> Node:
        try:
            found = Search.of(query).run(self.store, self.hidden())
        except UnknownQualifier as error:
            raise GraphQLError(str(error)) from error
        rows = [([place], pull_node(*row)) for place, row in enumerate(found[:SEARCH_CAP])]
        return {**connection(info, rows, arguments), "issueCount": len(found)}


def _refusal(error: GraphQLError) -> Node:
    """An error in GitHub's form: its ``type`` stands beside the message, not under ``extensions``."""
    shown = error.formatted
    kind = (error.extensions or {}).get("type")
    known = {"type": kind, "path": shown.get("path"), "locations": shown.get("locations")}
    return {**{key: value for key, value in known.items() if value}, "message": error.message}


def _body(result: ExecutionResult) -> Node:
    errors = [_refusal(error) for error in result.errors or []]
    return {"data": result.data, **({"errors": errors} if errors else {})}


def _not_found(message: str) -> GraphQLError:
    return GraphQLError(message, extensions={"type": "NOT_FOUND"})


# --- pages


def connection(info: Info, rows: list[Row], arguments: Node, *, falling: bool = False) -> Node:
    """One page of rows. A cursor holds its row's sort key, so a page goes on even if rows moved meanwhile."""
    _check_bounds(info, arguments)
    left = [row for row in rows if _inside(row[0], arguments, falling=falling)]
    first, last = arguments.get("first"), arguments.get("last")
    chosen = left[:first] if first is not None else left[-(last or len(left)) :]
    return {
        "totalCount": len(rows),
        "pageInfo": _page_info(rows, chosen),
        "nodes": [node for _, node in chosen],
        "edges": [{"cursor": _cursor(key), "node": node} for key, node in chosen],
    }


def _page_info(rows: list[Row], chosen: list[Row]) -> Node:
    return {
        "startCursor": _cursor(chosen[0][0]) if chosen else None,
        "endCursor": _cursor(chosen[-1][0]) if chosen else None,
        "hasNextPage": bool(chosen) and rows[-1][0] != chosen[-1][0],
        "hasPreviousPage": bool(chosen) and rows[0][0] != chosen[0][0],
    }


def _inside(key: list[Any], arguments: Node, *, falling: bool) -> bool:
    after, before = arguments.get("after"), arguments.get("before")
    if after and (key >= _key(after) if falling else key <= _key(after)):
        return False
    return not before or (key > _key(before) if falling else key < _key(before))


def _cursor(key: list[Any]) -> str:
    return base64.b64encode(b"cursor:v2:" + json.dumps(key).encode()).decode()


def _key(cursor: str) -> list[Any]:
    try:
        found = json.loads(base64.b64decode(cursor, validate=True).removeprefix(b"cursor:v2:"))
    except (binascii.Error, ValueError):
        found = None
    if not isinstance(found, list):
        message = f"`{cursor}` does not appear to be a valid cursor."
        raise GraphQLError(message, extensions={"type": "INVALID_CURSOR_ARGUMENTS"})
    return found


def _check_bounds(info: Info, arguments: Node) -> None:
    given = {name: arguments[name] for name in ("first", "last") if arguments.get(name) is not None}
    if not given and _wants_nodes(info):
        message = (
            f"You must provide a `first` or `last` value to properly paginate the `{info.field_name}` connection."
        )
        raise GraphQLError(message, extensions={"type": "MISSING_PAGINATION_BOUNDARIES"})
    for name, size in given.items():
        if not 1 <= size <= _PAGE_LIMIT:
            side = (
                f"exceeds the `{name}` limit of {_PAGE_LIMIT}"
                if size > 1
                else f"is below the `{name}` minimum of 1"
            )
            message = f"Requesting {size} records on the `{info.field_name}` connection {side} records."
            raise GraphQLError(message, extensions={"type": "EXCESSIVE_PAGINATION"})


def _wants_nodes(info: Info) -> bool:
    """A connection asked only for its count needs no page size."""
    sets = [node.selection_set for node in info.field_nodes if node.selection_set]
    wanted = [item for found in sets for item in found.selections]
    counts = {"totalCount", "issueCount", "__typename"}
    return any(not isinstance(item, FieldNode) or item.name.value not in counts for item in wanted)


# --- nodes


def _actor(login: str | None, *, is_bot: bool) -> Node | None:
    """A user or a bot; a deleted account is null. REST writes bots as ``name[bot]``, GraphQL without it."""
    if login is None:
        return None
    name = login.removesuffix("[bot]")
    is_bot = is_bot or name != login
    kind, url = ("Bot", f"{SITE}/apps/{name}") if is_bot else ("User", f"{SITE}/{name}")
    return {"__typename": kind, "id": f"A_{sha(login)[:12]}", "login": name, "url": url}


def repository_node(place: Repository) -> Node:
    owner, name = place.name.split("/")
    return {
        "__typename": "Repository",
        "id": f"R_{sha(place.name)[:12]}",
        "name": name,
        "owner": _actor(owner, is_bot=False),
        "nameWithOwner": place.name,
        "url": place.url,
        "isPrivate": False,
        "defaultBranchRef": lambda _info: {
            "id": f"REF_{sha(place.name)[:12]}",
            "name": place.default_branch,
            "target": commit_node(place, next(iter(place.landed()), None)),
        },
        "object": lambda _info, **wanted: _object(place, wanted.get("oid") or wanted.get("expression") or ""),
        "pullRequest": lambda _info, number: _one_pull(place, number),
        "pullRequests": lambda info, **arguments: _pulls(info, place, arguments),
    }


def _one_pull(place: Repository, number: int) -> Node:
    if number not in place.pulls:
        raise _not_found(f"Could not resolve to a PullRequest with the number of {number}.")
    return pull_node(place, place.pulls[number])


def _object(place: Repository, name: str) -> Node | None:
    landed = place.landed()
    if name in {"HEAD", place.default_branch}:
        return commit_node(place, landed[0] if landed else None)
    known = [item for item in place.records() if item.merge_commit_sha]
    found = [item for item in known if name and (item.merge_commit_sha or "").startswith(name)]
    return commit_node(place, found[0]) if found else None


def _pulls(info: Info, place: Repository, arguments: Node) -> Node:
    order = arguments.get("orderBy") or {"field": "CREATED_AT", "direction": "ASC"}
    falling = order["direction"] == "DESC"
    found = [item for item in place.records() if _asked_for(item, arguments)]
    rows: list[Row] = [(_sort_key(item, order["field"]), item) for item in found]
    rows.sort(key=lambda row: row[0], reverse=falling)
    return connection(info, [(key, pull_node(place, item)) for key, item in rows], arguments, falling=falling)


def _sort_key(item: PullRecord, order: str) -> list[Any]:
    return [instant(item.updated_at if order == "UPDATED_AT" else item.created_at), item.number]


def _asked_for(item: PullRecord, arguments: Node) -> bool:
    states, base, labels = (arguments.get(name) for name in ("states", "baseRefName", "labels"))
    return (
        (not states or item.state in states)
        and (base is None or item.base_ref == base)
        and (not labels or bool(set(labels) & set(item.labels)))
    )


def pull_node(place: Repository, item: PullRecord) -> Node:
    return {
        **_pull_facts(place, item),
        "__typename": "PullRequest",
        "author": _actor(item.author, is_bot=item.author_is_bot),
        "mergedBy": _actor(item.merged_by, is_bot=False),
        "repository": lambda _info: repository_node(place),
        "mergeCommit": lambda _info: commit_node(place, item) if item.merge_commit_sha else None,
        "potentialMergeCommit": None,
        "labels": lambda info, **arguments: connection(info, _label_rows(item), arguments),
        "files": lambda info, **arguments: connection(info, _file_rows(item), arguments),
    }


def _pull_facts(place: Repository, item: PullRecord) -> Node:
    return {
        "id": f"PR_{sha(place.name)[:8]}{item.number}",
        "number": item.number,
        "title": item.title,
        "body": item.body or "",
        "bodyText": item.body or "",
        "url": f"{place.url}/pull/{item.number}",
        "state": item.state,
        "merged": item.state == "MERGED",
        "mergedAt": instant(item.merged_at),
        "createdAt": instant(item.created_at),
        "updatedAt": instant(item.updated_at),
        "closedAt": instant(item.closed_at),
        "isDraft": False,
        "baseRefName": item.base_ref,
        "headRefName": f"topic-{item.number}",
        "baseRefOid": item.base_sha,
        "headRefOid": item.head_sha,
        "additions": item.additions,
        "deletions": item.deletions,
        "changedFiles": item.changed_files,
    }


def _label_rows(item: PullRecord) -> list[Row]:
    return [([place], {"id": f"LA_{sha(name)[:12]}", "name": name}) for place, name in enumerate(item.labels)]


def _file_rows(item: PullRecord) -> list[Row]:
    return [([place], _file_node(file)) for place, file in enumerate(item.files)]


def _file_node(file: dict[str, Any]) -> Node:
    return {
        "path": file["filename"],
        "additions": file["additions"],
        "deletions": file["deletions"],
        "changeType": _CHANGE_TYPES[file["status"]],
    }


def commit_node(place: Repository, item: PullRecord | None) -> Node:
    """The commit a pull request was merged as; None is the root of a repository without merges."""
    oid = (item and item.merge_commit_sha) or sha(place.name)
    headline = f"{item.title} (#{item.number})" if item else "Begin"
    return {
        "__typename": "Commit",
        "id": f"C_{oid[:12]}",
        "oid": oid,
        "message": f"{headline}\n\n{item.body or ''}".strip() if item else headline,
        "messageHeadline": headline,
        "committedDate": instant(item.merged_at) if item else "1970-01-01T00:00:00Z",
        "associatedPullRequests": lambda info, **arguments: connection(
            info, [([0], pull_node(place, item))] if item else [], arguments
        ),
        "history": lambda info, **arguments: _history(info, place, item, arguments),
    }


def _history(info: Info, place: Repository, head: PullRecord | None, arguments: Node) -> Node:
    """Merges up to ``head``, newest first; ``since`` and ``until`` both count, as in git."""
    landed = place.landed()
    if head and head.merged_at:
        landed = [item for item in landed if item.merged_at and item.merged_at <= head.merged_at]
    since, until = arguments.get("since"), arguments.get("until")
    dated = [(item.merged_at.replace(microsecond=0), item) for item in landed if item.merged_at]
    kept = [
        item for at, item in dated if (not since or at >= moment(since)) and (not until or at <= moment(until))
    ]
    return connection(info, [([place_], commit_node(place, item)) for place_, item in enumerate(kept)], arguments)
