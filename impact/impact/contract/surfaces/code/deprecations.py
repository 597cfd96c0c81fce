"""Deprecations of flags, variables and fields that code announces by a warning."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from impact.contract.models import ContractClass
from impact.contract.surfaces.code.python_file import PythonFile, get_last_name, read_string
from impact.contract.surfaces.deadlines import is_deprecation, read_deadline
from impact.contract.surfaces.facts import Fact, shorten_text

_WARNERS = frozenset(("warn", "warning", "warning_once", "warn_once", "error", "info_once", "warn_deprecated"))
_SUBJECT = re.compile(
    r"^(?P<subject>.{1,300}?)\b(?:is|are|has been|have been|was|will be|to be)\s+(?:now\s+)?"
    r"(?:deprecated|removed|renamed)\b",
    re.I | re.S,
)
_FLAG = re.compile(r"(?<![\w-])--[a-z0-9][\w-]{1,80}(?![\w-]|[ =][\w])", re.A)
_VARIABLE = re.compile(r"\b[A-Z][A-Z0-9]{1,30}_[A-Z0-9_]{1,80}\b", re.A)
_QUOTED = re.compile(r"[`'\"]([A-Za-z_][\w.]{1,80})(?:\(\))?[`'\"]", re.A)
_MAX_LENGTH = 2000


def list_deprecations(file: PythonFile, fields: Mapping[str, Fact]) -> Iterator[Fact]:
    """Yield what a file warns of; ``fields`` are those that it defines, by their last name."""
    texts = _list_texts(file)
    for call, scope in file.calls:
        if get_last_name(call.func) in _WARNERS and call.args:
            text = _read_message(file, call.args[0], scope, texts)
            match = _SUBJECT.match(text) if is_deprecation(text) else None
            if match:
                yield from _read_warning(match["subject"], call.lineno, text, fields)


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
        return node.value[:_MAX_LENGTH]
    if not isinstance(node, ast.JoinedStr):
        return ""
    parts = [part.value if isinstance(part, ast.Constant) else "{}" for part in node.values[:50]]
    return "".join(str(part) for part in parts)[:_MAX_LENGTH]


def _read_message(file: PythonFile, node: ast.expr, scope: str, texts: Mapping[tuple[str, str], str]) -> str:
    if isinstance(node, ast.Name):
        return texts.get((scope, node.id)) or read_string(file, node) or ""
    return _join_text(node)


def _read_warning(subject: str, line: int, text: str, fields: Mapping[str, Fact]) -> Iterator[Fact]:
    """Yield what a message is about. A value of a flag, ``--convert reward``, is not the flag."""
    flags, variables = _FLAG.findall(subject), _VARIABLE.findall(subject)
    known = [
        fields[name] for name in (item.rsplit(".", 1)[-1] for item in _QUOTED.findall(subject)) if name in fields
    ]
    if flags:
        yield _make_notice(ContractClass.FLAG, flags[-1], line, text)
    elif variables:
        yield _make_notice(ContractClass.ENVIRONMENT, variables[-1], line, text)
    elif known:
        yield _make_notice(known[-1].subject, known[-1].name, line, text)


def _make_notice(subject: ContractClass, name: str, line: int, text: str) -> Fact:
    return Fact(subject, name, line, text=shorten_text(text), is_deprecated=True, deadline=read_deadline(text))
