"""Tags of GitHub's GraphQL graph."""

from tests.emulators.github.nodes import commit_node, list_history
from tests.emulators.github.pages import Info, Node, Row, connection
from tests.emulators.github.store import Repository, TagRecord, instant, sha

_PREFIX = "refs/tags/"


def ref_node(place: Repository, name: str) -> Node | None:
    matches = [tag for tag in place.tags if f"{_PREFIX}{tag.name}" == name]
    return _node(place, matches[0]) if matches else None


def list_refs(info: Info, place: Repository, arguments: Node) -> Node:
    order = arguments.get("orderBy") or {"field": "ALPHABETICAL", "direction": "ASC"}
    falling, by_name = order["direction"] == "DESC", order["field"] == "ALPHABETICAL"
    tags = place.tags if arguments["refPrefix"] == _PREFIX else ()
    rows: list[Row] = [([tag.name if by_name else instant(tag.at), at], tag) for at, tag in enumerate(tags)]
    rows.sort(key=lambda row: row[0], reverse=falling)
    return connection(info, [(key, _node(place, tag)) for key, tag in rows], arguments, falling=falling)


def _node(place: Repository, tag: TagRecord) -> Node:
    commit = _tagged_commit(place, tag)
    oid = sha(f"tag {tag.name}")
    target = {"__typename": "Tag", "id": f"T_{oid[:12]}", "oid": oid, "name": tag.name, "target": commit}
    return {
        "id": f"REF_{sha(place.name + tag.name)[:12]}",
        "name": tag.name,
        "target": target if tag.is_annotated else commit,
    }


def _tagged_commit(place: Repository, tag: TagRecord) -> Node:
    """The commit of a tag: the merge, or the last of those that the release branch has besides."""
    merge = next((item for item in place.records() if item.merge_commit_sha == tag.merge), None)
    own = [_own_commit(tag, place_) for place_ in range(tag.own)]
    first = own[0] if own else commit_node(place, merge)

    def history(info: Info, **arguments: object) -> Node:
        commits = [*own, *(commit_node(place, item) for item in list_history(place, merge))]
        return connection(info, [([at], commit) for at, commit in enumerate(commits)], arguments)

    return {**first, "__typename": "Commit", "committedDate": instant(tag.at), "history": history}


def _own_commit(tag: TagRecord, place: int) -> Node:
    oid = sha(f"{tag.name} {place}")
    return {
        "__typename": "Commit",
        "id": f"C_{oid[:12]}",
        "oid": oid,
        "associatedPullRequests": lambda info, **arguments: connection(info, [], arguments),
    }
