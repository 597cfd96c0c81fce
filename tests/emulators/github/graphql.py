"""GitHub's GraphQL endpoint, executed by graphql-core over the store."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from graphql import ExecutionResult, GraphQLError, execute_sync

from tests.emulators.github.nodes import actor, not_found, pull_node, repository_node
from tests.emulators.github.pages import Info, Node, connection
from tests.emulators.github.refs import list_refs, ref_node
from tests.emulators.github.schema import check_query, schema
from tests.emulators.github.store import SEARCH_CAP, Search, Store, UnknownQualifier


@dataclass(frozen=True)
class GraphQL:
    """Answers GraphQL requests from a store; ``hidden`` numbers are missing from search only."""

    store: Store
    hidden: Callable[[], set[int]]
    rate_limit: Callable[[], Node]
    odd: dict[int, Any]
    viewer: str = "digest-tester"

    def answer(self, request: Node) -> Node:
        """The body of the answer to one POST, errors in GitHub's form."""
        document, errors = check_query(request.get("query") or "")
        if document is None or errors:
            return {"errors": [_refusal(error) for error in errors]}
        result = execute_sync(
            schema(),
            document,
            root_value=self._root(),
            variable_values=request.get("variables"),
            operation_name=request.get("operationName"),
        )
        answer: Node = _spoilt(_body(result), self.odd)
        return answer

    def _root(self) -> Node:
        return {
            "repository": self._repository,
            "search": self._search,
            "rateLimit": lambda _info, **_: self.rate_limit(),
            "viewer": lambda _info: actor(self.viewer, is_bot=False),
        }

    def _repository(self, _info: Info, owner: str, name: str, **_: Any) -> Node:
        repository = self.store.find(f"{owner}/{name}")
        if repository is None:
            raise not_found(f"Could not resolve to a Repository with the name '{owner}/{name}'.")
        return {
            **repository_node(repository),
            "ref": lambda _info, qualifiedName: ref_node(repository, qualifiedName),  # noqa: N803 (GitHub's name)
            "refs": lambda info, **arguments: list_refs(info, repository, arguments),
        }

    def _search(self, info: Info, query: str, **arguments: Any) -> Node:
        try:
            matches = Search.of(query).run(self.store, self.hidden())
        except UnknownQualifier as error:
            raise GraphQLError(str(error)) from error
        rows = [([place], pull_node(*row)) for place, row in enumerate(matches[:SEARCH_CAP])]
        return {**connection(info, rows, arguments), "issueCount": len(matches)}


def _refusal(error: GraphQLError) -> Node:
    """An error in GitHub's form: its ``type`` stands beside the message, not under ``extensions``."""
    shown = error.formatted
    kind = (error.extensions or {}).get("type")
    known = {"type": kind, "path": shown.get("path"), "locations": shown.get("locations")}
    return {**{key: value for key, value in known.items() if value}, "message": error.message}


def _body(result: ExecutionResult) -> Node:
    errors = [_refusal(error) for error in result.errors or []]
    return {"data": result.data, **({"errors": errors} if errors else {})}


def _spoilt(value: Any, odd: dict[int, Any]) -> Any:
    """The same with what was set for pull requests of some numbers in place of what a GitHub that is well says."""
    if isinstance(value, list):
        return [_spoilt(each, odd) for each in value]
    if not isinstance(value, dict):
        return value
    changes = odd.get(value.get("number", 0), {})
    if not isinstance(changes, dict):
        return changes
    return {name: changes.get(name, _spoilt(each, odd)) for name, each in value.items()}
