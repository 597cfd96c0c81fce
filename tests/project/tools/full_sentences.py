"""The literals of a module that are whole sentences: what people, models or the log read."""

import ast
import re
from collections.abc import Collection, Iterator, Sequence

_WORD = re.compile(r"[^\W\d_]")
# a point may stand before a quotation mark or the mark of code
_CLOSING = "\"'`_* \n"
_ENDS = (".", "!", "?", "…")


def join_parts(node: ast.AST) -> str:
    """Return the text of a literal with ``{}`` for each value; empty if the node is none."""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def list_texts(nodes: Sequence[ast.AST], others: Collection[int] = ()) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each literal that is no docstring, no part of another one and not skipped.

    ``others`` are the ids of nodes to skip.
    """
    skipped = {*others} | {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    # the parts of a text with values count together
    skipped |= {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in nodes:
        if id(node) not in skipped and (text := join_parts(node)):
            yield getattr(node, "lineno", 0), text


def is_full_sentence(text: str, min_words: int) -> bool:
    words = sum(bool(_WORD.search(word)) for word in text.split())
    return words >= min_words and text.rstrip(_CLOSING).endswith(_ENDS)
