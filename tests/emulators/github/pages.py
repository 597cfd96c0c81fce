"""GraphQL connections as GitHub pages them: cursors, bounds, and the errors for wrong ones."""

import base64
import binascii
import json
from typing import Any

from graphql import FieldNode, GraphQLError, GraphQLResolveInfo

# pages hold 1 to 100 nodes
_PAGE_LIMIT = 100

Info = GraphQLResolveInfo[Any]
Row = tuple[list[Any], Any]
Node = dict[str, Any]


def connection(info: Info, rows: list[Row], arguments: Node, *, falling: bool = False) -> Node:
    """One page of rows. A cursor holds its row's sort key, so a page goes on even if rows moved meanwhile."""
    _check_bounds(info, arguments)
    left = [row for row in rows if _inside(row[0], arguments, falling=falling)]
    first, last = arguments.get("first"), arguments.get("last")
    chosen = left[:first] if first is not None else left[-(last or len(left)) :]
    return {
        "totalCount": len(rows),
        "pageInfo": {
            "startCursor": _cursor(chosen[0][0]) if chosen else None,
            "endCursor": _cursor(chosen[-1][0]) if chosen else None,
            "hasNextPage": bool(chosen) and rows[-1][0] != chosen[-1][0],
            "hasPreviousPage": bool(chosen) and rows[0][0] != chosen[0][0],
        },
        "nodes": [node for _, node in chosen],
        "edges": [{"cursor": _cursor(key), "node": node} for key, node in chosen],
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
        sort_key = json.loads(base64.b64decode(cursor, validate=True).removeprefix(b"cursor:v2:"))
    except (binascii.Error, ValueError):
        sort_key = None
    if not isinstance(sort_key, list):
        message = f"`{cursor}` does not appear to be a valid cursor."
        raise GraphQLError(message, extensions={"type": "INVALID_CURSOR_ARGUMENTS"})
    return sort_key


def _check_bounds(info: Info, arguments: Node) -> None:
    bounds = {name: arguments[name] for name in ("first", "last") if arguments.get(name) is not None}
    if not bounds and _wants_nodes(info):
        message = (
            f"You must provide a `first` or `last` value to properly paginate the `{info.field_name}` connection."
        )
        raise GraphQLError(message, extensions={"type": "MISSING_PAGINATION_BOUNDARIES"})
    for name, size in bounds.items():
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
    selections = [item for selection_set in sets for item in selection_set.selections]
    counts = {"totalCount", "issueCount", "__typename"}
    return any(not isinstance(item, FieldNode) or item.name.value not in counts for item in selections)
