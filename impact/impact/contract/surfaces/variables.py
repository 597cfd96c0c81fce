"""Environment variables that a Python file reads, and the variables, flags and fields that it says will go."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from impact.contract.deadlines import is_deprecation
from impact.contract.models import ContractClass
from impact.contract.surfaces.facts import Fact, read_notice, shorten_text, show_default_change
from impact.contract.surfaces.python_file import (
    PythonFile,
    find_argument,
    get_last_name,
    name_expression,
    read_comment,
    read_string,
    show_expression,
)

_NAME = re.compile(r"[A-Z][A-Z0-9_]{2,79}", re.A)
_GETTERS = frozenset(("os.getenv", "os.environ.get", "environ.get", "getenv"))
_GETS = frozenset(("getenv", "get"))
_UNSET = ("None", "''")
_WARNERS = frozenset(("warn", "warning", "warning_once", "warn_once", "error", "info_once", "warn_deprecated"))
_SUBJECT = re.compile(
    r"^(?P<subject>.{1,300}?)\b(?:is|are|has been|have been|was|will be|to be)\s+(?:now\s+)?"
    r"(?:deprecated|removed|renamed)\b",
    re.I | re.S,
)
# what a warning may be about, the first that it names counts; a value of a flag, --convert reward, is not the flag
_SUBJECTS = (
    (ContractClass.FLAG, re.compile(r"(?<![\w-])--[a-z0-9][\w-]{1,80}(?![\w-]|[ =][\w])", re.A)),
    (ContractClass.ENVIRONMENT, re.compile(r"\b[A-Z][A-Z0-9]{1,30}_[A-Z0-9_]{1,80}\b", re.A)),
)
_QUOTED = re.compile(r"[`'\"]([A-Za-z_][\w.]{1,80})(?:\(\))?[`'\"]", re.A)
_MAX_LENGTH = 2000


def list_python_variables(file: PythonFile) -> Iterator[Fact]:
    """Yield the variables that tables declare, then those that are read elsewhere in the file."""
    declared: set[str] = set()
    getters: dict[tuple[str, str], ast.Call] = {}
    for call, scope in file.list_calls(_GETS.__contains__):
        if name_expression(call.func) in _GETTERS and call.args:
            getters.setdefault((scope, read_string(file, call.args[0]) or ""), call)
    for table in file.constants.values():
        # a dictionary of the top level that reads a variable under its own name
        if isinstance(table, ast.Dict) and any(map(_reads_itself, table.keys, table.values)):
            for key, value in zip(table.keys, table.values, strict=True):
                if key is not None and (name := _read_name(key)):
                    declared.add(name)
                    getter = getters.get((name_expression(value), name)) if isinstance(value, ast.Name) else None
                    yield _describe_entry(file, name, key.lineno, value, getter)
    own = f"{PurePosixPath(file.path).parts[0].upper()}_"
    for name, default, line in _list_reads(file):
        if name not in declared and name.startswith(own):
            yield _make_variable(file, name, default, line, is_loose=True)


def _read_name(key: ast.expr | None) -> str:
    """Return the variable that a key names; empty for any other key."""
    is_name = isinstance(key, ast.Constant) and isinstance(key.value, str) and _NAME.fullmatch(key.value)
    return str(getattr(key, "value", "")) if is_name else ""


def _reads_itself(key: ast.expr | None, value: ast.expr) -> bool:
    name = _read_name(key)
    return bool(name) and isinstance(value, ast.Lambda) and bool(_find_getter(value, name))


def _find_getter(node: ast.AST, name: str) -> ast.Call | None:
    """Return the first call that reads a variable: by ``os.getenv`` and the like if there is one."""
    calls = [
        child
        for child in ast.walk(node)
        if isinstance(child, ast.Call) and child.args and getattr(child.args[0], "value", None) == name
    ]
    return next((call for call in calls if name_expression(call.func) in _GETTERS), calls[0] if calls else None)


def _describe_entry(file: PythonFile, name: str, line: int, value: ast.expr, getter: ast.Call | None) -> Fact:
    call = getter if isinstance(value, ast.Name) else _find_getter(value, name)
    default = _show_default(find_argument(call, "default", 1)) if call else ""
    body = value.body if isinstance(value, ast.Lambda) else value
    # what follows "or" applies if the variable is empty
    if isinstance(body, ast.BoolOp) and isinstance(body.op, ast.Or) and isinstance(body.values[-1], ast.Constant):
        default = default or _show_default(body.values[-1])
    return _make_variable(file, name, default, line)


def _list_reads(file: PythonFile) -> Iterator[tuple[str, str, int]]:
    for call, _ in file.list_calls(_GETS.__contains__):
        if name_expression(call.func) in _GETTERS and call.args:
            name = read_string(file, call.args[0]) or ""
            if _NAME.fullmatch(name):
                yield name, _show_default(find_argument(call, "default", 1)), call.lineno
    for node, _ in file.list_nodes(ast.Subscript):
        if isinstance(node.ctx, ast.Load) and get_last_name(node.value) == "environ":
            name = read_string(file, node.slice) or ""
            if _NAME.fullmatch(name):
                yield name, "", node.lineno


def _show_default(node: ast.expr | None) -> str:
    text = show_expression(node.body if isinstance(node, ast.Lambda) else node)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value
    return "" if text in _UNSET else text


def _make_variable(file: PythonFile, name: str, default: str, line: int, *, is_loose: bool = False) -> Fact:
    comment = read_comment(file, line)
    text = show_default_change(name, default)
    fact = Fact(ContractClass.ENVIRONMENT, name, line, text, default, help=comment, is_loose=is_loose)
    return read_notice(fact, comment)


# --- warnings


def list_warnings(file: PythonFile, fields: Mapping[str, Fact]) -> Iterator[Fact]:
    """Yield what a file warns of; ``fields`` are those that it defines, by their last name."""
    calls = file.list_calls(_WARNERS.__contains__)
    is_named = any(isinstance(argument, ast.Name) for call, _ in calls for argument in call.args[:1])
    assigned = file.assigned if is_named else ()
    texts = {(scope, name): text for scope, name, value in assigned if (text := _join_text(value))}
    for call, scope in calls:
        if call.args:
            message = call.args[0]
            text = _join_text(message)
            if isinstance(message, ast.Name):
                text = texts.get((scope, message.id)) or read_string(file, message) or ""
            match = _SUBJECT.match(text) if is_deprecation(text) else None
            about = _find_subject(match["subject"], fields) if match else None
            if about:
                yield read_notice(Fact(*about, call.lineno, shorten_text(text)), text, is_deprecated=True)


def _join_text(node: ast.expr) -> str:
    """Return a literal text; what is filled in becomes ``{}``."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value[:_MAX_LENGTH]
    parts = node.values[:50] if isinstance(node, ast.JoinedStr) else []
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts)[:_MAX_LENGTH]


def _find_subject(text: str, fields: Mapping[str, Fact]) -> tuple[ContractClass, str] | None:
    for subject, pattern in _SUBJECTS:
        if names := pattern.findall(text):
            return subject, names[-1]
    quoted = (name.rpartition(".")[2] for name in _QUOTED.findall(text))
    known = [fields[name] for name in quoted if name in fields]
    return (known[-1].subject, known[-1].name) if known else None
