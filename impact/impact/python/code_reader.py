"""The calls in a piece of code, and the attributes that it sets on ``self``."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from impact.python.blocks import Bound
from impact.python.expressions import SourceText, join_name
from impact.python.fingerprint import hash_code
from impact.python.models import CallShape, CallSite, Definition, DefinitionKind

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_YIELDS = (ast.Yield, ast.YieldFrom)
# what holds no call: most of what stands between functions
_SILENT = (ast.Import, ast.ImportFrom, ast.Pass, ast.Name, ast.Constant)
_VISITED = frozenset(
    {
        ast.Call,
        ast.Assign,
        ast.AnnAssign,
        ast.Attribute,
        ast.ClassDef,
        ast.NamedExpr,
        ast.Global,
        *_YIELDS,
        *_FUNCTIONS,
    }
)
# an attribute of this name stands for any: what is set by a name that only running code knows
ANY = "*"


@dataclass(frozen=True, slots=True)
class CodeReading:
    """What code holds: a hash of what it does, its calls, what it first sets on ``self``, and names by ``:=``."""

    body: str = ""
    calls: tuple[CallSite, ...] = ()
    attributes: tuple[Definition, ...] = ()
    named: tuple[Bound, ...] = ()
    is_generator: bool = False
    globals: tuple[str, ...] = ()


_NOTHING = CodeReading(hash_code(()))


@dataclass(slots=True)
class CodeReader:
    source: SourceText
    _calls: list[CallSite] = field(default_factory=list)
    _attributes: dict[str, Definition] = field(default_factory=dict)
    _named: list[Bound] = field(default_factory=list)
    _scope: str = ""
    _owner: str = ""
    _receiver: str = ""
    # the last line of a class or function within the method that has a receiver of its own
    _inner_end: int = 0
    # into how many names the results of calls are taken apart
    _unpacked: dict[ast.expr, int] = field(default_factory=dict)
    # the last line of a function within it, and whether it yields outside of those
    _function_end: int = 0
    _is_generator: bool = False
    _globals: list[str] = field(default_factory=list)

    def read_method(self, body: Sequence[ast.AST], scope: str, owner: str, receiver: str) -> CodeReading:
        if not body:
            return _NOTHING
        self._scope, self._owner, self._receiver, self._inner_end = scope, owner, receiver, 0
        self._calls, self._attributes, self._unpacked, self._named = [], {}, {}, []
        self._function_end, self._is_generator, self._globals = 0, False, []
        text = hash_code(body, self._visit, _VISITED)
        attributes, named = tuple(self._attributes.values()), tuple(self._named)
        is_generator, names = self._is_generator, tuple(self._globals)
        return CodeReading(text, tuple(self._calls), attributes, named, is_generator, names)

    def read_code(self, nodes: Sequence[ast.AST], scope: str) -> CodeReading:
        telling = [each for each in nodes if not isinstance(each, _SILENT)]
        return self.read_method(telling, scope, "", "")

    def _visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign):
            self._unpacked |= count_unpacked(node)
        if isinstance(node, _FUNCTIONS):
            self._function_end = max(self._function_end, node.end_lineno or 0)
        if isinstance(node, ast.Call):
            self._add_call(node)
        elif isinstance(node, ast.Global):
            self._globals += node.names
        elif isinstance(node, _YIELDS):
            self._is_generator = self._is_generator or node.lineno > self._function_end
        elif isinstance(node, ast.NamedExpr):
            self._named.append((node.target.id, node.value))
        elif not self._receiver or self._is_within(node):
            return
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                self._add_attribute(target, node)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            self._add_attribute(node, None)

    def _is_within(self, node: ast.AST) -> bool:
        """Return whether a node is in a class within the method, where ``self`` is another object."""
        if isinstance(node, ast.ClassDef) or (isinstance(node, _FUNCTIONS) and _takes(node, self._receiver)):
            self._inner_end = max(self._inner_end, node.end_lineno or 0)
        return getattr(node, "lineno", 0) <= self._inner_end

    def _add_call(self, node: ast.Call) -> None:
        name = join_name(node.func)
        if not name:
            return
        shape = read_shape(node, self._unpacked.get(node, 0))
        self._calls.append(CallSite(name, shape, node.lineno, self._scope))
        if not self._receiver or self._is_within(node):
            return
        if name == "setattr" or name.endswith(".__setattr__"):
            # of three arguments the first is the object, unless it is the one of the method
            is_own = len(node.args) == 2 or (len(node.args) == 3 and join_name(node.args[0]) == self._receiver)
            self._set_attribute(_read_text(node.args[-2]) if is_own else "", node)
        elif name in {f"{self._receiver}.__dict__.update", "vars().update"}:
            self._set_attribute(ANY, node)

    def _add_attribute(self, target: ast.expr, statement: ast.Assign | ast.AnnAssign | None) -> None:
        table = f"{self._receiver}.__dict__"
        if isinstance(target, ast.Subscript) and join_name(target.value) == table:
            self._set_attribute(_read_text(target.slice), target)
        elif isinstance(target, ast.Attribute) and join_name(target.value) == self._receiver:
            self._set_attribute(ANY if target.attr == "__dict__" else target.attr, target, statement)

    def _set_attribute(
        self, attribute: str, node: ast.expr, statement: ast.Assign | ast.AnnAssign | None = None
    ) -> None:
        name = f"{self._owner}.{attribute}"
        if not attribute or name in self._attributes:
            return
        self._attributes[name] = Definition(
            name,
            DefinitionKind.ATTRIBUTE,
            node.lineno,
            node.end_lineno or node.lineno,
            value=self.source.get_text(statement.value) if statement and statement.value else "",
            annotation=self.source.get_text(statement.annotation) if isinstance(statement, ast.AnnAssign) else "",
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
        tuple(_list_keywords(node)),
        bool(stars),
        any(each.arg is None for each in node.keywords),
        unpacked,
    )


def _read_text(node: ast.expr) -> str:
    """Return the name in a literal text, the one that stands for any if code makes it."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ANY


def _takes(node: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> bool:
    return any(each.arg == name for each in (*node.args.posonlyargs, *node.args.args))


def _list_keywords(node: ast.Call) -> Iterator[str]:
    for each in node.keywords:
        if each.arg is not None:
            yield each.arg
