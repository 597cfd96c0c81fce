"""Type annotations as text, in one spelling: ``Optional[int]`` and ``"int | None"`` are ``int | None``."""

from __future__ import annotations

import ast

from impact.contract.surfaces.code.python_file import Function, get_last_name, show_expression

_MAX_DEPTH = 12
_SPELLINGS = {
    "List": "list",
    "Dict": "dict",
    "Tuple": "tuple",
    "Set": "set",
    "Type": "type",
    "FrozenSet": "frozenset",
}
_MAX_PARAMETERS = 200


def show_annotation(node: ast.expr | None, depth: int = 0) -> str:
    """Return an annotation on one line; equal types are spelled alike."""
    if node is None or depth > _MAX_DEPTH:
        return show_expression(node)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return " ".join(node.value.split())
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return f"{show_annotation(node.left, depth + 1)} | {show_annotation(node.right, depth + 1)}"
    if isinstance(node, ast.Subscript):
        return _show_subscript(node, depth)
    if isinstance(node, ast.Name):
        return _SPELLINGS.get(node.id, node.id)
    return show_expression(node)


def _show_subscript(node: ast.Subscript, depth: int) -> str:
    name = get_last_name(node.value)
    items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if name in {"Literal", "Annotated"}:
        # strings are values in there, and what stands beside a type is code
        return show_expression(node)
    texts = [show_annotation(item, depth + 1) for item in items]
    if name == "Optional":
        return f"{texts[0]} | None" if texts else "None"
    if name == "Union":
        return " | ".join(texts)
    return f"{show_annotation(node.value, depth + 1)}[{', '.join(texts)}]"


def show_signature(name: str, function: Function | None) -> str:
    """Return how a function is called, as a line; only the name if the function is unknown."""
    if function is None:
        return name
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args][:_MAX_PARAMETERS]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)
    parts = [_show_parameter(item, default) for item, default in zip(positional, defaults, strict=False)]
    parts += [f"*{arguments.vararg.arg}"] if arguments.vararg else ["*"] if arguments.kwonlyargs else []
    named = zip(arguments.kwonlyargs[:_MAX_PARAMETERS], arguments.kw_defaults, strict=False)
    parts += [_show_parameter(item, default) for item, default in named]
    parts += [f"**{arguments.kwarg.arg}"] if arguments.kwarg else []
    returns = f" -> {show_annotation(function.returns)}" if function.returns else ""
    return f"{name}({', '.join(parts)}){returns}"


def _show_parameter(argument: ast.arg, default: ast.expr | None) -> str:
    text = f"{argument.arg}: {show_annotation(argument.annotation)}" if argument.annotation else argument.arg
    return f"{text} = {show_expression(default)}" if default is not None else text
