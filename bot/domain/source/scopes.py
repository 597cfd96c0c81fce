"""Functions and classes of a source file, by their lines."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from bot.domain.source.braces import list_brace_scopes
from impact.python.parsing import parse_source

_BRACE_SUFFIXES = frozenset(
    ".c .h .cc .hh .cpp .hpp .cxx .hxx .cu .cuh .inl .hip .m .mm .metal .java .kt .scala .cs .swift .go .rs "
    ".js .jsx .mjs .cjs .ts .tsx .mts .cts .php .dart .proto".split()
)
_PYTHON_SUFFIXES = frozenset({".py", ".pyi"})


@dataclass(frozen=True, slots=True)
class Scope:
    """A function or class by its lines, which count from 1.

    ``head_end`` is the last line of its decorators and its signature.
    """

    start: int
    head_end: int
    end: int

    @property
    def length(self) -> int:
        """The number of its lines."""
        return self.end - self.start + 1


def has_scopes(path: str) -> bool:
    """Return whether functions and classes of such a file can be found, by its name."""
    return PurePosixPath(path).suffix.lower() in _PYTHON_SUFFIXES | _BRACE_SUFFIXES


def list_scopes(path: str, text: str) -> tuple[Scope, ...]:
    """List the functions and classes of a file, outer ones first.

    Python is parsed exactly, other languages with braces by their braces. The result is empty for all other
    files, and for Python that this version of Python can't parse.
    """
    suffix = PurePosixPath(path).suffix.lower()
    if suffix in _PYTHON_SUFFIXES:
        return tuple(sorted(_list_python_scopes(text), key=_get_order))
    if suffix in _BRACE_SUFFIXES:
        return tuple(sorted((Scope(*lines) for lines in list_brace_scopes(text)), key=_get_order))
    return ()


def _get_order(scope: Scope) -> tuple[int, int]:
    return scope.start, -scope.end


def _list_python_scopes(text: str) -> Iterator[Scope]:
    tree = parse_source(text)
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            start = _get_first_line(node)
            head_end = max(start, node.lineno, _get_first_line(node.body[0]) - 1)
            end = node.end_lineno or node.lineno
            yield Scope(start, min(head_end, end), end)


def _get_first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(each.lineno for each in decorators)])
