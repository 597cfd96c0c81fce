"""Functions and classes of a source file, by their lines.

Python is parsed. In other languages braces alone tell: a grammar for each language would be exact, but those that
were tried take minutes for files that somebody made for that (docs/decisions/0007-whole-functions.md). This takes
time in proportion to the text.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from impact.errors import attempt
from impact.python.syntax import parse_source

_BRACE_SUFFIXES = frozenset(
    ".c .h .cc .hh .cpp .hpp .cxx .hxx .cu .cuh .inl .hip .m .mm .metal .java .kt .scala .cs .swift .go .rs "
    ".js .jsx .mjs .cjs .ts .tsx .mts .cts .php .dart .proto".split()
)
_PYTHON_SUFFIXES = frozenset({".py", ".pyi"})
# comments, strings and characters, whose braces do not count, then the characters that do. An apostrophe is the
# beginning of a character only if the character ends on the line, as Rust has lifetimes and C++ has 1'000
_TOKEN = re.compile(
    r"""
    //[^\n]* | /\*(?:[^*]|\*(?!/))*+(?:\*/)?
    | "(?:[^"\\\n]|\\.)*+"? | `(?:[^`\\]|\\.)*+`? | '(?:[^'\\\n]|\\[^\n]{1,8})'
    | ^[ \t]*\#(?:[^\n\\]|\\.)*+
    | (?P<mark>[{};])
    """,
    re.X | re.M | re.S,
)
_WORD = re.compile(r"[A-Za-z_]\w*")
# what opens a block that is no function or class: a statement, or a value
_STATEMENT = (
    r"(?:if|else|for|foreach|while|do|loop|switch|select|match|case|default|try|catch|finally|return|throw|yield|unsafe"
    r"|go|defer|synchronized|using|lock|namespace|extern|import|export|use|mod)"
)
# words after a statement's that make it a function or class all the same, as in ``export class``
_DECLARATION = r"(?!\s+(?:class|function|default|async|const|interface|enum|abstract)\b)"
_NO_SCOPE = re.compile(rf"^\W*{_STATEMENT}\b{_DECLARATION}|=\s*(?:{_STATEMENT}\b|$)|[,:\[(]\s*$")
_CLASS = re.compile(
    r"\b(?:class|struct|union|enum|interface|trait|impl|object|protocol|extension|message|service)\b"
)
_BLANK_LINE = re.compile(r"\n[ \t]*(?=\n)")
# characters of a head: longer ones are lists of values
_MAX_HEAD = 4_000


@dataclass(frozen=True, slots=True)
class Scope:
    """A function or class by its lines from 1; decorators and signature go to ``head_end``."""

    start: int
    head_end: int
    end: int


def has_scopes(path: str) -> bool:
    """Return whether functions and classes of such a file can be found, by its name."""
    return PurePosixPath(path).suffix.lower() in _PYTHON_SUFFIXES | _BRACE_SUFFIXES


def list_scopes(path: str, text: str) -> tuple[Scope, ...]:
    """List functions and classes, outer ones first; none of other languages, and what this Python can't parse."""
    return attempt(path, _list_scopes, path, text) or ()


def _list_scopes(path: str, text: str) -> tuple[Scope, ...]:
    suffix = PurePosixPath(path).suffix.lower()
    if suffix in _PYTHON_SUFFIXES:
        scopes = _list_python_scopes(text)
    elif suffix in _BRACE_SUFFIXES:
        scopes = _list_brace_scopes(text)
    else:
        return ()
    return tuple(sorted(scopes, key=lambda scope: (scope.start, -scope.end)))


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


def _list_brace_scopes(text: str) -> Iterator[Scope]:
    """Yield the blocks that are a function or class. One without an end reaches to the end of the text."""
    line, at = 1, 0
    head_start = 0  # where the statement begins that a brace may end
    open_heads: list[tuple[int, int] | None] = []
    for token in _TOKEN.finditer(text):
        mark = token["mark"]
        if not mark:
            continue
        line, at = line + text.count("\n", at, token.start()), token.start()
        if mark == "{":
            open_heads.append(_find_head(text, head_start, at, line))
        elif mark == "}" and open_heads:
            head = open_heads.pop()
            if head:
                yield Scope(*head, line)
        head_start = token.end()
    last = line + text.count("\n", at) - text.endswith("\n")
    yield from (Scope(*head, max(last, head[1])) for head in open_heads if head)


def _find_head(text: str, start: int, brace: int, line: int) -> tuple[int, int] | None:
    """Return the first and last line of the head before a brace, None if it opens no function or class."""
    if brace - start > _MAX_HEAD:
        return None
    code = _TOKEN.sub(lambda token: "\n" * token[0].count("\n"), text[start:brace])
    statement = _find_last_statement(code)
    if not statement or _NO_SCOPE.search(statement) or not ("(" in statement or _CLASS.search(statement)):
        return None
    # what stands before a blank line belongs to something else, in languages without semicolons
    before = _BLANK_LINE.split(code)[-1]
    return line - before.lstrip().count("\n"), line


def _find_last_statement(code: str) -> str:
    """Return the last lines of a head whose parentheses are balanced; empty if there are none."""
    lines = code.split("\n")
    balance = 0
    for at in range(len(lines) - 1, -1, -1):
        balance += lines[at].count(")") - lines[at].count("(")
        if not balance and _WORD.search(lines[at]):
            return "\n".join(lines[at:])
    return ""
