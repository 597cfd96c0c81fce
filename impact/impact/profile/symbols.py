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
_MAX_SYMBOL_LENGTH = 300
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
_SAME_METHODS = frozenset("values items copy".split())
_ELEMENT_METHODS = frozenset("get pop popleft popitem setdefault [] __getitem__".split())
_ELEMENT_FUNCTIONS = frozenset("next min max".split())
# functions that give what they take, or a container of the same elements
_PASSING = frozenset(
    "copy.copy copy.deepcopy copy deepcopy dataclasses.replace replace"
    " list tuple set frozenset sorted reversed iter filter".split()
)


def is_container(symbol: str) -> bool:
    """Return whether a symbol is that of a container whose elements are known."""
    return symbol.startswith("[") and symbol.endswith("]")


def follow_part(symbol: str | None, part: str) -> str | None:
    """Return the symbol of an attribute or an element of a value; None if nothing is known of it."""
    if symbol is None or len(symbol) + len(part) >= _MAX_SYMBOL_LENGTH:
        return None
    if not is_container(symbol):
        return f"{symbol}.{part}"
    if part in _SAME_METHODS:
        return symbol
    return symbol[1:-1] if part in _ELEMENT_METHODS else None


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


class ExpressionReader:
    """Symbols of expressions by the names of a scope. Each expression is read once."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        # by the identity of a node; the node is kept, so that no other one gets its identity
        self._known: dict[int, tuple[ast.expr, str | None]] = {}

    def read(self, node: ast.expr | None) -> str | None:
        """Return the symbol of an expression; None if nothing is known of it."""
        if node is None:
            return None
        known = self._known.get(id(node))
        if known is None:
            known = self._known[id(node)] = (node, self._read_node(node))
        return known[1]

    def _read_node(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Name):
            return self._lookup(node.id)
        if isinstance(node, ast.Attribute):
            return follow_part(self.read(node.value), node.attr)
        if isinstance(node, ast.Call):
            return self._read_call(node)
        if isinstance(node, ast.Subscript):
            inner = self.read(node.value)
            return inner if isinstance(node.slice, ast.Slice) else follow_part(inner, ELEMENT)
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            return contain(self.read(node.elts[0])) if node.elts else None
        if isinstance(node, ast.Await | ast.NamedExpr | ast.Starred):
            return self.read(node.value)
        if isinstance(node, ast.IfExp):
            return self.read(node.body) or self.read(node.orelse)
        if isinstance(node, ast.BoolOp):
            return next((symbol for each in node.values if (symbol := self.read(each))), None)
        return None

    def _read_call(self, node: ast.Call) -> str | None:
        name = name_expression(node.func)
        if name == "super":
            return follow_part(self._lookup("self"), SUPER)
        if name == "cast" or name.endswith(".cast"):
            return read_annotation(node.args[0], self._lookup) if node.args else None
        if name == "getattr":
            attribute = get_string(node.args[1]) if len(node.args) > 1 else ""
            return follow_part(self.read(node.args[0]), attribute) if attribute.isidentifier() else None
        if name in _PASSING or name in _ELEMENT_FUNCTIONS:
            return self._read_argument(node, name)
        return self.read(node.func)

    def _read_argument(self, node: ast.Call, name: str) -> str | None:
        if not node.args:
            return None
        inner = self.read(node.args[-1] if name == "filter" else node.args[0])
        if name in _PASSING:
            return inner
        return follow_part(inner, ELEMENT) if len(node.args) == 1 else None


def get_string(node: ast.expr | None) -> str:
    """Return the value of a string literal, empty for anything else."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
