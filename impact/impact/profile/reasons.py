"""Why a line stands where it stands, as far as its file says it: in a comment, or in a docstring."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence

from impact.profile.models import Use, UseKind
from impact.python.module_names import is_python
from impact.python.syntax import DefinitionNode, FunctionNode, parse_source
from impact.text.strings import collapse_lines, truncate_text

_MAX_REASON, _MAX_LINE = 400, 1_000
# lines of a comment above a line, of which the last count
_MAX_LINES = 30
# a comment that a program reads, or that says nothing
_NO_REASON = re.compile(r"(?:noqa|type:|mypy:|ruff:|pylint:|pyright:|fmt:|isort:|yapf:|pragma)|\W*\Z", re.I)
_LICENSE = re.compile(r"copyright|SPDX-|licen[sc]e", re.I)
_WORD = re.compile(r"\w+", re.A)
_MARK = re.compile(r"(?<!\S)#+[:!]?")


def find_reasons(path: str, text: str, uses: Iterable[Use]) -> Iterator[tuple[Use, str]]:
    """Yield the uses in a file with why they stand there: the comment beside or above, or else a docstring.

    That is the one of the definition at the line or around it; for a replacement also what stands at the function
    that it puts in place, and the docstring of the module. A use of which the file says nothing is left out.
    """
    lines = text.split("\n")
    known = [use for use in uses if 0 < use.line <= len(lines)]
    tree = parse_source(text) if is_python(path) else None
    places = _locate_lines(tree, sorted({use.line for use in known})) if tree else {}
    module = _read_docstring(tree) if tree else ""
    functions = {each.name: each for each in tree.body if isinstance(each, FunctionNode)} if tree else {}
    for use in known:
        words = reversed(_WORD.findall(use.text)) if use.kind is UseKind.PATCH else ()
        own = next((functions[word] for word in words if word in functions), None)
        first, docstring = places.get(use.line, (use.line, ""))
        reason = (
            _read_comment(lines[use.line - 1])
            or _read_comment_above(lines, first)
            or (_read_comment_above(lines, use.line) if first < use.line else "")
            or docstring
            or (_explain_function(lines, own) if own else "")
            or (module if use.kind is UseKind.PATCH else "")
        )
        if reason:
            yield use, truncate_text(collapse_lines(reason), _MAX_REASON)


def _explain_function(lines: Sequence[str], node: FunctionNode) -> str:
    first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
    return _read_comment_above(lines, first) or _read_docstring(node)


def _locate_lines(tree: ast.Module, lines: Sequence[int]) -> dict[int, tuple[int, str]]:
    """Return, by line, where its statement begins, and the docstring of the definition that it is in."""
    places: dict[int, tuple[int, str]] = {}
    waiting: list[tuple[ast.AST, str, Sequence[int]]] = [(tree, "", lines)]
    while waiting:
        node, docstring, inside = waiting.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt | ast.excepthandler):
                decorators = child.decorator_list if isinstance(child, DefinitionNode) else []
                first = min([child.lineno, *(each.lineno for each in decorators)])
                own = inside[bisect_left(inside, first) : bisect_right(inside, child.end_lineno or first)]
                says = _read_docstring(child) if own and isinstance(child, DefinitionNode) else docstring
                places |= dict.fromkeys(own, (first, says))
                waiting += [(child, says, own)] if own else []
    return places


def _read_docstring(node: DefinitionNode | ast.Module) -> str:
    """Return the first paragraph of a docstring, as far as it is shown; empty without one."""
    return (ast.get_docstring(node) or "").partition("\n\n")[0][:_MAX_LINE]


def _read_comment(line: str) -> str:
    """Return the comment at the end of a line; empty if there is none that says something."""
    line = line[:_MAX_LINE]
    for mark in _MARK.finditer(line):
        before = line[: mark.start()]
        if before.count('"') % 2 == before.count("'") % 2 == 0:
            comment = line[mark.end() :].strip()
            return "" if _NO_REASON.match(comment) else comment
    return ""


def _read_comment_above(lines: Sequence[str], first: int) -> str:
    above: list[str] = []
    for line in reversed(lines[max(0, first - 1 - _MAX_LINES) : first - 1]):
        if not line.lstrip().startswith("#"):
            break
        above.insert(0, _read_comment(line))
    comment = " ".join(filter(None, above))
    return "" if _LICENSE.search(comment) else comment
