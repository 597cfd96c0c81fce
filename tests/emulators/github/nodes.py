"""The nodes of GitHub's GraphQL graph, made from what the store knows."""

from collections.abc import Iterable
from typing import Any

from graphql import GraphQLError

from tests.emulators.github.pages import Info, Node, Row, connection
from tests.emulators.github.store import (
    DEFAULT_MOMENT,
    SITE,
    IssueRecord,
    PullRecord,
    ReleaseRecord,
    RemarkRecord,
    Repository,
    ThreadRecord,
    instant,
    moment,
    sha,
)
from tests.emulators.github.trees import TreeCommit, entry_node

_CHANGE_TYPES = {"added": "ADDED", "removed": "DELETED", "renamed": "RENAMED", "copied": "COPIED"}
_CHANGE_TYPES |= {"modified": "MODIFIED", "changed": "CHANGED", "unchanged": "CHANGED"}


def not_found(message: str) -> GraphQLError:
    return GraphQLError(message, extensions={"type": "NOT_FOUND"})


def actor(login: str | None, *, is_bot: bool) -> Node | None:
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
        # it stays when the repository gets another name
        "id": place.id or f"R_{sha(place.name)[:12]}",
        "name": name,
        "owner": actor(owner, is_bot=False),
        "nameWithOwner": place.name,
        "url": place.url,
        "isPrivate": place.is_private,
        "isArchived": place.is_archived,
        "defaultBranchRef": lambda _info: {
            "id": f"REF_{sha(place.name)[:12]}",
            "name": place.default_branch,
            "target": commit_node(place, next(iter(place.list_landed_merges()), None)),
        },
        "object": lambda _info, oid=None, expression=None: _object(place, oid, expression or ""),
        "pullRequest": lambda _info, number: _one_pull(place, number),
        "pullRequests": lambda info, **arguments: _pulls(info, place, arguments),
        "releases": lambda info, **arguments: _releases(info, place, arguments),
    }


def _releases(info: Info, place: Repository, arguments: Node) -> Node:
    order = arguments.get("orderBy") or {"field": "CREATED_AT", "direction": "ASC"}
    falling, by_name = order["direction"] == "DESC", order["field"] == "NAME"
    rows: list[Row] = [
        ([each.tag if by_name else _made_at(each), at], each) for at, each in enumerate(place.releases)
    ]
    rows.sort(key=lambda row: row[0], reverse=falling)
    return connection(info, [(key, _release_node(place, each)) for key, each in rows], arguments, falling=falling)


def _release_node(place: Repository, release: ReleaseRecord) -> Node:
    return {
        "id": f"RE_{sha(place.name + release.tag)[:12]}",
        "tagName": release.tag,
        "name": release.tag,
        "createdAt": _made_at(release),
        "publishedAt": instant(release.published_at),
        "isDraft": release.published_at is None,
        "isPrerelease": release.is_prerelease,
    }


def _made_at(release: ReleaseRecord) -> str | None:
    return instant(release.published_at or DEFAULT_MOMENT)


def _one_pull(place: Repository, number: int) -> Node:
    if number not in place.pulls:
        raise not_found(f"Could not resolve to a PullRequest with the number of {number}.")
    return pull_node(place, place.pulls[number])


def _object(place: Repository, oid: str | None, name: str) -> Node | None:
    """What a name stands for. By its id a commit is known if its files are, which recorded days don't have."""
    if oid is not None:
        commit = place.commits.get(oid)
        return _tree_commit_node(place, commit) if commit else None
    landed = place.list_landed_merges()
    if name in {"HEAD", place.default_branch}:
        return commit_node(place, landed[0] if landed else None)
    known = [item for item in place.records() if item.merge_commit_sha]
    matches = [item for item in known if name and (item.merge_commit_sha or "").startswith(name)]
    return commit_node(place, matches[0]) if matches else None


def _pulls(info: Info, place: Repository, arguments: Node) -> Node:
    order = arguments.get("orderBy") or {"field": "CREATED_AT", "direction": "ASC"}
    falling = order["direction"] == "DESC"
    matches = [item for item in place.records() if _asked_for(item, arguments)]
    rows: list[Row] = [(_sort_key(item, order["field"]), item) for item in matches]
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
        "author": actor(item.author, is_bot=item.author_is_bot),
        "mergedBy": actor(item.merged_by, is_bot=False),
        "repository": lambda _info: repository_node(place),
        "mergeCommit": lambda _info: commit_node(place, item) if item.merge_commit_sha else None,
        "potentialMergeCommit": None,
        "labels": lambda info, **arguments: connection(info, _label_rows(item), arguments),
        "files": lambda info, **arguments: connection(info, _file_rows(item), arguments),
        "closingIssuesReferences": lambda info, **arguments: connection(info, _issue_rows(place, item), arguments),
        "comments": lambda info, **arguments: connection(
            info, _remark_rows(place, item, item.comments, "issuecomment-"), arguments
        ),
        "reviews": lambda info, **arguments: connection(
            info, _remark_rows(place, item, item.reviews, "pullrequestreview-"), arguments
        ),
        "reviewThreads": lambda info, **arguments: connection(info, _thread_rows(place, item), arguments),
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
        "isDraft": item.is_draft,
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


def _issue_rows(place: Repository, item: PullRecord) -> list[Row]:
    return [([at], _issue_node(place, issue)) for at, issue in enumerate(item.closes)]


def _issue_node(place: Repository, issue: IssueRecord) -> Node:
    home = Repository(issue.repository) if issue.repository else place
    return {
        "__typename": "Issue",
        "id": f"I_{sha(home.name)[:8]}{issue.number}",
        "number": issue.number,
        "title": issue.title,
        "url": f"{home.url}/issues/{issue.number}",
        "state": "OPEN" if issue.is_open else "CLOSED",
        "body": issue.body,
        "createdAt": instant(DEFAULT_MOMENT),
        "author": actor(issue.author, is_bot=False),
        "authorAssociation": issue.association,
        "repository": lambda _info: repository_node(home),
    }


def _remark_rows(place: Repository, item: PullRecord, remarks: Iterable[RemarkRecord], kind: str) -> list[Row]:
    address = f"{place.url}/pull/{item.number}#{kind}"
    return [([at], _remark_node(address, remark)) for at, remark in enumerate(remarks)]


def _remark_node(address: str, remark: RemarkRecord) -> Node:
    return {
        "id": f"IC_{sha(address)[:8]}{remark.id}",
        "url": f"{address}{remark.id}",
        "body": remark.body,
        "createdAt": instant(remark.created_at),
        "author": actor(remark.author, is_bot=False),
        "authorAssociation": remark.association,
        "isMinimized": remark.is_minimized,
        "state": remark.state,
    }


def _thread_rows(place: Repository, item: PullRecord) -> list[Row]:
    return [([at], _thread_node(place, item, thread, at)) for at, thread in enumerate(item.threads)]


def _thread_node(place: Repository, item: PullRecord, thread: ThreadRecord, at: int) -> Node:
    rows = _remark_rows(place, item, thread.remarks, "discussion_r")
    return {
        "id": f"PRRT_{sha(place.name)[:8]}{item.number}_{at}",
        "isResolved": thread.is_resolved,
        "path": thread.path,
        "comments": lambda info, **arguments: connection(info, rows, arguments),
    }


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
    message = _message(item) if item else "Begin"
    return {
        "__typename": "Commit",
        "id": f"C_{oid[:12]}",
        "oid": oid,
        "message": message,
        "messageHeadline": message.partition("\n")[0],
        "committedDate": instant(item.merged_at) if item else "1970-01-01T00:00:00Z",
        "associatedPullRequests": lambda info, **arguments: connection(
            info, [([0], pull_node(place, item))] if item else [], arguments
        ),
        "history": lambda info, **arguments: _history(info, place, item, arguments),
        "file": _no_files,
        "parents": _no_files,
    }


def _tree_commit_node(place: Repository, commit: TreeCommit) -> Node:
    """A commit with its files. What else is known of it is what is known of the merge."""
    merges = (item for item in place.records() if item.merge_commit_sha == commit.oid)
    parents: list[Row] = [([0], _tree_commit_node(place, commit.parent))] if commit.parent else []
    return {
        **commit_node(place, next(merges, None)),
        "id": f"C_{commit.oid[:12]}",
        "oid": commit.oid,
        "file": lambda _info, path: entry_node(commit.tree, path),
        "parents": lambda info, **arguments: connection(info, parents, arguments),
    }


def _no_files(_info: Info, **_: Any) -> Node:
    raise GraphQLError("the emulator knows files of commits only that a test asks for by their ids")


def _message(item: PullRecord) -> str:
    proposed = f"{item.title} (#{item.number})\n\n{item.body or ''}".strip()
    return proposed if item.commit_message is None else item.commit_message


def list_history(place: Repository, head: PullRecord | None) -> list[PullRecord]:
    """Merges up to ``head``, newest first."""
    landed = place.list_landed_merges()
    if head and head.merged_at:
        landed = [item for item in landed if item.merged_at and item.merged_at <= head.merged_at]
    return landed


def _history(info: Info, place: Repository, head: PullRecord | None, arguments: Node) -> Node:
    """Merges up to ``head``, newest first; ``since`` and ``until`` both count, as in git."""
    landed = list_history(place, head)
    since, until = arguments.get("since"), arguments.get("until")
    dated = [(item.merged_at.replace(microsecond=0), item) for item in landed if item.merged_at]
    kept = [
        item for at, item in dated if (not since or at >= moment(since)) and (not until or at <= moment(until))
    ]
    return connection(info, [([place_], commit_node(place, item)) for place_, item in enumerate(kept)], arguments)
