"""Deprecations that code announces by a warning or a decorator, with the name that they are about."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bot.domain.contract.models import ContractClass
from bot.domain.contract.surfaces.code.module_paths import name_python_module
from bot.domain.contract.surfaces.code.python_file import (
    Function,
    PythonFile,
    find_argument,
    get_last_name,
    read_string,
)
from bot.domain.contract.surfaces.deadlines import is_deprecation, read_deadline
from bot.domain.contract.surfaces.facts import Fact, shorten_text

_WARNERS = frozenset(("warn", "warning", "warning_once", "warn_once", "error", "info_once", "warn_deprecated"))
_SUBJECT = re.compile(
    r"^(?P<subject>.{1,300}?)\b(?:is|are|has been|have been|was|will be|to be)\s+(?:now\s+)?"
    r"(?:deprecated|removed|renamed)\b",
    re.I | re.S,
)
_FLAG = re.compile(r"(?<![\w-])--[a-z0-9][\w-]{1,80}", re.A)
_VARIABLE = re.compile(r"\b[A-Z][A-Z0-9]{1,30}_[A-Z0-9_]{1,80}\b", re.A)
_QUOTED = re.compile(r"[`'\"]([A-Za-z_][\w.]{1,80})(?:\(\))?[`'\"]", re.A)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Names of a file that a message may be about, by the word that it would use."""

    fields: Mapping[str, Fact]
    functions: Mapping[str, Function]
    texts: Mapping[tuple[str, str], str]


def list_deprecations(file: PythonFile, fields: Mapping[str, Fact]) -> Iterator[Fact]:
    """Yield what a file says is deprecated; ``fields`` are those that it defines, by their last name."""
    vocabulary = Vocabulary(fields, _list_functions(file), _list_texts(file))
    for node, scope in [*file.functions, *file.classes]:
        for decorator in node.decorator_list:
            yield from _read_decorator(file, node, scope, decorator)
    for call, scope in file.calls:
        if get_last_name(call.func) in _WARNERS and call.args:
            text = _read_message(file, call.args[0], scope, vocabulary.texts)
            if is_deprecation(text):
                yield from _read_warning(file, call, scope, text, vocabulary)


def _list_functions(file: PythonFile) -> dict[str, Function]:
    return {f"{scope}.{node.name}".lstrip("."): node for node, scope in file.functions}


def _list_texts(file: PythonFile) -> dict[tuple[str, str], str]:
    texts: dict[tuple[str, str], str] = {}
    for placed in file.others:
        node = placed.node
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            text = _join_text(node.value)
            if text:
                texts[(placed.scope, node.targets[0].id)] = text
    return texts


def _join_text(node: ast.expr) -> str:
    """Return a literal text; what is filled in becomes ``{}``."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value[:2000]
    if not isinstance(node, ast.JoinedStr):
        return ""
    parts = [part.value if isinstance(part, ast.Constant) else "{}" for part in node.values[:50]]
    return "".join(str(part) for part in parts)[:2000]


def _read_message(file: PythonFile, node: ast.expr, scope: str, texts: Mapping[tuple[str, str], str]) -> str:
    if isinstance(node, ast.Name):
        return texts.get((scope, node.id)) or read_string(file, node) or ""
    return _join_text(node)


def _read_decorator(
    file: PythonFile, node: Function | ast.ClassDef, scope: str, decorator: ast.expr
) -> Iterator[Fact]:
    call = decorator if isinstance(decorator, ast.Call) else None
    if get_last_name(call.func if call else decorator) != "deprecated":
        return
    text = _join_text(call.args[0]) if call and call.args else ""
    text = text or (read_string(file, find_argument(call, "reason")) if call else "") or "deprecated"
    module = name_python_module(file.path)
    if module:
        yield _make_notice(
            _choose_class(node, scope), ".".join(filter(None, (module, scope, node.name))), node.lineno, text
        )


def _choose_class(node: Function | ast.ClassDef, scope: str) -> ContractClass:
    if isinstance(node, ast.ClassDef):
        return ContractClass.CLASS
    return ContractClass.METHOD if scope else ContractClass.FUNCTION


def _read_warning(
    file: PythonFile, call: ast.Call, scope: str, text: str, vocabulary: Vocabulary
) -> Iterator[Fact]:
    match = _SUBJECT.match(text)
    if match is None:
        return
    subject = match["subject"]
    flags = _FLAG.findall(subject)
    if flags:
        yield _make_notice(ContractClass.FLAG, flags[-1], call.lineno, text)
        return
    variables = _VARIABLE.findall(subject)
    if variables:
        yield _make_notice(ContractClass.ENVIRONMENT, variables[-1], call.lineno, text)
        return
    names = [name.rsplit(".", 1)[-1] for name in _QUOTED.findall(subject)]
    fields = [vocabulary.fields[name] for name in names if name in vocabulary.fields]
    if fields:
        yield _make_notice(fields[-1].subject, fields[-1].name, call.lineno, text)
        return
    yield from _read_scope(file, call, scope, (subject, text, names), vocabulary)


def _read_scope(
    file: PythonFile, call: ast.Call, scope: str, message: tuple[str, str, list[str]], vocabulary: Vocabulary
) -> Iterator[Fact]:
    """Yield the function that warns if the message names it or one of its parameters."""
    subject, text, names = message
    function = vocabulary.functions.get(scope)
    module = name_python_module(file.path)
    if function is None or not module:
        return
    owner, _, name = scope.rpartition(".")
    parameters = {
        item.arg for item in [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    }
    is_named = bool(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", subject))
    if is_named or any(item in parameters for item in names):
        kind = ContractClass.METHOD if owner else ContractClass.FUNCTION
        yield _make_notice(kind, f"{module}.{scope}", call.lineno, text)


def _make_notice(subject: ContractClass, name: str, line: int, text: str) -> Fact:
    return Fact(subject, name, line, text=shorten_text(text), is_deprecated=True, deadline=read_deadline(text))
