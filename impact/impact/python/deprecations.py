"""Functions, classes and modules that say of themselves that they will go."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from impact.python.syntax import (
    DefinitionNode,
    FunctionNode,
    Run,
    get_last_name,
    get_string,
    join_name,
    parse_source,
    walk_statements,
)

_HINT = re.compile(r"deprecat", re.I)
# decorators that are about some arguments, or about one of several forms
_ABOUT_ARGUMENTS = re.compile(r"arg|param|kw|positional|option|value|default", re.I)
_FORMS = frozenset({"overload", "dispatch", "register"})
_ACCESSORS = frozenset({"setter", "deleter"})
_DIRECTIVE = re.compile(
    r"^[ \t]{0,40}(?:\.\. ?deprecated::|!!! ?deprecated|deprecated:)(?P<text>[^\n]{0,300})", re.I | re.M
)
_WARNINGS = frozenset({"DeprecationWarning", "PendingDeprecationWarning", "FutureWarning"})
_LOGGED = ("warning", "warning_once", "warn")
_THIS = re.compile(r"\bthis (?:function|method|class|module)\b", re.I)
_MAX_MESSAGE = 400
_MAX_NODES = 200
# the version before a merge is often that after another one
_MAX_FILES = 1_000


@dataclass(frozen=True, slots=True)
class Deprecation:
    """What is deprecated, by its name in the module (empty for the module), and how it says so."""

    name: str
    line: int
    message: str


@lru_cache(maxsize=_MAX_FILES)
def list_deprecations(text: str) -> tuple[Deprecation, ...]:
    """Return what of a Python file is deprecated: by a decorator, a warning or a directive in a docstring."""
    if not _HINT.search(text):
        return ()
    tree = parse_source(text)
    return tuple(_list_in(tree.body)) if tree else ()


def _list_in(body: Sequence[ast.stmt]) -> Iterator[Deprecation]:
    stack: list[tuple[str, Sequence[ast.stmt]]] = [("", body)]
    while stack:
        owner, statements = stack.pop()
        yield from _list_own(owner, statements)
        forms: dict[str, list[Deprecation | None]] = {}
        for statement, _ in walk_statements(statements):
            if isinstance(statement, DefinitionNode):
                name = f"{owner}.{statement.name}" if owner else statement.name
                notice = next(_list_decorators(name, statement), None)
                ends = set(map(get_last_name, statement.decorator_list))
                if not ends.isdisjoint(_FORMS):
                    forms.setdefault(name, []).append(notice)
                elif notice and ends.isdisjoint(_ACCESSORS):
                    yield notice
                if isinstance(statement, ast.ClassDef):
                    stack.append((name, statement.body))
                else:
                    yield from _list_own(name, statement.body)
        # what is said of one form is not said of the others
        yield from (each[-1] for each in forms.values() if all(each) and each[-1])


def _list_decorators(name: str, node: DefinitionNode) -> Iterator[Deprecation]:
    for each in node.decorator_list:
        end = get_last_name(each)
        if not _HINT.search(end) or _ABOUT_ARGUMENTS.search(end):
            continue
        arguments = ast.walk(node.args) if isinstance(node, FunctionNode) else ()
        own = {part.arg for part in arguments if isinstance(part, ast.arg)}
        if own.isdisjoint(part.value for part in ast.walk(each) if isinstance(part, ast.Constant)):
            yield Deprecation(name, node.lineno, _join_texts(each))


def _list_own(name: str, body: Sequence[ast.stmt]) -> Iterator[Deprecation]:
    """Yield what a body says of itself, without the functions and classes in it."""
    docstring = get_string(body[0].value) if body and isinstance(body[0], ast.Expr) else ""
    if match := _DIRECTIVE.search(docstring):
        yield Deprecation(name, body[0].lineno, match["text"].strip())
    for statement, run in walk_statements(body):
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and _warns(statement.value):
            message = _join_texts(statement.value)
            if run is Run.ALWAYS or _is_about(name, message):
                yield Deprecation(name, statement.lineno, message)


def _is_about(name: str, message: str) -> bool:
    """Return whether a warning under a condition is about the function that gives it.

    Otherwise it is about an argument or a setting. A module's ``__getattr__`` warns of names of the module.
    """
    *owners, last = name.split(".")
    own = owners[-1] if last == "__init__" and owners else last
    if own in {"", "__getattr__"} or _THIS.search(message):
        return True
    return re.search(rf"\b{re.escape(own)}\b", message) is not None


def _warns(call: ast.Call) -> bool:
    if get_last_name(call.func) not in _LOGGED:
        return False
    arguments = [*call.args, *(each.value for each in call.keywords)]
    is_warning = any(join_name(each).rpartition(".")[2] in _WARNINGS for each in arguments)
    return is_warning or bool(_HINT.search(_join_texts(call)))


def _join_texts(node: ast.AST) -> str:
    """Return the text literals in a piece of code, joined."""
    texts: list[str] = []
    length = 0
    for count, each in enumerate(ast.walk(node)):
        if count > _MAX_NODES or length > _MAX_MESSAGE:
            break
        if text := get_string(each):
            texts.append(text)
            length += len(text)
    return " ".join(" ".join(texts).split())[:_MAX_MESSAGE]
