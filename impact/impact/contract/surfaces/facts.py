"""What one version of a file states about a surface, and how a Python file is read for it."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any, TypeAlias, TypeVar

from impact.contract.deprecations import is_deprecation, read_deadline
from impact.contract.models import ContractClass, Deadline
from impact.python.code_reader import make_getter
from impact.python.models import Parameter, ParameterKind, Signature
from impact.python.syntax import list_bound
from impact.text.strings import collapse_lines, count_common

# characters of a value that a reader sees, and of those before the first difference of two long values
_MAX_SHOWN, _LEAD = 160, 40
# characters of a value that are compared, and of a text about it
_MAX_KEPT, _MAX_NOTE = 4_000, 2_000


@dataclass(frozen=True, slots=True)
class Fact:
    """A name that a file offers to others, and what it says of it.

    ``default`` and ``shape`` are compared on their own: a value that applies by itself, and the form in which
    the name is used (a type, a signature, labels). ``text`` is the whole as a reader sees it. ``help`` is what
    the file says about it, by which a renamed one is recognized. ``reference`` names a configuration field that
    the default is taken from; ``is_default_known`` if that field was read. ``owner`` is the message or endpoint
    that it belongs to, a fact of its own. ``is_loose``: the name is read here, and may as well be declared in a
    file that the merge leaves alone. ``is_local``: it holds in its file alone, as a pin does.
    """

    subject: ContractClass
    name: str
    line: int
    text: str = ""
    default: str = ""
    shape: str = ""
    help: str = ""
    reference: str = ""
    owner: str = ""
    is_loose: bool = False
    is_local: bool = False
    is_default_known: bool = False
    is_deprecated: bool = False
    deadline: Deadline | None = None

    @property
    def last_name(self) -> str:
        return self.name.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class FieldClass:
    """A class with its own fields, the last parts of its bases' names, and the fields that nobody can set."""

    name: str
    bases: tuple[str, ...]
    fields: tuple[Fact, ...] = ()
    fixed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class FileFacts:
    """The facts of a file. ``classes`` are those whose fields are among them; ``notices`` are deprecations.

    ``flag_classes`` are those whose fields become flags. ``overrides`` has what code changes of such flags: by
    field and argument, the texts of the values. A file that is broken in one version, and so not ``is_read``, says
    nothing of what it stated.
    """

    path: str
    facts: tuple[Fact, ...] = ()
    classes: tuple[FieldClass, ...] = ()
    notices: tuple[Fact, ...] = ()
    flag_classes: frozenset[str] = frozenset()
    overrides: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    is_read: bool = True


def read_notice(fact: Fact, text: str, *, is_deprecated: bool = False) -> Fact:
    """Return a fact with what a text about it says of its end."""
    is_deprecated = is_deprecated or is_deprecation(text)
    return replace(fact, is_deprecated=True, deadline=read_deadline(text)) if is_deprecated else fact


def make_variable(name: str, line: int, default: str = "", note: str = "", *, is_loose: bool = False) -> Fact:
    text = show_default(name, default, " unset by default")
    return Fact(ContractClass.ENVIRONMENT, name, line, text, default, help=note, is_loose=is_loose)


def make_op(name: str, line: int, schema: str) -> Fact:
    """Describe an op by what callers write and by its schema."""
    shape = " ".join(schema.split()).replace("( ", "(").replace(" )", ")").replace(" ,", ",")
    shape = re.sub(r",\s*", ", ", shape)
    return Fact(ContractClass.OP, f"torch.ops.{name}", line, shorten_text(shape), shape=shape)


def make_entry_point(group: str, name: str, target: str, line: int) -> Fact:
    text = shorten_text(f"{group}: {name} = {target}")
    return Fact(ContractClass.ENTRY_POINT, f"{group}:{name}", line, text, default=target)


# --- texts


def shorten_text(text: str) -> str:
    """Put a text on one line; a reader sees the part of it that changed."""
    return collapse_lines(text[:_MAX_KEPT])


def shorten_note(text: str) -> str:
    return " ".join(text[:_MAX_NOTE].split())


def shorten_pair(before: str, after: str) -> tuple[str, str]:
    """Shorten two texts for a reader, so that their first word and their first difference stay."""
    if max(len(before), len(after)) <= _MAX_SHOWN:
        return before, after
    same = count_common(before, after)
    is_early = not before or not after or same < _MAX_SHOWN - _LEAD
    return _cut(before, 0 if is_early else same - _LEAD), _cut(after, 0 if is_early else same - _LEAD)


def _cut(text: str, start: int) -> str:
    head = f"{text[:_LEAD].split(' ', 1)[0]} … " if start else ""
    rest, room = text[start:], _MAX_SHOWN - len(head)
    return f"{head}{rest}" if len(rest) <= room else f"{head}{rest[: room - 1].rstrip()}…"


def show_default(name: str, default: str, unset: str = "") -> str:
    """Return a name with its default as a line; ``unset`` follows the name where there is none."""
    return shorten_text(f"{name} default {default}" if default else f"{name}{unset}")


def read_schema(shape: str) -> Signature | None:
    """Return the parameters of ``f(Tensor(a!) x, *, int n=1) -> Tensor`` or ``f(x: Tensor)``; None if unknown."""
    parts, depth = [""], 0
    for character in shape[shape.find("(") :] if "(" in shape else "":
        depth += (character in "([{") - (character in ")]}")
        if depth == 0:
            break
        if depth == 1 and character == ",":
            parts.append("")
        else:
            parts[-1] += character
    kind, parameters = ParameterKind.POSITIONAL, []
    for part in parts:
        declared, mark, default = part.lstrip("(").partition("=")
        words = declared.partition(":")[0].split()
        if words[-1:] == ["*"]:
            kind = ParameterKind.KEYWORD_ONLY
        elif words and words[-1].isidentifier():
            parameters.append(Parameter(words[-1], kind, default.strip() if mark else None))
        else:
            return None
    return Signature(tuple(parameters))


# --- a Python file: its nodes with where they stand, its constants and its comments

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Node = TypeVar("Node", bound=ast.AST)
Parameters: TypeAlias = list[tuple[ast.arg, ast.expr | None]]
# what the surfaces look for, and as what
_KEPT: Mapping[type, type] = {
    kind: kind for kind in (ast.Call, ast.ClassDef, ast.FunctionDef, ast.Subscript, ast.If, ast.Assign, ast.For)
} | {ast.AsyncFunctionDef: ast.FunctionDef}
# fields that hold nothing that the surfaces look for; a node without others, as most of a tree, is not looked at
_PLAIN_FIELDS = frozenset(
    "arg asname attr conversion ctx id kind level module name names op ops simple type_comment".split()
)
_FIELDS = {
    kind: tuple(name for name in kind._fields[::-1] if name not in _PLAIN_FIELDS)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST) and kind is not ast.Constant
}
_READERS = {kind: make_getter(fields) for kind, fields in _FIELDS.items() if fields}
# comments of more lines than this describe something else
_MAX_COMMENT_LINES = 12
_MAX_DEPTH = 12
_SPELLINGS = {each: each.lower() for each in ("List", "Dict", "Tuple", "Set", "Type", "FrozenSet")}


@dataclass(frozen=True, slots=True)
class PythonFile:
    """A Python file. ``constants`` are names of the top level with what they stand for.

    ``nodes`` are in the order of the text, each with the qualified name of what it stands in. ``calls`` has those
    of them that call a name with a last part, with their places. ``assigned`` has the scope, name as written and
    value of each assignment, ``self.labels = …`` too.
    """

    path: str
    lines: tuple[str, ...]
    nodes: Mapping[type, list[tuple[Any, str]]]
    calls: Mapping[str, list[tuple[int, ast.Call, str]]]
    assigned: list[tuple[str, str, ast.expr]]
    constants: Mapping[str, ast.expr]

    def list_nodes(self, kind: type[Node]) -> list[tuple[Node, str]]:
        """Return the nodes of a kind; functions of both kinds are ``ast.FunctionDef``."""
        return self.nodes.get(kind, [])

    def list_calls(self, is_wanted: Callable[[str], object]) -> list[tuple[ast.Call, str]]:
        """Return the calls of what has some last name, each with what it stands in, in the order of the text."""
        calls = (call for name, calls in self.calls.items() if is_wanted(name) for call in calls)
        return [(call, scope) for _, call, scope in sorted(calls, key=itemgetter(0))]

    def resolve_name(self, node: ast.AST | None) -> ast.AST | None:
        """Return what a name of the top level stands for, None if unknown; anything else as it is."""
        return self.constants.get(node.id) if isinstance(node, ast.Name) else node

    def read_string(self, node: ast.AST | None) -> str:
        """Return the string that an expression stands for, a literal or a constant; empty if that is unclear."""
        return read_literal(self.resolve_name(node))

    def read_argument(self, call: ast.Call, name: str, position: int | None = None) -> str:
        return self.read_string(find_argument(call, name, position))

    def read_comment(self, line: int) -> str:
        """Return the comment above a line and at its end."""
        comment: list[str] = []
        for text in map(str.strip, self.lines[max(0, line - 1 - _MAX_COMMENT_LINES) : line - 1][::-1]):
            if not text.startswith("#"):
                break
            comment.insert(0, text.lstrip("#").strip())
        _, mark, end = self.lines[line - 1].partition("  #") if 0 < line <= len(self.lines) else ("", "", "")
        return shorten_note(" ".join([*comment, end.strip()] if mark else comment))


def build_python_file(path: str, text: str, tree: ast.Module) -> PythonFile:
    """Sort the nodes of a file by what the surfaces look for, in one pass."""
    nodes: dict[type, list[tuple[Any, str]]] = defaultdict(list)
    stack: list[tuple[Any, str]] = [(tree, "")]
    while stack:
        node, scope = stack.pop()
        kind = _KEPT.get(node.__class__)
        if kind:
            nodes[kind].append((node, scope))
        if kind in {ast.ClassDef, ast.FunctionDef}:
            # in deep nests the names would grow with the square of the text
            scope = f"{scope}.{node.name}".lstrip(".")[:200]
        for value in _READERS[node.__class__](node):
            if value.__class__ is list:
                stack.extend([(item, scope) for item in reversed(value) if item.__class__ in _READERS])
            elif value.__class__ in _READERS:
                stack.append((value, scope))
    calls: dict[str, list[tuple[int, ast.Call, str]]] = defaultdict(list)
    for place, (call, scope) in enumerate(nodes[ast.Call]):
        calls[get_last_name(call.func)].append((place, call, scope))
    assigned = [
        (scope, name, node.value)
        for node, scope in nodes[ast.Assign]
        for target in node.targets
        if (name := name_expression(target))
    ]
    bound = (pair for node in tree.body for pair in list_bound(node))
    constants = {name: value for name, value in bound if value is not None}
    return PythonFile(path, tuple(text.split("\n")), dict(nodes), dict(calls), assigned, constants)


def read_literal(node: ast.AST | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def list_elements(node: ast.AST | None) -> list[ast.expr]:
    """Return the elements of a list or tuple; none of anything else."""
    return node.elts if isinstance(node, ast.List | ast.Tuple) else []


def is_true(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def name_expression(node: ast.AST | None) -> str:
    """Return a dotted name as written, ``os.environ.get``; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and len(parts) < 20:
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def get_last_name(node: ast.AST | None) -> str:
    """Return the last part of a name as written, whatever stands before it: ``c`` of ``a().b.c``."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def show_expression(node: ast.AST | None) -> str:
    try:
        return shorten_text(ast.unparse(node)) if node else ""
    except (RecursionError, ValueError, MemoryError):
        return "…"


def find_argument(call: ast.Call, name: str, position: int | None = None) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    if position is None or len(call.args) <= position:
        return None
    before = call.args[: position + 1]
    return None if any(isinstance(argument, ast.Starred) for argument in before) else call.args[position]


def list_parameters(function: Function) -> tuple[Parameters, Parameters]:
    """Return the parameters that go by position, and those that go by name alone, with their defaults."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [*[None] * (len(positional) - len(arguments.defaults)), *arguments.defaults]
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return [*zip(positional, defaults, strict=True)], [*named]


# --- annotations and signatures as text


def show_annotation(node: ast.expr | None, depth: int = 0) -> str:
    """Return an annotation on one line, equal types spelled alike: ``Optional[int]`` is ``int | None``."""
    if node is None or depth > _MAX_DEPTH:
        return show_expression(node)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return " ".join(node.value.split())
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return f"{show_annotation(node.left, depth + 1)} | {show_annotation(node.right, depth + 1)}"
    if isinstance(node, ast.Name):
        return _SPELLINGS.get(node.id, node.id)
    name = get_last_name(node.value) if isinstance(node, ast.Subscript) else ""
    # strings are values in these, and what stands beside a type is code
    if not isinstance(node, ast.Subscript) or name in {"Literal", "Annotated"}:
        return show_expression(node)
    items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    texts = [show_annotation(item, depth + 1) for item in items]
    if name == "Optional":
        return f"{texts[0]} | None" if texts else "None"
    return (
        " | ".join(texts) if name == "Union" else f"{show_annotation(node.value, depth + 1)}[{', '.join(texts)}]"
    )


def show_signature(name: str, function: Function | None) -> str:
    """Return how a function is called, as a line; only the name if the function is unknown."""
    if function is None:
        return name
    texts: tuple[list[str], list[str]] = [], []
    for shown, parameters in zip(texts, list_parameters(function), strict=True):
        for argument, default in parameters:
            annotation = f": {show_annotation(argument.annotation)}" if argument.annotation else ""
            value = f" = {show_expression(default)}" if default is not None else ""
            shown.append(f"{argument.arg}{annotation}{value}")
    positional, named = texts
    arguments = function.args
    star = [f"*{arguments.vararg.arg}"] if arguments.vararg else ["*"] if named else []
    keywords = [f"**{arguments.kwarg.arg}"] if arguments.kwarg else []
    returns = f" -> {show_annotation(function.returns)}" if function.returns else ""
    return f"{name}({', '.join([*positional, *star, *named, *keywords])}){returns}"
