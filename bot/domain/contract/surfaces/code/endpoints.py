"""HTTP endpoints that a Python file serves: method and path, by FastAPI, Flask or aiohttp."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from bot.domain.contract.models import ContractClass
from bot.domain.contract.surfaces.code.python_file import (
    Function,
    PythonFile,
    find_argument,
    get_last_name,
    name_expression,
    read_string,
)
from bot.domain.contract.surfaces.facts import Fact

_METHODS = frozenset(("get", "post", "put", "delete", "patch", "head", "options", "websocket"))
_ROUTES = frozenset(("route", "api_route", "websocket_route"))
_ADDERS = {f"add_{method}": method.upper() for method in _METHODS} | {"add_api_websocket_route": "WEBSOCKET"}
_ROUTERS = frozenset(("APIRouter", "Blueprint"))


def list_endpoints(file: PythonFile) -> Iterator[Fact]:
    """Yield the endpoints of decorated handlers and of calls that add a route."""
    prefixes = _list_prefixes(file)
    for function, _ in file.functions:
        yield from _list_decorators(file, function, prefixes)
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
