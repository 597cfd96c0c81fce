"""What a Python file registers by name: metrics, ops, entry points, and groups in which plugins are looked for."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from impact.contract.models import ContractClass
from impact.contract.surfaces.facts import Fact, make_op, read_notice, shorten_text
from impact.contract.surfaces.python_file import (
    PythonFile,
    find_argument,
    get_last_name,
    list_elements,
    name_expression,
    read_comment,
    read_string,
    resolve_name,
    shorten_long,
    show_expression,
    show_signature,
)
from impact.python.code_reader import show_constant

_METRIC_NAME = re.compile(r"[A-Za-z_:][A-Za-z0-9_:]{2,120}", re.A)
_METRIC_TYPES = ("gauge", "counter", "histogram", "summary")
# modules with classes of the same names
_NO_METRICS = frozenset(("collections", "typing", "ray_metrics"))
_HIDDEN = "show_hidden"
OP_NAME = re.compile(r"\s*(?:\w{1,80}::)?(\w{1,120})", re.A)
_GROUP = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)+", re.A)
_LOOKUPS = ("entry_points", "plugins_by_group", "iter_entry_points")
_Lists = Mapping[tuple[str, str], ast.expr]


def list_metrics(file: PythonFile) -> Iterator[Fact]:
    """Yield the metrics of a file, by prometheus_client or a wrapper of it; a hidden one is deprecated."""
    calls = file.list_calls(_read_type)
    lists = {("", name): value for name, value in file.constants.items()}
    for scope, name, value in file.assigned if calls else ():
        if isinstance(value, ast.List | ast.Tuple | ast.BinOp):
            lists[scope, name.rpartition(".")[2]] = value
    hidden = _list_hidden_lines(file) if calls else frozenset()
    for call, scope in calls:
        is_other = isinstance(call.func, ast.Attribute) and get_last_name(call.func.value) in _NO_METRICS
        kind = "" if is_other else _read_type(get_last_name(call.func))
        name = (read_string(file, find_argument(call, "name", 0)) or "") if kind else ""
        # collections.Counter("text") has no documentation
        is_registered = len(call.args) > 1 or any(
            keyword.arg in {"documentation", "labelnames"} for keyword in call.keywords
        )
        if not _METRIC_NAME.fullmatch(name) or not is_registered:
            continue
        names = find_argument(call, "labelnames", 2)
        labels = ", ".join(_read_labels(names, scope, lists)) if names else ""
        documentation = shorten_long(read_string(file, find_argument(call, "documentation", 1)) or "")
        text = shorten_text(f"{kind} {name} {{{labels}}}" if labels else f"{kind} {name}")
        shape = f"{kind} {labels}"
        fact = Fact(ContractClass.METRIC, name, call.lineno, text, shape=shape, help=documentation)
        comment = f"{documentation} {read_comment(file, call.lineno)}"
        yield read_notice(fact, comment, is_deprecated=call.lineno in hidden)


def _read_type(name: str) -> str:
    """Return the type of metric that a call makes by the last name of what it calls: ``Gauge``, ``_gauge_cls``."""
    plain = name.strip("_").lower()
    plain = plain.removesuffix("_cls").removesuffix("_class").removesuffix("wrapper")
    plain = plain.removeprefix("ray").removeprefix("prometheus").strip("_")
    return plain if plain in _METRIC_TYPES else ""


def _read_labels(node: ast.expr, scope: str, lists: _Lists, depth: int = 0) -> Iterator[str]:
    parts = [node.left, node.right] if isinstance(node, ast.BinOp) else list_elements(node)
    if isinstance(node, ast.Name | ast.Attribute):
        name = get_last_name(node)
        value = lists.get((scope, name)) or lists.get(("", name))
        if value is None:
            yield f"*{name}"
        else:
            parts = [value]
    elif not isinstance(node, ast.BinOp | ast.List | ast.Tuple):
        yield show_expression(node)
    for part in parts if depth < 8 else ():
        if isinstance(part, ast.Constant):
            yield part.value if isinstance(part.value, str) else show_constant(part.value)
        else:
            yield from _read_labels(part, scope, lists, depth + 1)


def _list_hidden_lines(file: PythonFile) -> frozenset[int]:
    """Return the lines that run only if hidden metrics are shown."""
    lines: set[int] = set()
    end = 0
    for node, _ in file.list_nodes(ast.If) if any(_HIDDEN in line for line in file.lines) else ():
        # what stands inside of the last one is known already
        if node.lineno > end and _HIDDEN in show_expression(node.test):
            end = node.body[-1].end_lineno or node.lineno
            lines.update(range(node.lineno, end + 1))
    return frozenset(lines)


# --- ops


def list_python_ops(file: PythonFile) -> Iterator[Fact]:
    """Yield the ops that a file defines: by a library, ``direct_register_custom_op`` or a decorator."""
    functions = {node.name: node for node, _ in file.list_nodes(ast.FunctionDef)}
    libraries: dict[str, str] = {}
    for _, name, value in file.assigned:
        if isinstance(value, ast.Call) and get_last_name(value.func) == "Library" and value.args:
            libraries |= {name: space} if (space := read_string(file, value.args[0])) else {}
    for call, _ in file.list_calls({"direct_register_custom_op", "define"}.__contains__):
        last = get_last_name(call.func)
        if last == "direct_register_custom_op" and (op := read_string(file, find_argument(call, "op_name", 0))):
            library = find_argument(call, "target_lib")
            written = name_expression(library)
            space = libraries.get(written, "vllm" if library is None else written)
            function = functions.get(get_last_name(find_argument(call, "op_func", 1)))
            yield make_op(f"{space}.{op}", call.lineno, show_signature(op, function))
        elif last == "define" and isinstance(call.func, ast.Attribute) and call.args:
            space = libraries.get(name_expression(call.func.value), "")
            schema = read_string(file, call.args[0]) or ""
            if space and (match := OP_NAME.match(schema)):
                yield make_op(f"{space}.{match[1]}", call.lineno, schema)
    for function, _ in file.list_nodes(ast.FunctionDef):
        for decorator in function.decorator_list:
            # @torch.library.custom_op("space::name", …)
            if isinstance(decorator, ast.Call) and get_last_name(decorator.func) in {"custom_op", "triton_op"}:
                space, _, op = (read_string(file, find_argument(decorator, "name", 0)) or "").partition("::")
                if op:
                    yield make_op(f"{space}.{op}", function.lineno, show_signature(op, function))


# --- entry points


def list_setup_entry_points(file: PythonFile) -> Iterator[Fact]:
    for call, _ in file.list_calls("setup".__eq__):
        table = resolve_name(file, find_argument(call, "entry_points"))
        if not isinstance(table, ast.Dict):
            continue
        for key, items in zip(table.keys, table.values, strict=True):
            group = read_string(file, key)
            for item in list_elements(items) if group else ():
                name, mark, target = (read_string(file, item) or "").partition("=")
                if mark:
                    yield make_entry_point(str(group), name.strip(), target.strip(), item.lineno)


def list_plugin_groups(file: PythonFile) -> Iterator[Fact]:
    """Yield the groups in which a package looks for the plugins of others."""
    for call, _ in file.list_calls(lambda name: name.endswith(_LOOKUPS)):
        yield from _list_group(read_string(file, find_argument(call, "group", 0)), call.lineno, is_loose=True)
    for name, value in file.constants.items():
        if name.endswith("_GROUP") and "PLUGIN" in name:
            yield from _list_group(read_string(file, value), value.lineno, is_loose=False)


def _list_group(group: str | None, line: int, *, is_loose: bool) -> Iterator[Fact]:
    if group and _GROUP.fullmatch(group):
        text = f"plugins in the group {group}"
        yield Fact(ContractClass.ENTRY_POINT, group, line, text, is_loose=is_loose)


def make_entry_point(group: str, name: str, target: str, line: int) -> Fact:
    text = shorten_text(f"{group}: {name} = {target}")
    return Fact(ContractClass.ENTRY_POINT, f"{group}:{name}", line, text, default=target)
