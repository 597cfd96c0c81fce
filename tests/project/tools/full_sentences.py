"""The literals of a module that are whole sentences: what people, models or the log read."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from bot.domain import errors
from tests.project.tools.module_nodes import list_nodes

_WORD = re.compile(r"[^\W\d_]")
# a point may stand before a quotation mark or the mark of code
_CLOSING = "\"'`_* \n"
_ENDS = (".", "!", "?", "…")
_ERRORS = frozenset(name for name, value in vars(errors).items() if isinstance(value, type))


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
    """Return whether a text ends as a sentence does, and has so many words."""
    words = sum(bool(_WORD.search(word)) for word in text.split())
    return words >= min_words and text.rstrip(_CLOSING).endswith(_ENDS)


def find_spoken_sentences(source: str, min_words: int = 3) -> list[str]:
    """Return the sentences of a module that are neither messages of errors nor lines of the log."""
    nodes = list_nodes(source)
    others = {text for node in _list_others(nodes) for _, text in list_texts(list(ast.walk(node)))}
    texts = (text for _, text in list_texts(nodes) if text not in others)
    return [text for text in texts if is_full_sentence(text, min_words)]


def _list_others(nodes: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Yield what makes an error, what has a name that is raised, and the calls of the log."""
    made = [node for node in nodes if isinstance(node, ast.Raise) or _is_call(node, _list_errors(nodes))]
    yield from made
    names = {each.id for node in made for each in ast.walk(node) if isinstance(each, ast.Name)}
    for node in nodes:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if any(isinstance(each, ast.Name) and each.id in names for each in targets):
            yield node
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("log."):
            yield node


def _list_errors(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Return the names of the errors of the domain and of those that a module makes of them."""
    own = (node for node in nodes if isinstance(node, ast.ClassDef))
    return _ERRORS | {node.name for node in own if any(ast.unparse(base) in _ERRORS for base in node.bases)}


def _is_call(node: ast.AST, names: frozenset[str]) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names
