"""HTTP endpoints that a Python file serves: method and path, by FastAPI, Flask or aiohttp."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from impact.contract.models import ContractClass
from impact.contract.surfaces.code.python_file import (
    Function,
    PythonFile,
    find_argument,
    get_last_name,
    name_expression,
    read_string,
    show_expression,
)
from impact.contract.surfaces.facts import Fact, shorten_text

_METHODS = frozenset(("get", "post", "put", "delete", "patch", "head", "options", "websocket"))
_ROUTES = frozenset(("route", "api_route", "websocket_route"))
_ADDERS = {f"add_{method}": method.upper() for method in _METHODS} | {"add_api_websocket_route": "WEBSOCKET"}
_PARAMETERS = frozenset(("Query", "Form", "Header", "Cookie", "Body", "File"))
_ROUTERS = frozenset(("APIRouter", "Blueprint"))


def list_endpoints(file: PythonFile) -> Iterator[Fact]:
    """Yield the endpoints of decorated handlers and of calls that add a route."""
    prefixes = _list_prefixes(file)
    handlers: dict[str, list[str]] = {}
    for function, scope in file.functions:
        facts = list(_list_decorators(file, function, prefixes))
        yield from facts
        names = [fact.name for fact in facts if fact.subject is ContractClass.ENDPOINT]
        handlers[f"{scope}.{function.name}".lstrip(".")] = names
        yield from _list_parameters(function, names)
    for call, scope in file.calls:
        yield from _list_query_reads(file, call, handlers.get(scope, []))
    for call, _ in file.calls:
        yield from _list_calls(file, call, prefixes)


def _list_prefixes(file: PythonFile) -> dict[str, str]:
    """Return what routers put before the path, by the name of the router."""
    prefixes: dict[str, str] = {}
    for placed in file.others:
        node = placed.node
        call = node.value if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) else None
        if isinstance(node, ast.Assign) and call and get_last_name(call.func) in _ROUTERS:
            prefix = find_argument(call, "prefix") or find_argument(call, "url_prefix")
            prefixes |= {name_expression(target): read_string(file, prefix) or "" for target in node.targets}
    for call, _ in file.calls:
        if get_last_name(call.func) == "include_router" and call.args:
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
        path = read_string(file, find_argument(decorator, "path", 0) or find_argument(decorator, "rule"))
        if path is None or not path.startswith("/"):
            continue
        path = f"{prefixes.get(name_expression(decorator.func.value), '')}{path}"
        if action in _METHODS:
            yield _make_fact(action, path, decorator)
        elif action in _ROUTES:
            for method in _read_methods(file, decorator):
                yield _make_fact(method, path, decorator)


def _list_calls(file: PythonFile, call: ast.Call, prefixes: dict[str, str]) -> Iterator[Fact]:
    """Yield the endpoints of ``app.router.add_get("/x", …)`` and ``app.add_api_route("/x", …, methods=[…])``."""
    if not isinstance(call.func, ast.Attribute):
        return
    path = read_string(file, find_argument(call, "path", 0))
    if path is None or not path.startswith("/"):
        # aiohttp: add_route("GET", "/x", …)
        method, path = path, read_string(file, find_argument(call, "path", 1))
        if call.func.attr == "add_route" and method and path and path.startswith("/") and method.isalpha():
            yield _make_fact(method, path, call)
        return
    path = f"{prefixes.get(name_expression(call.func.value), '')}{path}"
    if call.func.attr in _ADDERS:
        yield _make_fact(_ADDERS[call.func.attr], path, call)
    elif call.func.attr in {"add_api_route", "add_url_rule", "add_route"}:
        for method in _read_methods(file, call):
            yield _make_fact(method, path, call)


def _list_parameters(function: Function, endpoints: list[str]) -> Iterator[Fact]:
    """Yield the parameters of a handler that FastAPI takes from the query, a form or the headers."""
    arguments = [*function.args.posonlyargs, *function.args.args]
    defaults = [None] * (len(arguments) - len(function.args.defaults)) + list(function.args.defaults)
    pairs = [
        *zip(arguments, defaults, strict=True),
        *zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True),
    ]
    for argument, default in pairs if endpoints else []:
        calls = [node for node in (default, *_list_annotated(argument.annotation)) if isinstance(node, ast.Call)]
        marker = next((call for call in calls if get_last_name(call.func) in _PARAMETERS), None)
        if marker is not None:
            value = find_argument(marker, "default", 0) if marker is default else default
            for endpoint in endpoints:
                yield _make_parameter(f"{endpoint}?{argument.arg}", argument.lineno, show_expression(value))


def _list_annotated(node: ast.expr | None) -> list[ast.expr]:
    if (
        isinstance(node, ast.Subscript)
        and get_last_name(node.value) == "Annotated"
        and isinstance(node.slice, ast.Tuple)
    ):
        return node.slice.elts
    return []


def _list_query_reads(file: PythonFile, call: ast.Call, endpoints: list[str]) -> Iterator[Fact]:
    """Yield what a handler takes from the query itself: ``request.query_params.get("level", "1")``."""
    if not (isinstance(call.func, ast.Attribute) and call.func.attr == "get" and call.args):
        return
    name = read_string(file, call.args[0])
    if name and get_last_name(call.func.value) == "query_params":
        for endpoint in endpoints:
            default = show_expression(find_argument(call, "default", 1))
            yield _make_parameter(f"{endpoint}?{name}", call.lineno, default)


def _make_parameter(name: str, line: int, default: str) -> Fact:
    text = shorten_text(f"{name} default {default}" if default else name)
    owner = name.partition("?")[0]
    return Fact(ContractClass.API_FIELD, name, line, text=text, default=default, owner=owner)


def _read_methods(file: PythonFile, call: ast.Call) -> list[str]:
    methods = find_argument(call, "methods")
    if not isinstance(methods, ast.List | ast.Tuple | ast.Set):
        return ["get"]
    return [method for node in methods.elts if (method := read_string(file, node))]


def _make_fact(method: str, path: str, call: ast.Call) -> Fact:
    flag = find_argument(call, "deprecated")
    is_deprecated = isinstance(flag, ast.Constant) and flag.value is True
    name = f"{method.upper()} {path}"
    return Fact(ContractClass.ENDPOINT, name, call.lineno, text=name, is_deprecated=is_deprecated)
