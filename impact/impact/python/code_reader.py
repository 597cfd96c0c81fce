"""Code as text, its calls, and hashes that comments, docstrings, annotations and formatting leave as they are."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

from impact.python.models import CallShape, CallSite, Definition, DefinitionKind
from impact.python.syntax import Bound, DefinitionNode, FunctionNode, get_string, join_name

# characters of a text that is kept; of longer ones a hash says whether they differ
_MAX_TEXT = 1_000
CUT_MARK = "… #"
_MAX_UNPARSED_LINES = 24


class SourceText:
    def __init__(self, text: str) -> None:
        # the parser counts these as line ends, and no others
        self._lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    def get_lines(self, first: int, last: int) -> str:
        """Return the lines from one to another, which count from 1."""
        return "\n".join(self._lines[first - 1 : last])

    def get_text(self, node: ast.expr | None) -> str:
        """Return the text of an expression in one line; empty for None."""
        if node is None:
            return ""
        text = self._cut(node)
        return text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]} {CUT_MARK}{hash_code([node])[:8]}"

    def _cut(self, node: ast.expr) -> str:
        end_line, end = node.end_lineno or node.lineno, node.end_col_offset or 0
        # in an f-string, a place may be that of no line
        line = self.get_lines(node.lineno, node.lineno)
        if end_line == node.lineno:
            if line.isascii():
                return line[node.col_offset : end]
            # columns count the bytes of UTF-8
            return line.encode()[node.col_offset : end].decode(errors="replace")
        # one of several lines loses its comments, if it is short enough to be read
        if end_line - node.lineno <= _MAX_UNPARSED_LINES:
            try:
                return ast.unparse(node)
            except (RecursionError, ValueError):
                pass
        start = line.encode()[node.col_offset :].decode(errors="replace")
        return f"{start[:_MAX_TEXT].strip()} {CUT_MARK}{hash_code([node])[:8]}"


# --- hashes

# what says nothing of what code does
_SILENT_FIELDS = frozenset({"ctx", "annotation", "returns", "type_comment", "kind", "simple", "type_ignores"})
# the fields of each kind of node that are read, the last one first
_FIELDS = {
    kind: tuple(name for name in reversed(kind._fields) if name not in _SILENT_FIELDS)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}

# Python's least limit for decimal text, 640 digits, has some more
_MAX_DECIMAL_BITS = 2_000

# shorter lines stand anywhere
_MIN_LINE = 18
Visitor = Callable[[ast.AST], None]


def hash_lines(text: str) -> frozenset[str]:
    """Return short hashes of the lines of a text that say enough to be known again elsewhere."""
    lines = (line.strip() for line in text.split("\n"))
    telling = (line for line in lines if len(line) >= _MIN_LINE and line[0] not in "#\"'")
    return frozenset(
        hashlib.blake2b(line.encode(errors="surrogatepass"), digest_size=4).hexdigest() for line in telling
    )


def hash_code(
    nodes: Sequence[ast.AST], visit: Visitor | None = None, kinds: frozenset[type[ast.AST]] = frozenset()
) -> str:
    """Return a hash of what code does, and show its nodes of some kinds to a visitor, from first to last."""
    tokens: list[str] = []
    stack: list[object] = [*reversed(nodes)]
    # this loop is most of the time that a file takes
    pop, push, add = stack.pop, stack.extend, tokens.append
    while stack:
        value: Any = pop()
        kind = value.__class__
        if kind is ast.Name:
            add(f"Name {value.id}")
        elif reader := _READERS.get(kind):
            if kind in kinds and visit:
                visit(value)
            add(reader[0])
            push(reader[1](value))
        elif kind is list:
            add(f"[{len(value)}")
            push(value[::-1])
        elif kind is str:
            add(value)
        elif value is None:
            add("None")
        else:
            add(repr(value))
    return hashlib.blake2b("\0".join(tokens).encode(errors="replace"), digest_size=8).hexdigest()


def show_constant(value: object) -> str:
    """Return the text of a literal. Python refuses decimal text for long integers, which code may write in hex."""
    is_long = isinstance(value, int) and value.bit_length() > _MAX_DECIMAL_BITS
    return hex(value) if is_long else repr(value)  # type: ignore[arg-type]


def drop_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return the statements without a docstring, and without those that only annotate a name."""
    start = 1 if body and is_text(body[0]) else 0
    return [each for each in body[start:] if not (isinstance(each, ast.AnnAssign) and each.value is None)]


def is_text(statement: ast.stmt) -> bool:
    """Return whether a statement is nothing but a string."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


_SPECIAL = {ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.AnnAssign, ast.Constant}


def make_getter(fields: tuple[str, ...]) -> Callable[[ast.AST], tuple[object, ...]]:
    """Return what reads the fields of a node at once."""
    if len(fields) > 1:
        return attrgetter(*fields)
    return (lambda node: (getattr(node, fields[0]),)) if fields else lambda _node: ()


def _list_parts(node: ast.AST) -> Sequence[object]:
    """Return what is in a node that is not read as it is, the last part first."""
    if isinstance(node, ast.AnnAssign):
        # as an assignment without the annotation
        return [node.value, [node.target]]
    if isinstance(node, ast.Constant):
        # the text "1" is not the number
        return [show_constant(node.value)]
    body = drop_docstring(node.body) if isinstance(node, DefinitionNode) else []
    return [body if name == "body" else getattr(node, name, None) for name in _FIELDS[type(node)]]


# by the kind of a node its name, and what reads its parts
_READERS: dict[type, tuple[str, Callable[[ast.AST], Sequence[object]]]] = {
    kind: (kind.__name__, _list_parts if kind in _SPECIAL else make_getter(fields))
    for kind, fields in _FIELDS.items()
}
_READERS[ast.AnnAssign] = ("Assign", _list_parts)


# --- calls, and the attributes that are set on ``self``

_VISITED = frozenset(
    {
        *(ast.Call, ast.Assign, ast.AnnAssign, ast.Attribute, ast.ClassDef, ast.NamedExpr, ast.Global),
        *(ast.Yield, ast.YieldFrom, ast.FunctionDef, ast.AsyncFunctionDef),
    }
)
# an attribute of this name stands for any: what is set by a name that only running code knows
ANY = "*"


class CodeReader:
    """What code holds: a hash of what it does, its calls, what it first sets on ``self``, and names by ``:=``.

    The code stands in a ``scope``; a method has an ``owner`` and calls its object by the name of its ``receiver``.
    """

    def __init__(
        self, nodes: Sequence[ast.AST], source: SourceText, scope: str, owner: str = "", receiver: str = ""
    ) -> None:
        self._source, self._scope, self._owner, self._receiver = source, scope, owner, receiver
        self.calls: list[CallSite] = []
        self.attributes: dict[str, Definition] = {}
        self.named: list[Bound] = []
        self.globals: list[str] = []
        self.is_generator = False
        # into how many names the results of calls are taken apart
        self._unpacked: dict[ast.expr, int] = {}
        # the last lines of a function within it, and of a class or function that has a receiver of its own
        self._function_end = self._inner_end = 0
        self.body = hash_code(nodes, self._visit, _VISITED)

    def _visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.Call):
            self._add_call(node)
        elif isinstance(node, ast.Attribute):
            if isinstance(node.ctx, ast.Store):
                self._add_attribute(node, None)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            self._unpacked |= count_unpacked(node) if isinstance(node, ast.Assign) else {}
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                self._add_attribute(target, node)
        elif isinstance(node, FunctionNode):
            self._function_end = max(self._function_end, node.end_lineno or 0)
            if any(each.arg == self._receiver for each in (*node.args.posonlyargs, *node.args.args)):
                self._inner_end = max(self._inner_end, node.end_lineno or 0)
        elif isinstance(node, ast.ClassDef):
            self._inner_end = max(self._inner_end, node.end_lineno or 0)
        elif isinstance(node, ast.NamedExpr):
            self.named.append((node.target.id, node.value))
        elif isinstance(node, ast.Global):
            self.globals += node.names
        elif isinstance(node, ast.Yield | ast.YieldFrom):
            self.is_generator = self.is_generator or node.lineno > self._function_end

    def _add_call(self, node: ast.Call) -> None:
        name = join_name(node.func)
        if not name:
            return
        shape = read_shape(node, self._unpacked.get(node, 0))
        self.calls.append(CallSite(name, shape, node.lineno, self._scope))
        if not self._receiver or node.lineno <= self._inner_end:
            return
        if name == "setattr" or name.endswith(".__setattr__"):
            # of three arguments the first is the object, unless it is the one of the method
            is_own = len(node.args) == 2 or (len(node.args) == 3 and join_name(node.args[0]) == self._receiver)
            self._set_attribute(get_string(node.args[-2]) or ANY if is_own else "", node)
        elif name in {f"{self._receiver}.__dict__.update", "vars().update"}:
            self._set_attribute(ANY, node)

    def _add_attribute(self, target: ast.expr, statement: ast.Assign | ast.AnnAssign | None) -> None:
        if not self._receiver or target.lineno <= self._inner_end:
            return
        if isinstance(target, ast.Subscript) and join_name(target.value) == f"{self._receiver}.__dict__":
            self._set_attribute(get_string(target.slice) or ANY, target)
        elif isinstance(target, ast.Attribute) and join_name(target.value) == self._receiver:
            self._set_attribute(ANY if target.attr == "__dict__" else target.attr, target, statement)

    def _set_attribute(
        self, attribute: str, node: ast.expr, statement: ast.Assign | ast.AnnAssign | None = None
    ) -> None:
        name = f"{self._owner}.{attribute}"
        if not attribute or name in self.attributes:
            return
        self.attributes[name] = Definition(
            name,
            DefinitionKind.ATTRIBUTE,
            node.lineno,
            node.end_lineno or node.lineno,
            value=self._source.get_text(statement.value) if statement else "",
            annotation=self._source.get_text(statement.annotation) if isinstance(statement, ast.AnnAssign) else "",
        )


def count_unpacked(node: ast.Assign) -> dict[ast.expr, int]:
    """Return the call of which an assignment takes the result apart, with the number of its names."""
    call = node.value.value if isinstance(node.value, ast.Await) else node.value
    for target in node.targets if isinstance(call, ast.Call) else ():
        if isinstance(target, ast.Tuple | ast.List) and not any(isinstance(e, ast.Starred) for e in target.elts):
            return {call: len(target.elts)}
    return {}


def read_shape(node: ast.Call, unpacked: int = 0) -> CallShape:
    stars = sum(isinstance(each, ast.Starred) for each in node.args)
    return CallShape(
        len(node.args) - stars,
        tuple(each.arg for each in node.keywords if each.arg),
        bool(stars),
        any(each.arg is None for each in node.keywords),
        unpacked,
    )
