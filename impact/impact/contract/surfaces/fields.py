"""Fields of classes that others fill, and flags of command lines, which may be made of such fields.

Fields are those of configuration, requests and responses, and messages between processes; flags are defined by
argparse, click or typer, or by a loop over the fields of a class.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import PurePosixPath

from impact.contract.models import ContractClass
from impact.contract.surfaces.facts import (
    Fact,
    FieldClass,
    PythonFile,
    find_argument,
    get_last_name,
    is_true,
    list_elements,
    name_expression,
    read_literal,
    read_notice,
    shorten_note,
    shorten_text,
    show_annotation,
    show_default,
    show_expression,
)
from impact.python.code_reader import is_text
from impact.python.data_classes import find_field_call

_CONFIGURATION = re.compile(r"(?:Config|Args|Settings)$")
_DATA_DECORATORS = frozenset(("dataclass", "config", "define", "attrs", "frozen", "pydantic_dataclass"))
# a default that is the one of another class's field
_REFERENCE = re.compile(
    r"(?P<owner>[A-Z]\w{0,100}(?:Config|Args))\.(?P<field>[a-z_]\w{0,100})"
    r"|get_field\((?P<class>[A-Z]\w{0,100}), ['\"](?P<name>\w{1,100})['\"]\)",
    re.A,
)
# folders of code that processes of one installation use to talk to each other
_BETWEEN_PROCESSES = frozenset(("distributed", "executor", "engine", "ipc", "rpc", "transfer", "grpc"))
_EMPTY = {"list": "[]", "dict": "{}", "set": "set()", "tuple": "()"}


def list_field_classes(file: PythonFile) -> Iterator[FieldClass]:
    """Yield the classes of a file whose fields others fill, with those of their bases' kind."""
    models: set[str] = set()
    # whether a struct is sent as an array, in which the place of a field counts
    structs: dict[str, bool] = {}
    known: set[str] = set()
    for node, scope in file.list_nodes(ast.ClassDef):
        heads = [base.value if isinstance(base, ast.Subscript) else base for base in node.bases]
        bases = tuple(filter(None, map(get_last_name, heads)))
        names = map(name_expression, node.bases)
        if any(name in {"msgspec.Struct", "Struct"} or name in structs for name in names):
            mark = next((each.value for each in node.keywords if each.arg == "array_like"), None)
            is_inherited = any(structs.get(base, False) for base in bases)
            structs[node.name] = is_true(mark) if isinstance(mark, ast.Constant) else is_inherited
        elif any(base.endswith(("BaseModel", "BaseSettings")) or base in models for base in bases):
            models.add(node.name)
        is_struct, is_model = node.name in structs, node.name in models
        subject = ContractClass.WIRE if is_struct else _choose_subject(file.path, node, bases, is_model=is_model)
        if subject and not scope.startswith("_"):
            known.add(node.name)
            yield _read_class(file, node, subject, bases, is_positional=structs.get(node.name, False))
    for name, value in file.constants.items():
        # a second name is a class that adds nothing: one of its own may take its place
        if isinstance(value, ast.Name) and value.id in known and name not in known:
            yield FieldClass(name, (value.id,))


def _choose_subject(
    path: str, node: ast.ClassDef, bases: tuple[str, ...], *, is_model: bool
) -> ContractClass | None:
    *folders, file = PurePosixPath(path).parts
    is_api = "entrypoints" in folders or "protocol" in file
    is_typed = any(base == "TypedDict" or base.endswith(("Request", "Response")) for base in bases)
    if is_api and (is_model or is_typed):
        return ContractClass.API_FIELD
    decorators = [item.func if isinstance(item, ast.Call) else item for item in node.decorator_list]
    is_data = is_model or any(get_last_name(item) in _DATA_DECORATORS for item in decorators)
    if is_data and (_CONFIGURATION.search(node.name) or "config" in folders or file == "config.py"):
        return ContractClass.CONFIGURATION
    return ContractClass.WIRE if is_model and _BETWEEN_PROCESSES.intersection((*folders, file)) else None


def _read_class(
    file: PythonFile, node: ast.ClassDef, subject: ContractClass, bases: tuple[str, ...], *, is_positional: bool
) -> FieldClass:
    fields: list[Fact] = []
    fixed: set[str] = set()
    for statement, after in zip(node.body, [*node.body[1:], None], strict=True):
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        name, annotation = statement.target.id, show_annotation(statement.annotation)
        is_no_field = annotation.startswith(("ClassVar", "typing.ClassVar")) or name == "model_config"
        if name.startswith("_") or is_no_field:
            continue
        # a text after a field is its documentation
        text = getattr(getattr(after, "value", None), "value", "") if after and is_text(after) else ""
        note = f"{shorten_note(text)} {file.read_comment(statement.lineno)}".strip()
        call = find_field_call(statement.value, statement.annotation)
        default, is_required = show_expression(statement.value), statement.value is None
        alias, is_deprecated = "", False
        if call:
            if statement.value is None or statement.value is call:
                default, is_required = _read_field_default(call)
            notes = [file.read_argument(call, key) for key in ("description", "deprecated")]
            note = shorten_note(" ".join([*notes, note]))
            written = find_argument(call, "validation_alias") or find_argument(call, "alias")
            alias = f" as {show_expression(written)}" if written else ""
            deprecated = find_argument(call, "deprecated")
            is_deprecated = isinstance(deprecated, ast.Constant) and bool(deprecated.value)
            is_fixed = getattr(find_argument(call, "init"), "value", True) is False
            fixed |= {name} if is_fixed else set()
        position = f" (position {len(fields) + 1})" if is_positional else ""
        value = f" = {default}" if default else ""
        fact = Fact(
            subject,
            f"{node.name}.{name}",
            statement.lineno,
            shorten_text(f"{name}: {annotation}{value}{alias}{position}"),
            "required" if is_required else default,
            f"{annotation}{alias}",
            note,
            read_reference(default),
        )
        fields.append(read_notice(fact, note, is_deprecated=is_deprecated))
    return FieldClass(node.name, bases, tuple(fields), frozenset(fixed))


def _read_field_default(call: ast.Call) -> tuple[str, bool]:
    """Return the default that the call of a field names, and whether there is none."""
    default = find_argument(call, "default", 0 if get_last_name(call.func) == "Field" else None)
    if default is not None and not (isinstance(default, ast.Constant) and default.value is ...):
        return show_expression(default), False
    factory = find_argument(call, "default_factory")
    if isinstance(factory, ast.Lambda):
        return show_expression(factory.body), False
    name = show_expression(factory)
    return (_EMPTY.get(name, f"{name}()"), False) if factory is not None else ("", True)


def read_reference(value: str) -> str:
    """Return the field that a default names, ``ModelConfig.dtype``; empty if it is a value of its own."""
    match = _REFERENCE.fullmatch(value)
    return f"{match['owner'] or match['class']}.{match['field'] or match['name']}" if match else ""


# --- flags

_SWITCHES = {"store_true": "off", "store_false": "on", "count": "0"}
_BOTH_WAYS = "BooleanOptionalAction"
_MAKERS = frozenset(("add_argument", "option", "Option"))
_ON_OFF = {"True": "on", "False": "off"}
# by scope and name
_Sources = Mapping[tuple[str, str], str]
_Looped = Mapping[tuple[str, str], tuple[str, ...]]


def list_flags(file: PythonFile) -> Iterator[Fact]:
    calls = file.list_calls(_MAKERS.__contains__)
    sources, looped = (_list_kwargs_sources(file), _list_looped(file)) if calls else ({}, {})
    for call, scope in calls:
        if get_last_name(call.func) == "add_argument":
            texts = (text for argument in call.args for text in _read_names(file, argument, scope, looped))
            names = [name for name in texts if name.startswith("-")]
            if names and names[0] != "--":
                yield from _list_argparse(file, call, names, _find_reference(call, scope, sources))
        else:
            yield from _list_click(file, call)


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
        table = file.resolve_name(source)
        values = table.keys if isinstance(table, ast.Dict) else getattr(table, "elts", ())
        # of a row it is the first
        heads = (each.elts[0] if isinstance(each, ast.Tuple) and each.elts else each for each in values)
        looped[scope, get_last_name(target)] = tuple(filter(None, (file.read_string(each) for each in heads)))
    return looped


def _list_argparse(file: PythonFile, call: ast.Call, names: list[str], reference: str) -> Iterator[Fact]:
    written, node = find_argument(call, "action"), find_argument(call, "default")
    action = file.read_string(written) or get_last_name(written)
    is_switch = action in _SWITCHES or action.endswith(_BOTH_WAYS)
    is_required = is_true(find_argument(call, "required"))
    if node is None and action in _SWITCHES:
        default, is_required = _SWITCHES[action], False
    elif action in {"store_true", "store_false"} and isinstance(node, ast.Constant):
        default, is_required = "on" if node.value else "off", False
    else:
        default = _show_default(node)
        default = _ON_OFF.get(default, default) if is_switch else default
    is_deprecated = is_true(find_argument(call, "deprecated")) or "deprecat" in action.lower()
    note = f"{_read_help(file, call)} {'deprecated' if is_deprecated else file.read_comment(call.lineno)}"
    shape = "" if reference else "switch" if is_switch else "value"
    for name in names:
        fact = _make_flag(name, call.lineno, default, note, is_required=is_required)
        yield replace(fact, shape=shape, reference=reference)
        if action.endswith(_BOTH_WAYS) and name.startswith("--"):
            # argparse makes it, too: it is there and goes with the other one
            yield Fact(fact.subject, f"--no-{name[2:]}", fact.line, f"--no-{name[2:]}", reference=name, owner=name)


def _read_names(file: PythonFile, node: ast.expr, scope: str, looped: _Looped) -> tuple[str, ...]:
    """Return the texts of an argument: one, or those of a loop, also behind dashes: ``f"--{name}"``."""
    if text := file.read_string(node):
        return (text,)
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    last = parts[-1].value if isinstance(parts[-1], ast.FormattedValue) else parts[-1]
    prefix = file.read_string(parts[0]) if len(parts) == 2 else ""
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


def _list_click(file: PythonFile, call: ast.Call) -> Iterator[Fact]:
    """Yield the flags of ``@click.option("--x/--no-x", default=…)`` and ``typer.Option(…, "--x")``."""
    texts = [file.read_string(argument) for argument in call.args]
    default = find_argument(call, "default")
    if default is None and get_last_name(call.func) == "Option" and texts and not texts[0].startswith("-"):
        default = call.args[0]
    note = _read_help(file, call)
    note = f"{note} deprecated" if is_true(find_argument(call, "deprecated")) else note
    is_required = is_true(find_argument(call, "required"))
    for name in (part.strip() for text in texts for part in text.split("/")):
        if name.startswith("-") and " " not in name:
            yield _make_flag(name, call.lineno, _show_default(default), note, is_required=is_required)


def _read_help(file: PythonFile, call: ast.Call) -> str:
    return shorten_note(file.read_argument(call, "help"))


def _show_default(node: ast.expr | None) -> str:
    """Return a default as a reader sees it; None and no default are the same."""
    text = show_expression(node)
    return "" if text == "None" else text


def _make_flag(name: str, line: int, default: str, note: str, *, is_required: bool) -> Fact:
    fact = Fact(ContractClass.FLAG, name, line, help=note)
    return read_notice(replace_default(fact, "required" if is_required else default), note)


def replace_default(fact: Fact, default: str, *, is_switch: bool | None = None) -> Fact:
    """Return a flag with a default, and as a switch or value if that is known; that of a switch is on or off."""
    default = _ON_OFF.get(default, default) if is_switch else default
    text = f"{fact.name} (required)" if default == "required" else show_default(fact.name, default)
    shape = fact.shape if is_switch is None else "switch" if is_switch else "value"
    return replace(fact, default=default, shape=shape, text=text)


# --- flags that are made of the fields of a class


def list_flag_classes(file: PythonFile) -> frozenset[str]:
    """Return the classes whose fields become flags one by one: ``f"--{key.replace('_', '-')}"`` in a loop."""
    arguments = ((each, scope) for call, scope in file.list_calls("add_argument".__eq__) for each in call.args)
    texts = ((each.values, scope) for each, scope in arguments if isinstance(each, ast.JoinedStr))
    scopes = {scope for parts, scope in texts if len(parts) == 2 and read_literal(parts[0]) == "--"}
    places = {(scope, owner) for (scope, _), owner in _list_kwargs_sources(file).items()} if scopes else set()
    owners = {scope: scope.split(".", 1)[0] for scope in scopes}
    return frozenset(owner for scope, owner in owners.items() if {(scope, owner), (scope, "cls")} & places)


def list_flag_overrides(file: PythonFile) -> dict[str, dict[str, tuple[str, ...]]]:
    """Return what ``kwargs["input_file"]["required"] = True`` says of the flags made of fields, by field."""
    overrides: dict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
    for node, _ in file.list_nodes(ast.Assign):
        target = node.targets[0]
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Subscript):
            field, key = file.read_string(target.value.slice), file.read_string(target.slice)
            names = (file.read_string(item) for item in list_elements(node.value))
            if field and key == "flags":
                overrides[field][key] = tuple(filter(None, names))
            elif field and key in {"default", "required", "deprecated"}:
                overrides[field][key] = (_show_default(node.value),)
    return overrides


def make_field_flags(field: Fact, override: Mapping[str, tuple[str, ...]]) -> Iterator[Fact]:
    own = "" if field.default in {"None", "required"} else field.default
    (default,) = override.get("default", (own,))
    note = f"{field.help} deprecated" if override.get("deprecated") == ("True",) else field.help
    is_required = override.get("required") == ("True",)
    for name in (*override.get("flags", ()), f"--{field.last_name.replace('_', '-')}"):
        fact = _make_flag(name, field.line, default, note, is_required=is_required)
        yield replace_default(fact, fact.default, is_switch="bool" in field.shape.split())
