"""Flags of command lines that a Python file defines: by argparse, click, typer, or made of a class's fields."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from bot.domain.contract.models import ContractClass
from bot.domain.contract.surfaces.code.fields import list_class_fields
from bot.domain.contract.surfaces.code.python_file import (
    PythonFile,
    find_argument,
    get_last_name,
    name_expression,
    read_comment,
    read_string,
    shorten_long,
    show_expression,
)
from bot.domain.contract.surfaces.deadlines import is_deprecation, read_deadline
from bot.domain.contract.surfaces.facts import Fact, shorten_text

_SWITCHES = {"store_true": "off", "store_false": "on", "count": "0"}
# that a flag is passed on without a value says nothing about its default
_CLICK = frozenset(("option", "Option"))


def list_flags(file: PythonFile) -> Iterator[Fact]:
    """Yield the flags of a file."""
    sources = _list_kwargs_sources(file)
    generators: dict[str, bool] = {}
    for call, scope in file.calls:
        name = get_last_name(call.func)
        if name == "add_argument":
            if call.args and isinstance(call.args[0], ast.JoinedStr):
                owner = _find_generated_class(file, call.args[0], scope, sources)
                generators |= {owner: True} if owner else {}
            else:
                yield from _list_argparse(file, call, scope, sources)
        elif name in _CLICK:
            yield from _list_click(file, call)
    for node, _ in file.classes:
        if node.name in generators:
            yield from _list_generated(file, node)


def _list_kwargs_sources(file: PythonFile) -> Mapping[tuple[str, str], str]:
    """Return the configuration classes that ``kwargs = get_kwargs(ModelConfig)`` names, by scope and name."""
    sources: dict[tuple[str, str], str] = {}
    for placed in file.others:
        node = placed.node
        if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and len(node.value.args) == 1):
            continue
        if "kwargs" in get_last_name(node.value.func) and isinstance(node.targets[0], ast.Name):
            sources[(placed.scope, node.targets[0].id)] = get_last_name(node.value.args[0])
    return sources


def _find_generated_class(
    file: PythonFile, name: ast.JoinedStr, scope: str, sources: Mapping[tuple[str, str], str]
) -> str:
    """Return the class whose fields become flags one by one: ``f"--{key.replace('_', '-')}"`` in a loop."""
    first = name.values[0] if name.values else None
    if not (isinstance(first, ast.Constant) and first.value == "--" and len(name.values) == 2):
        return ""
    owners = {owner for (place, _), owner in sources.items() if place == scope}
    owner = scope.split(".", 1)[0]
    return owner if owner in owners else ""


def _list_generated(file: PythonFile, node: ast.ClassDef) -> Iterator[Fact]:
    for field in list_class_fields(file, node):
        if field.is_private or not field.is_settable:
            continue
        flag = f"--{field.name.replace('_', '-')}"
        default = "" if field.default == "None" else field.default
        yield _make_fact(flag, field.line, default, field.description)


def _list_argparse(
    file: PythonFile, call: ast.Call, scope: str, sources: Mapping[tuple[str, str], str]
) -> Iterator[Fact]:
    names = [name for argument in call.args if (name := read_string(file, argument)) and name.startswith("-")]
    if not names or names[0] == "--":
        return
    reference = _find_reference(call, scope, sources)
    default, is_required = _read_default(file, call)
    help_text = shorten_long(read_string(file, find_argument(call, "help")) or "")
    action = find_argument(call, "action")
    is_deprecated = _is_true(find_argument(call, "deprecated")) or "deprecat" in get_last_name(action).lower()
    text = f"{help_text} {read_comment(file, call.lineno)}" if not is_deprecated else f"{help_text} deprecated"
    for name in names:
        yield _make_fact(name, call.lineno, default, text, reference=reference, is_required=is_required)


def _find_reference(call: ast.Call, scope: str, sources: Mapping[tuple[str, str], str]) -> str:
    """Return the field behind ``**model_kwargs["dtype"]``: ``ModelConfig.dtype``."""
    for keyword in call.keywords:
        value = keyword.value
        # the default alone may come from there: model_kwargs["hf_token"]["default"]
        if (
            keyword.arg == "default"
            and isinstance(value, ast.Subscript)
            and isinstance(value.value, ast.Subscript)
        ):
            value = value.value
        elif keyword.arg is not None:
            continue
        if not (isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Constant)):
            continue
        owner = sources.get((scope, name_expression(value.value)))
        if owner and isinstance(value.slice.value, str):
            return f"{owner}.{value.slice.value}"
    return ""


def _read_default(file: PythonFile, call: ast.Call) -> tuple[str, bool]:
    action = read_string(file, find_argument(call, "action")) or ""
    default = find_argument(call, "default")
    if default is None and action in _SWITCHES:
        return _SWITCHES[action], False
    if action in {"store_true", "store_false"} and isinstance(default, ast.Constant):
        return "on" if default.value else "off", False
    return show_default(default), _is_true(find_argument(call, "required"))


def show_default(node: ast.expr | None) -> str:
    """Return a default as a reader sees it; None and no default are the same."""
    if isinstance(node, ast.Constant) and node.value is None:
        return ""
    return show_expression(node)


def _is_true(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _list_click(file: PythonFile, call: ast.Call) -> Iterator[Fact]:
    """Yield the flags of ``@click.option("--x/--no-x", default=…)`` and ``typer.Option(…, "--x")``."""
    names: list[str] = []
    for argument in call.args:
        text = read_string(file, argument) or ""
        names += [
            part.strip() for part in text.split("/") if part.strip().startswith("-") and " " not in part.strip()
        ]
    default = find_argument(call, "default")
    if default is None and get_last_name(call.func) == "Option" and call.args:
        first = call.args[0]
        default = None if (read_string(file, first) or "").startswith("-") else first
    help_text = shorten_long(read_string(file, find_argument(call, "help")) or "")
    if _is_true(find_argument(call, "deprecated")):
        help_text = f"{help_text} deprecated"
    is_required = _is_true(find_argument(call, "required"))
    for name in names:
        yield _make_fact(name, call.lineno, show_default(default), help_text, is_required=is_required)


def _make_fact(
    name: str, line: int, default: str, help_text: str, *, reference: str = "", is_required: bool = False
) -> Fact:
    is_deprecated = is_deprecation(help_text)
    if is_required:
        default = "required"
    return Fact(
        ContractClass.FLAG,
        name,
        line,
        text=show_flag(name, default),
        default=default,
        help=help_text,
        reference=reference,
        is_deprecated=is_deprecated,
        deadline=read_deadline(help_text) if is_deprecated else None,
    )


def show_flag(name: str, default: str) -> str:
    """Return a flag and its default as a reader sees them."""
    if default == "required":
        return f"{name} (required)"
    return shorten_text(f"{name} default {default}" if default else name)
