"""Flags of command lines that a Python file defines: by argparse, click, typer, or made of a class's fields."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from impact.contract.models import ContractClass
from impact.contract.surfaces.facts import Fact, read_notice, show_default
from impact.contract.surfaces.fields import ClassField
from impact.contract.surfaces.python_file import (
    PythonFile,
    find_argument,
    get_last_name,
    is_true,
    list_elements,
    name_expression,
    read_comment,
    read_string,
    resolve_name,
    shorten_long,
    show_expression,
)

_SWITCHES = {"store_true": "off", "store_false": "on", "count": "0"}
_BOTH_WAYS = "BooleanOptionalAction"
_MAKERS = frozenset(("add_argument", "option", "Option"))
_ON_OFF = {"True": "on", "False": "off"}
# by scope and name
_Sources = Mapping[tuple[str, str], str]
_Looped = Mapping[tuple[str, str], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class FlagOverride:
    """What code changes of a flag that is made of a field. A ``default`` of None leaves that of the field."""

    names: tuple[str, ...] = ()
    default: str | None = None
    is_required: bool = False
    is_deprecated: bool = False


def list_flags(file: PythonFile) -> Iterator[Fact]:
    calls = file.list_calls(_MAKERS.__contains__)
    sources, looped = (_list_kwargs_sources(file), _list_looped(file)) if calls else ({}, {})
    for call, scope in calls:
        if get_last_name(call.func) == "add_argument":
            yield from _list_argparse(file, call, scope, sources, looped)
        else:
            yield from _list_click(file, call)


def list_flag_classes(file: PythonFile) -> frozenset[str]:
    """Return the classes whose fields become flags one by one: ``f"--{key.replace('_', '-')}"`` in a loop."""
    calls = file.list_calls("add_argument".__eq__)
    scopes = {scope for call, scope in calls if any(map(_is_generated, call.args))}
    places = {(scope, owner) for (scope, _), owner in _list_kwargs_sources(file).items()} if scopes else set()
    owners = {scope: scope.split(".", 1)[0] for scope in scopes}
    return frozenset(owner for scope, owner in owners.items() if {(scope, owner), (scope, "cls")} & places)


def _is_generated(node: ast.expr) -> bool:
    first = node.values[0] if isinstance(node, ast.JoinedStr) and len(node.values) == 2 else None
    return isinstance(first, ast.Constant) and first.value == "--"


def list_flag_overrides(file: PythonFile) -> dict[str, FlagOverride]:
    """Return what ``kwargs["input_file"]["required"] = True`` says of the flags made of fields, by field."""
    overrides: dict[str, FlagOverride] = {}
    for node, _ in file.list_nodes(ast.Assign):
        target = node.targets[0]
        if not (isinstance(target, ast.Subscript) and isinstance(target.value, ast.Subscript)):
            continue
        field, key = read_string(file, target.value.slice), read_string(file, target.slice)
        if not field:
            continue
        override = overrides.get(field, FlagOverride())
        if key == "required":
            overrides[field] = replace(override, is_required=is_true(node.value))
        elif key == "deprecated":
            overrides[field] = replace(override, is_deprecated=is_true(node.value))
        elif key == "default":
            overrides[field] = replace(override, default=_show_default(node.value))
        elif key == "flags":
            names = (read_string(file, item) for item in list_elements(node.value))
            overrides[field] = replace(override, names=tuple(filter(None, names)))
    return overrides


def make_field_flags(field: ClassField, override: FlagOverride) -> Iterator[Fact]:
    default = "" if field.default == "None" else field.default
    default = default if override.default is None else override.default
    description = f"{field.description} deprecated" if override.is_deprecated else field.description
    for name in (*override.names, f"--{field.name.replace('_', '-')}"):
        fact = _make_flag(name, field.line, default, description, is_required=override.is_required)
        yield replace_default(fact, fact.default, is_switch="bool" in field.annotation.split())


def replace_default(fact: Fact, default: str, *, is_switch: bool) -> Fact:
    """Return a flag with a default; that of a switch is on or off."""
    default = _ON_OFF.get(default, default) if is_switch else default
    text = _show_flag(fact.name, default)
    return replace(fact, default=default, shape="switch" if is_switch else "value", text=text)


def _list_kwargs_sources(file: PythonFile) -> _Sources:
    """Return the configuration classes that ``kwargs = get_kwargs(ModelConfig)`` names."""
    sources = {}
    for scope, name, value in file.assigned:
        if isinstance(value, ast.Call) and len(value.args) == 1 and "kwargs" in get_last_name(value.func):
            owner = get_last_name(value.args[0])
            # what is made of the arguments afterwards is still about the same class
            if owner == "cls" or owner[:1].isupper():
                sources[scope, name] = owner
    return sources


def _list_looped(file: PythonFile) -> _Looped:
    """Return the texts that the variable of a loop stands for."""
    looped = {}
    for node, scope in file.list_nodes(ast.For):
        target = node.target.elts[0] if isinstance(node.target, ast.Tuple) else node.target
        func = node.iter.func if isinstance(node.iter, ast.Call) else None
        source = func.value if isinstance(func, ast.Attribute) and func.attr == "items" else node.iter
        table = resolve_name(file, source)
        values = table.keys if isinstance(table, ast.Dict) else getattr(table, "elts", ())
        # of a row it is the first
        heads = (each.elts[0] if isinstance(each, ast.Tuple) and each.elts else each for each in values)
        looped[scope, get_last_name(target)] = tuple(filter(None, (read_string(file, each) for each in heads)))
    return looped


def _list_argparse(
    file: PythonFile, call: ast.Call, scope: str, sources: _Sources, looped: _Looped
) -> Iterator[Fact]:
    texts = (text for argument in call.args for text in _read_names(file, argument, scope, looped))
    names = [name for name in texts if name.startswith("-")]
    if not names or names[0] == "--":
        return
    reference = _find_reference(call, scope, sources)
    default, is_required = _read_default(file, call)
    text = _read_help(file, call)
    action = get_last_name(find_argument(call, "action"))
    if is_true(find_argument(call, "deprecated")) or "deprecat" in action.lower():
        text = f"{text} deprecated"
    else:
        text = f"{text} {read_comment(file, call.lineno)}"
    shape = "" if reference else "switch" if _is_switch(call) else "value"
    for name in names:
        fact = _make_flag(name, call.lineno, default, text, is_required=is_required)
        yield replace(fact, shape=shape, reference=reference)
        if action.endswith(_BOTH_WAYS) and name.startswith("--"):
            # argparse makes it, too: it is there and goes with the other one
            yield Fact(fact.subject, f"--no-{name[2:]}", fact.line, f"--no-{name[2:]}", reference=name, owner=name)


def _read_names(file: PythonFile, node: ast.expr, scope: str, looped: _Looped) -> tuple[str, ...]:
    """Return the texts of an argument: one, or those of a loop, also behind dashes: ``f"--{name}"``."""
    if text := read_string(file, node):
        return (text,)
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    last = parts[-1].value if isinstance(parts[-1], ast.FormattedValue) else parts[-1]
    prefix = (read_string(file, parts[0]) or "") if len(parts) == 2 else ""
    return tuple(f"{prefix}{text}" for text in looped.get((scope, get_last_name(last)), ()))


def _find_reference(call: ast.Call, scope: str, sources: _Sources) -> str:
    """Return the field behind ``**model_kwargs["dtype"]``: ``ModelConfig.dtype``."""
    for keyword in call.keywords:
        value = keyword.value
        # the default alone may come from there: model_kwargs["hf_token"]["default"]
        if keyword.arg == "default" and isinstance(value, ast.Subscript):
            value = value.value
        elif keyword.arg is not None:
            continue
        if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Constant):
            owner = sources.get((scope, name_expression(value.value)))
            if owner and isinstance(value.slice.value, str):
                return f"{owner}.{value.slice.value}"
    return ""


def _is_switch(call: ast.Call) -> bool:
    action = find_argument(call, "action")
    word = str(action.value) if isinstance(action, ast.Constant) else get_last_name(action)
    return word in _SWITCHES or word.endswith(_BOTH_WAYS)


def _read_default(file: PythonFile, call: ast.Call) -> tuple[str, bool]:
    """Return a flag's default and whether it has to be passed."""
    action = read_string(file, find_argument(call, "action")) or ""
    default = find_argument(call, "default")
    if default is None and action in _SWITCHES:
        return _SWITCHES[action], False
    if action in {"store_true", "store_false"} and isinstance(default, ast.Constant):
        return "on" if default.value else "off", False
    text = _show_default(default)
    return _ON_OFF.get(text, text) if _is_switch(call) else text, is_true(find_argument(call, "required"))


def _show_default(node: ast.expr | None) -> str:
    """Return a default as a reader sees it; None and no default are the same."""
    text = show_expression(node)
    return "" if text == "None" else text


def _list_click(file: PythonFile, call: ast.Call) -> Iterator[Fact]:
    """Yield the flags of ``@click.option("--x/--no-x", default=…)`` and ``typer.Option(…, "--x")``."""
    texts = [read_string(file, argument) or "" for argument in call.args]
    parts = (part.strip() for text in texts for part in text.split("/"))
    default = find_argument(call, "default")
    if default is None and get_last_name(call.func) == "Option" and texts and not texts[0].startswith("-"):
        default = call.args[0]
    text = _read_help(file, call)
    if is_true(find_argument(call, "deprecated")):
        text = f"{text} deprecated"
    is_required = is_true(find_argument(call, "required"))
    for name in parts:
        if name.startswith("-") and " " not in name:
            yield _make_flag(name, call.lineno, _show_default(default), text, is_required=is_required)


def _read_help(file: PythonFile, call: ast.Call) -> str:
    return shorten_long(read_string(file, find_argument(call, "help")) or "")


def _make_flag(name: str, line: int, default: str, help_text: str, *, is_required: bool) -> Fact:
    default = "required" if is_required else default
    fact = Fact(ContractClass.FLAG, name, line, _show_flag(name, default), default, help=help_text)
    return read_notice(fact, help_text)


def _show_flag(name: str, default: str) -> str:
    return f"{name} (required)" if default == "required" else show_default(name, default)
