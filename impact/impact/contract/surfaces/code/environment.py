"""Environment variables that a file reads, with what applies where they are not set."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from impact.contract.models import ContractClass
from impact.contract.surfaces.code.python_file import (
    PythonFile,
    find_argument,
    get_last_name,
    name_expression,
    read_comment,
    read_string,
    show_expression,
)
from impact.contract.surfaces.deadlines import is_deprecation, read_deadline
from impact.contract.surfaces.facts import Fact, show_default_change

_NAME = re.compile(r"[A-Z][A-Z0-9_]{2,79}", re.A)
_GETTERS = frozenset(("os.getenv", "os.environ.get", "environ.get", "getenv"))
_UNSET = ("None", "''")


def list_python_variables(file: PythonFile) -> Iterator[Fact]:
    """Yield the variables that tables declare, then those that are read elsewhere in the file."""
    declared: set[str] = set()
    getters = _list_getters(file)
    for table in _list_tables(file):
        for key, value in zip(table.keys, table.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str) and _NAME.fullmatch(key.value):
                declared.add(key.value)
                yield _describe_entry(file, getters, key, value)
    own = f"{PurePosixPath(file.path).parts[0].upper()}_"
    for name, default, line in _list_reads(file):
        if name not in declared and name.startswith(own):
            yield _make_fact(file, name, default, line, is_loose=True)


def _list_tables(file: PythonFile) -> Iterator[ast.Dict]:
    """Yield the dictionaries of the top level that read a variable under its own name."""
    for value in file.constants.values():
        if isinstance(value, ast.Dict) and any(map(_reads_itself, value.keys, value.values)):
            yield value


def _reads_itself(key: ast.expr | None, value: ast.expr) -> bool:
    if not (isinstance(key, ast.Constant) and isinstance(key.value, str) and _NAME.fullmatch(key.value)):
        return False
    return isinstance(value, ast.Lambda) and bool(_find_getter(value, key.value))


def _find_getter(node: ast.AST, name: str) -> ast.Call | None:
    """Return the first call that reads a variable: by ``os.getenv`` and the like if there is one."""
    calls = [
        child
        for child in ast.walk(node)
        if isinstance(child, ast.Call) and child.args and _is_string(child.args[0], name)
    ]
    return next((call for call in calls if name_expression(call.func) in _GETTERS), calls[0] if calls else None)


def _is_string(node: ast.expr, text: str) -> bool:
    return isinstance(node, ast.Constant) and node.value == text


def _list_getters(file: PythonFile) -> dict[tuple[str, str], ast.Call]:
    getters: dict[tuple[str, str], ast.Call] = {}
    for call, scope in file.calls:
        name = read_string(file, call.args[0]) if scope and call.args else None
        if name and name_expression(call.func) in _GETTERS:
            getters.setdefault((scope, name), call)
    return getters


def _describe_entry(
    file: PythonFile, getters: dict[tuple[str, str], ast.Call], key: ast.Constant, value: ast.expr
) -> Fact:
    name = str(key.value)
    is_function = isinstance(value, ast.Name)
    call = getters.get((name_expression(value), name)) if is_function else _find_getter(value, name)
    default = _show_default(find_argument(call, "default", 1)) if call else ""
    body = value.body if isinstance(value, ast.Lambda) else value
    # what follows "or" applies if the variable is empty
    if isinstance(body, ast.BoolOp) and isinstance(body.op, ast.Or) and isinstance(body.values[-1], ast.Constant):
        default = default or _show_default(body.values[-1])
    return _make_fact(file, name, default, key.lineno, is_loose=False)


def _list_reads(file: PythonFile) -> Iterator[tuple[str, str, int]]:
    for call, _ in file.calls:
        if name_expression(call.func) in _GETTERS and call.args:
            name = read_string(file, call.args[0])
            if name and _NAME.fullmatch(name):
                yield name, _show_default(find_argument(call, "default", 1)), call.lineno
    for placed in file.others:
        node = placed.node
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.ctx, ast.Load)
            and get_last_name(node.value) == "environ"
        ):
            name = read_string(file, node.slice)
            if name and _NAME.fullmatch(name):
                yield name, "", node.lineno


def _show_default(node: ast.expr | None) -> str:
    text = show_expression(node.body if isinstance(node, ast.Lambda) else node)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value
    return "" if text in _UNSET else text


def _make_fact(file: PythonFile, name: str, default: str, line: int, *, is_loose: bool) -> Fact:
    comment = read_comment(file, line)
    is_deprecated = is_deprecation(comment)
    return Fact(
        ContractClass.ENVIRONMENT,
        name,
        line,
        text=show_default_change(name, default),
        default=default,
        help=comment,
        is_loose=is_loose,
        is_deprecated=is_deprecated,
        deadline=read_deadline(comment) if is_deprecated else None,
    )
