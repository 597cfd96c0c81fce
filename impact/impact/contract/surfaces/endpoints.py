"""HTTP endpoints that a Python file serves: method and path, by FastAPI, Flask or aiohttp."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from impact.contract.models import ContractClass
from impact.contract.surfaces.facts import Fact, show_default
from impact.contract.surfaces.python_file import (
    Function,
    PythonFile,
    find_argument,
    get_last_name,
    is_true,
    list_parameters,
    name_expression,
    read_string,
    show_expression,
)

_METHODS = frozenset(("get", "post", "put", "delete", "patch", "head", "options", "websocket"))
_ROUTES = frozenset(("route", "api_route", "websocket_route"))
_ADDERS = {f"add_{method}": method.upper() for method in _METHODS} | {"add_api_websocket_route": "WEBSOCKET"}
_ROUTE_ADDERS = frozenset(("add_api_route", "add_url_rule", "add_route"))
_PARAMETERS = frozenset(("Query", "Form", "Header", "Cookie", "Body", "File"))
_ROUTERS = frozenset(("APIRouter", "Blueprint"))


def list_endpoints(file: PythonFile) -> Iterator[Fact]:
    """Yield the endpoints of decorated handlers and of calls that add a route, with what they take."""
    prefixes = _list_prefixes(file)
    handlers: dict[str, list[str]] = {}
    for function, scope in file.list_nodes(ast.FunctionDef):
        facts = list(_list_decorators(file, function, prefixes))
        yield from facts
        names = [fact.name for fact in facts]
        handlers[f"{scope}.{function.name}".lstrip(".")] = names
        for name, line, default in _list_taken(function) if names else ():
            yield from (_make_parameter(endpoint, name, line, default) for endpoint in names)
    for call, scope in file.list_calls("get".__eq__):
        # what a handler takes from the query itself: request.query_params.get("level", "1")
        if call.args and get_last_name(getattr(call.func, "value", None)) == "query_params":
            parameter = read_string(file, call.args[0])
            default = show_expression(find_argument(call, "default", 1))
            for endpoint in handlers.get(scope, []) if parameter else ():
                yield _make_parameter(endpoint, str(parameter), call.lineno, default)
    for call, _ in file.list_calls({*_ADDERS, *_ROUTE_ADDERS}.__contains__):
        if isinstance(call.func, ast.Attribute):
            yield from _list_added(file, call, call.func, prefixes)


def _list_prefixes(file: PythonFile) -> dict[str, str]:
    """Return what routers put before the path, by the name of the router."""
    prefixes: dict[str, str] = {}
    for _, name, value in file.assigned:
        if isinstance(value, ast.Call) and get_last_name(value.func) in _ROUTERS:
            prefix = find_argument(value, "prefix") or find_argument(value, "url_prefix")
            prefixes[name] = read_string(file, prefix) or ""
    for call, _ in file.list_calls("include_router".__eq__):
        if call.args:
            added = read_string(file, find_argument(call, "prefix"))
            name = name_expression(call.args[0])
            if added and name in prefixes:
                prefixes[name] = f"{added}{prefixes[name]}"
    return prefixes


def _list_decorators(file: PythonFile, function: Function, prefixes: dict[str, str]) -> Iterator[Fact]:
    for decorator in function.decorator_list:
        if not isinstance(decorator, ast.Call) or not isinstance(decorator.func, ast.Attribute):
            continue
        action = decorator.func.attr
        path = read_string(file, find_argument(decorator, "path", 0) or find_argument(decorator, "rule")) or ""
        methods = [action] if action in _METHODS else _read_methods(file, decorator) if action in _ROUTES else []
        if path.startswith("/"):
            path = f"{prefixes.get(name_expression(decorator.func.value), '')}{path}"
            yield from (_make_endpoint(method, path, decorator) for method in methods)


def _list_added(file: PythonFile, call: ast.Call, func: ast.Attribute, prefixes: dict[str, str]) -> Iterator[Fact]:
    """Yield the endpoints of ``app.router.add_get("/x", …)`` and ``app.add_api_route("/x", …, methods=[…])``."""
    path = read_string(file, find_argument(call, "path", 0)) or ""
    if not path.startswith("/"):
        # aiohttp: add_route("GET", "/x", …)
        method, path = path, read_string(file, find_argument(call, "path", 1)) or ""
        if func.attr == "add_route" and path.startswith("/") and method.isalpha():
            yield _make_endpoint(method, path, call)
        return
    path = f"{prefixes.get(name_expression(func.value), '')}{path}"
    methods = [_ADDERS[func.attr]] if func.attr in _ADDERS else []
    methods += _read_methods(file, call) if func.attr in _ROUTE_ADDERS else []
    yield from (_make_endpoint(method, path, call) for method in methods)


def _list_taken(function: Function) -> Iterator[tuple[str, int, str]]:
    """Yield what FastAPI takes from the query, a form or the headers: name, line and default."""
    positional, named = list_parameters(function)
    for argument, default in (*positional, *named):
        annotation = argument.annotation
        is_annotated = isinstance(annotation, ast.Subscript) and get_last_name(annotation.value) == "Annotated"
        parts = getattr(getattr(annotation, "slice", None), "elts", ()) if is_annotated else ()
        calls = [node for node in (default, *parts) if isinstance(node, ast.Call)]
        marker = next((call for call in calls if get_last_name(call.func) in _PARAMETERS), None)
        if marker is not None:
            value = find_argument(marker, "default", 0) if marker is default else default
            yield argument.arg, argument.lineno, show_expression(value)


def _make_parameter(endpoint: str, name: str, line: int, default: str) -> Fact:
    name = f"{endpoint}?{name}"
    text = show_default(name, default)
    return Fact(ContractClass.API_FIELD, name, line, text=text, default=default, owner=endpoint)


def _read_methods(file: PythonFile, call: ast.Call) -> list[str]:
    methods = find_argument(call, "methods")
    if not isinstance(methods, ast.List | ast.Tuple | ast.Set):
        return ["get"]
    return [method for node in methods.elts if (method := read_string(file, node))]


def _make_endpoint(method: str, path: str, call: ast.Call) -> Fact:
    name = f"{method.upper()} {path}"
    is_deprecated = is_true(find_argument(call, "deprecated"))
    return Fact(ContractClass.ENDPOINT, name, call.lineno, text=name, is_deprecated=is_deprecated)
