"""Functions and classes in languages with braces, found by the braces alone.

A grammar for each language would be exact. The grammars that were tried take minutes for files that somebody made
for that (docs/decisions/0007-whole-functions.md). This takes time in proportion to the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

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


def list_brace_scopes(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield the first line, the last line of the head, and the last line of each function and class.

    Lines count from 1. A block without an end reaches to the end of the text.
    """
    line, at = 1, 0
    head_start = 0  # where the statement begins that a brace may end
    open_blocks: list[tuple[int, int] | None] = []
    for token in _TOKEN.finditer(text):
        mark = token["mark"]
        if not mark:
            continue
        line, at = line + text.count("\n", at, token.start()), token.start()
        if mark == "{":
            open_blocks.append(_find_head(text, head_start, at, line))
        elif mark == "}" and open_blocks:
            head = open_blocks.pop()
            if head:
                yield (*head, line)
        head_start = token.end()
    last = line + text.count("\n", at) - text.endswith("\n")
    yield from ((*head, max(last, head[1])) for head in open_blocks if head)


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
