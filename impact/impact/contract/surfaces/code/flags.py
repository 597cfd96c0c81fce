"""Flags of command lines that a Python file defines: by argparse, click, typer, or made of a class's fields."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from impact.contract.models import ContractClass
from impact.contract.surfaces.code.fields import ClassField
from impact.contract.surfaces.code.python_file import (
    PythonFile,
    find_argument,
    get_last_name,
    name_expression,
    read_comment,
    read_string,
    shorten_long,
    show_expression,
)
from impact.contract.surfaces.deadlines import is_deprecation, read_deadline
from impact.contract.surfaces.facts import Fact, shorten_text

_SWITCHES = {"store_true": "off", "store_false": "on", "count": "0"}
# that a flag is passed on without a value says nothing about its default
_CLICK = frozenset(("option", "Option"))


@dataclass(frozen=True, slots=True)
class FlagOverride:
    """What code changes of a flag that is made of a field. A ``default`` of None leaves that of the field."""

    names: tuple[str, ...] = ()
    default: str | None = None
    is_required: bool = False
    is_deprecated: bool = False


def list_flags(file: PythonFile) -> Iterator[Fact]:
    sources, looped = _list_kwargs_sources(file), _list_looped(file)
    for call, scope in file.calls:
        name = get_last_name(call.func)
        if name == "add_argument":
            yield from _list_argparse(file, call, scope, sources, looped)
        elif name in _CLICK:
            yield from _list_click(file, call)


def list_flag_classes(file: PythonFile) -> frozenset[str]:
    """Return the classes whose fields become flags one by one: ``f"--{key.replace('_', '-')}"`` in a loop."""
    sources = _list_kwargs_sources(file)
    places = {(scope, owner) for (scope, _), owner in sources.items()}
    classes = set()
    for call, scope in file.calls:
        owner = scope.split(".", 1)[0]
        if get_last_name(call.func) == "add_argument" and any(map(_is_generated, call.args)):
            classes |= {owner} if {(scope, owner), (scope, "cls")} & places else set()
    return frozenset(classes)


def _is_generated(node: ast.expr) -> bool:
    first = node.values[0] if isinstance(node, ast.JoinedStr) and len(node.values) == 2 else None
    return isinstance(first, ast.Constant) and first.value == "--"


def list_flag_overrides(file: PythonFile) -> dict[str, FlagOverride]:
    """Return what ``kwargs["input_file"]["required"] = True`` says of the flags made of fields, by field."""
    overrides: dict[str, FlagOverride] = {}
    for placed in file.others:
        node = placed.node
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if not (isinstance(target, ast.Subscript) and isinstance(target.value, ast.Subscript)):
            continue
        field = read_string(file, target.value.slice)
        key = read_string(file, target.slice)
        if field and key in {"required", "default", "flags", "deprecated"} and isinstance(node, ast.Assign):
            overrides[field] = _override(file, overrides.get(field, FlagOverride()), key, node.value)
    return overrides


def _override(file: PythonFile, override: FlagOverride, key: str, value: ast.expr) -> FlagOverride:
    if key == "required":
        return replace(override, is_required=_is_true(value))
    if key == "deprecated":
        return replace(override, is_deprecated=_is_true(value))
    if key == "default":
        return replace(override, default=show_default(value))
    names = value.elts if isinstance(value, ast.List | ast.Tuple) else []
    return replace(override, names=tuple(name for item in names if (name := read_string(file, item))))


def make_field_flags(field: ClassField, override: FlagOverride | None) -> Iterator[Fact]:
    override = override or FlagOverride()
    is_switch = "bool" in field.annotation.split()
    default = "" if field.default == "None" else field.default
    default = default if override.default is None else override.default
    description = f"{field.description} deprecated" if override.is_deprecated else field.description
    for name in (*override.names, f"--{field.name.replace('_', '-')}"):
        fact = _make_fact(name, field.line, default, description, is_required=override.is_required)
        yield replace_default(fact, fact.default, is_switch=is_switch)


def replace_default(fact: Fact, default: str, *, is_switch: bool) -> Fact:
    """Return a flag with a default; that of a switch is on or off."""
    default = {"True": "on", "False": "off"}.get(default, default) if is_switch else default
    text = show_flag(fact.name, default)
    return replace(fact, default=default, shape="switch" if is_switch else "value", text=text)


def _list_kwargs_sources(file: PythonFile) -> Mapping[tuple[str, str], str]:
    """Return the configuration classes that ``kwargs = get_kwargs(ModelConfig)`` names, by scope and name."""
    sources: dict[tuple[str, str], str] = {}
    for placed in file.others:
        node = placed.node
        if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and len(node.value.args) == 1):
            continue
        owner = get_last_name(node.value.args[0])
        is_class = owner == "cls" or owner[:1].isupper()
        # what is made of the arguments afterwards is still about the same class
        if is_class and "kwargs" in get_last_name(node.value.func) and isinstance(node.targets[0], ast.Name):
            sources[(placed.scope, node.targets[0].id)] = owner
    return sources


def _list_argparse(
    file: PythonFile,
    call: ast.Call,
    scope: str,
    sources: Mapping[tuple[str, str], str],
    looped: Mapping[tuple[str, str], tuple[str, ...]],
) -> Iterator[Fact]:
    texts = (text for argument in call.args for text in _read_names(file, argument, scope, looped))
    names = [name for name in texts if name.startswith("-")]
    if not names or names[0] == "--":
        return
    reference = _find_reference(call, scope, sources)
    default, is_required = _read_default(file, call)
    help_text = shorten_long(read_string(file, find_argument(call, "help")) or "")
    action = find_argument(call, "action")
    is_deprecated = _is_true(find_argument(call, "deprecated")) or "deprecat" in get_last_name(action).lower()
    text = f"{help_text} {read_comment(file, call.lineno)}" if not is_deprecated else f"{help_text} deprecated"
    shape = "" if reference else "switch" if _is_switch(call) else "value"
    for name in names:
        fact = _make_fact(name, call.lineno, default, text, reference=reference, is_required=is_required)
        yield replace(fact, shape=shape)
        if get_last_name(action).endswith("BooleanOptionalAction") and name.startswith("--"):
            # argparse makes it, too: it is there and goes with the other one
            yield Fact(fact.subject, f"--no-{name[2:]}", fact.line, f"--no-{name[2:]}", reference=name, owner=name)


def _list_looped(file: PythonFile) -> Mapping[tuple[str, str], tuple[str, ...]]:
    """Return the texts that the variable of a loop stands for, by scope and name."""
    looped: dict[tuple[str, str], tuple[str, ...]] = {}
    for placed in file.others:
        node = placed.node
        if isinstance(node, ast.For):
            target = node.target.elts[0] if isinstance(node.target, ast.Tuple) else node.target
            func = node.iter.func if isinstance(node.iter, ast.Call) else None
            source = func.value if isinstance(func, ast.Attribute) and func.attr == "items" else node.iter
            source = file.constants.get(source.id, source) if isinstance(source, ast.Name) else source
            values = source.keys if isinstance(source, ast.Dict) else getattr(source, "elts", ())
            # of a row it is the first
            heads = (each.elts[0] if isinstance(each, ast.Tuple) and each.elts else each for each in values)
            texts = tuple(text for value in heads if (text := read_string(file, value)))
            looped[placed.scope, get_last_name(target)] = texts
    return looped


def _read_names(
    file: PythonFile, node: ast.expr, scope: str, looped: Mapping[tuple[str, str], tuple[str, ...]]
) -> tuple[str, ...]:
    """Return the texts of an argument: one, or those of a loop, also behind dashes: ``f"--{name}"``."""
    if text := read_string(file, node):
        return (text,)
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    last = parts[-1].value if isinstance(parts[-1], ast.FormattedValue) else parts[-1]
    prefix = (read_string(file, parts[0]) or "") if len(parts) == 2 else ""
    return tuple(f"{prefix}{text}" for text in looped.get((scope, get_last_name(last)), ()))


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


def _is_switch(call: ast.Call) -> bool:
    action = find_argument(call, "action")
    word = action.value if isinstance(action, ast.Constant) else get_last_name(action)
    return isinstance(word, str) and (word in _SWITCHES or word.endswith("BooleanOptionalAction"))


def _read_default(file: PythonFile, call: ast.Call) -> tuple[str, bool]:
    action = read_string(file, find_argument(call, "action")) or ""
    default = find_argument(call, "default")
    if default is None and action in _SWITCHES:
        return _SWITCHES[action], False
    if action in {"store_true", "store_false"} and isinstance(default, ast.Constant):
        return "on" if default.value else "off", False
    text = show_default(default)
    if _is_switch(call):
        text = {"True": "on", "False": "off"}.get(text, text)
    return text, _is_true(find_argument(call, "required"))


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
    if default == "required":
        return f"{name} (required)"
    return shorten_text(f"{name} default {default}" if default else name)
