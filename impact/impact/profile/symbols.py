"""Symbols: the dotted path by which a value was reached, from an imported name onward.

``vllm.config.VllmConfig.cache_config`` is what this attribute of a ``VllmConfig`` holds. A class, an instance of
it and what a function returns have the same symbol, since only names matter. ``[T]`` is a container of ``T``, and
the part ``[]`` an element of what its path holds.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from impact.python.parsing import parse_expression

# longer paths are of generated code, or of code that is made to hurt
MAX_SYMBOL_LENGTH = 300
MAX_ANNOTATION_LENGTH = 500
ELEMENT = "[]"
# stands for the instance seen as one of its base classes
SUPER = "super()"

# gives the symbol of a name in the scope, None if it is unknown
Lookup = Callable[[str], str | None]

_WRAPPERS = frozenset(
    "Optional Annotated ClassVar Final Type type Union Required NotRequired ReadOnly InitVar".split()
)
_SEQUENCES = frozenset(
    "list List set Set frozenset FrozenSet Sequence MutableSequence Iterable Iterator Collection deque Deque tuple"
    " Tuple Generator AsyncGenerator AsyncIterator AsyncIterable KeysView ValuesView".split()
)
_MAPPINGS = frozenset("dict Dict Mapping MutableMapping defaultdict DefaultDict OrderedDict".split())
# methods and functions of containers that give a container of the same elements, or an element
SAME_METHODS = frozenset("values items copy".split())
ELEMENT_METHODS = frozenset("get pop popleft popitem setdefault [] __getitem__".split())
SAME_FUNCTIONS = frozenset("list tuple set frozenset sorted reversed iter filter".split())
ELEMENT_FUNCTIONS = frozenset("next min max".split())
COPY_FUNCTIONS = frozenset("copy.copy copy.deepcopy copy deepcopy dataclasses.replace replace".split())


def is_container(symbol: str) -> bool:
    """Return whether a symbol is that of a container whose elements are known."""
    return symbol.startswith("[") and symbol.endswith("]")


def follow_part(symbol: str | None, part: str) -> str | None:
    """Return the symbol of an attribute or an element of a value; None if nothing is known of it."""
    if symbol is None or len(symbol) + len(part) >= MAX_SYMBOL_LENGTH:
        return None
    if not is_container(symbol):
        return f"{symbol}.{part}"
    if part in SAME_METHODS:
        return symbol
    return symbol[1:-1] if part in ELEMENT_METHODS else None


def contain(symbol: str | None) -> str | None:
    return f"[{symbol}]" if symbol is not None else None


def read_annotation(node: ast.expr | None, lookup: Lookup) -> str | None:
    """Return the symbol of the values that an annotation allows; None if they are of no known class."""
    if isinstance(node, ast.Constant):
        inner = parse_annotation(node.value) if isinstance(node.value, str) else None
        return read_annotation(inner, lookup) if inner is not None else None
    if isinstance(node, ast.Name | ast.Attribute):
        first, _, rest = name_expression(node).partition(".")
        symbol = lookup(first) if first else None
        return f"{symbol}.{rest}" if symbol is not None and rest else symbol
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _choose_known((node.left, node.right), lookup)
    if isinstance(node, ast.Subscript):
        return _read_subscript(node, lookup)
    return None


def parse_annotation(text: str) -> ast.expr | None:
    """Return the expression of an annotation or a value; None if it can't be read."""
    return parse_expression(text) if text and len(text) <= MAX_ANNOTATION_LENGTH else None


def name_expression(node: ast.expr) -> str:
    """Return the dotted text of a name or an attribute of one, empty for another expression."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join((node.id, *reversed(parts))) if isinstance(node, ast.Name) else ""


def _choose_known(nodes: tuple[ast.expr, ...], lookup: Lookup) -> str | None:
    """Return the one known symbol of the parts of a union."""
    known = {symbol for node in nodes if (symbol := read_annotation(node, lookup)) is not None}
    return known.pop() if len(known) == 1 else None


def _read_subscript(node: ast.Subscript, lookup: Lookup) -> str | None:
    name = name_expression(node.value).rpartition(".")[2]
    arguments = tuple(node.slice.elts) if isinstance(node.slice, ast.Tuple) else (node.slice,)
    if not arguments:
        return None
    if name in _WRAPPERS:
        return _choose_known(arguments, lookup)
    if name in _MAPPINGS:
        return contain(read_annotation(arguments[-1], lookup))
    if name in _SEQUENCES:
        return contain(_choose_known(arguments, lookup))
    return read_annotation(node.value, lookup)
