from __future__ import annotations

import ast

from impact.python.fingerprint import hash_code

# characters of a text that is kept; of longer ones a hash says whether they differ
MAX_TEXT = 1_000
CUT_MARK = "… #"
# parts of a chain such as ``a.b().c()``: a longer one is no name that anyone uses
_MAX_PARTS = 12
_MAX_UNPARSED_LINES = 24


class SourceText:
    def __init__(self, text: str) -> None:
        # the parser counts these as line ends, and no others
        self._lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    def get_text(self, node: ast.expr) -> str:
        """Return the text of an expression in one line."""
        text = self._cut(node)
        return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]} {CUT_MARK}{hash_code([node])[:8]}"

    def get_line(self, number: int) -> str:
        """Return a line, which counts from 1; empty if there is none."""
        return self._lines[number - 1] if 0 < number <= len(self._lines) else ""

    def get_lines(self, first: int, last: int) -> str:
        """Return the lines from one to another, which count from 1."""
        return "\n".join(self._lines[first - 1 : last])

    def _cut(self, node: ast.expr) -> str:
        end_line, end = node.end_lineno or node.lineno, node.end_col_offset or 0
        if end_line != node.lineno:
            return self._join(node, end_line)
        line = self.get_line(node.lineno)
        if line.isascii():
            return line[node.col_offset : end]
        # columns count the bytes of UTF-8
        return line.encode()[node.col_offset : end].decode(errors="replace")

    def _join(self, node: ast.expr, end_line: int) -> str:
        """Return an expression of several lines without its comments, if it is short enough to be read."""
        if end_line - node.lineno <= _MAX_UNPARSED_LINES:
            try:
                return ast.unparse(node)
            except (RecursionError, ValueError):
                pass
        start = self.get_line(node.lineno).encode()[node.col_offset :].decode(errors="replace")
        return f"{start[:MAX_TEXT].strip()} {CUT_MARK}{hash_code([node])[:8]}"


def join_name(node: ast.expr) -> str:
    """Return the dotted text of an expression, such as ``self.cache.get`` or ``super().close``.

    Calls in it become ``()``, subscripts ``[]``. The result is empty for anything else and for very long chains.
    """
    parts: list[str] = []
    suffix = ""
    for _ in range(_MAX_PARTS):
        if isinstance(node, ast.Name):
            return ".".join([node.id + suffix, *reversed(parts)])
        if isinstance(node, ast.Attribute):
            parts.append(node.attr + suffix)
            node, suffix = node.value, ""
        elif isinstance(node, ast.Call):
            node, suffix = node.func, f"(){suffix}"
        elif isinstance(node, ast.Subscript):
            node, suffix = node.value, f"[]{suffix}"
        else:
            return ""
    return ""


def is_none(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def get_head(node: ast.expr) -> ast.expr:
    """Return what is subscripted or called: of ``Base[T]`` and ``Base(x)`` it is ``Base``."""
    while isinstance(node, ast.Subscript | ast.Call):
        node = node.value if isinstance(node, ast.Subscript) else node.func
    return node
