"""Metrics that a Python file registers with prometheus_client or a wrapper of it: name, type and labels."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from impact.contract.models import ContractClass
from impact.contract.surfaces.code.python_file import (
    PythonFile,
    find_argument,
    get_last_name,
    read_comment,
    read_string,
    shorten_long,
    show_expression,
)
from impact.contract.surfaces.deadlines import is_deprecation, read_deadline
from impact.contract.surfaces.facts import Fact, shorten_text
from impact.python.fingerprint import show_constant

_NAME = re.compile(r"[A-Za-z_:][A-Za-z0-9_:]{2,120}", re.A)
_TYPES = ("gauge", "counter", "histogram", "summary")
_HIDDEN = "show_hidden"


def list_metrics(file: PythonFile) -> Iterator[Fact]:
    """Yield the metrics of a file; a hidden one is registered only on demand."""
    lists = _list_label_lists(file)
    hidden = _list_hidden_lines(file)
    for call, scope in file.calls:
        kind = _read_type(call)
        name = read_string(file, find_argument(call, "name", 0)) if kind else None
        if name is None or not _NAME.fullmatch(name) or not _is_registration(call):
            continue
        names = find_argument(call, "labelnames", 2)
        labels = ", ".join(_read_labels(names, scope, lists)) if names else ""
        documentation = shorten_long(read_string(file, find_argument(call, "documentation", 1)) or "")
        comment = f"{documentation} {read_comment(file, call.lineno)}"
        is_hidden = call.lineno in hidden
        is_deprecated = is_hidden or is_deprecation(comment)
        yield Fact(
            ContractClass.METRIC,
            name,
            call.lineno,
            text=shorten_text(f"{kind} {name} {{{labels}}}" if labels else f"{kind} {name}"),
            shape=f"{kind} {labels}",
            help=documentation,
            is_deprecated=is_deprecated,
            deadline=read_deadline(comment) if is_deprecated else None,
        )


def _read_type(call: ast.Call) -> str:
    """Return the type of metric that a call makes by the name of what it calls: ``Gauge``, ``self._gauge_cls``."""
    name = get_last_name(call.func)
    if isinstance(call.func, ast.Attribute) and get_last_name(call.func.value) in {
        "collections",
        "typing",
        "ray_metrics",
    }:
        return ""
    plain = name.strip("_").lower().removesuffix("_cls").removesuffix("_class").removesuffix("wrapper")
    plain = plain.removeprefix("ray").removeprefix("prometheus").strip("_")
    return plain if plain in _TYPES else ""


def _is_registration(call: ast.Call) -> bool:
    """Tell a metric from ``collections.Counter("text")``: it has a documentation."""
    return len(call.args) > 1 or any(keyword.arg in {"documentation", "labelnames"} for keyword in call.keywords)


def _list_label_lists(file: PythonFile) -> Mapping[tuple[str, str], ast.expr]:
    lists: dict[tuple[str, str], ast.expr] = {("", name): value for name, value in file.constants.items()}
    for placed in file.others:
        node = placed.node
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            name = get_last_name(node.targets[0])
            if isinstance(node.value, ast.List | ast.Tuple | ast.BinOp):
                lists[(placed.scope, name)] = node.value
    return lists


def _read_labels(
    node: ast.expr, scope: str, lists: Mapping[tuple[str, str], ast.expr], depth: int = 0
) -> Iterator[str]:
    if depth > 8:
        return
    if isinstance(node, ast.Name | ast.Attribute):
        name = get_last_name(node)
        value = lists.get((scope, name)) or lists.get(("", name))
        if value is not None:
            yield from _read_labels(value, scope, lists, depth + 1)
        else:
            yield f"*{name}"
    elif isinstance(node, ast.List | ast.Tuple):
        for item in node.elts:
            if isinstance(item, ast.Constant):
                yield item.value if isinstance(item.value, str) else show_constant(item.value)
            else:
                yield from _read_labels(item, scope, lists, depth + 1)
    elif isinstance(node, ast.BinOp):
        yield from _read_labels(node.left, scope, lists, depth + 1)
        yield from _read_labels(node.right, scope, lists, depth + 1)
    else:
        yield show_expression(node)


def _list_hidden_lines(file: PythonFile) -> frozenset[int]:
    """Return the lines that run only if hidden metrics are shown."""
    lines: set[int] = set()
    if not any(_HIDDEN in line for line in file.lines):
        return frozenset()
    end = 0
    for placed in file.others:
        node = placed.node
        # what stands inside of the last one is known already
        if isinstance(node, ast.If) and node.lineno > end and _HIDDEN in show_expression(node.test):
            end = node.body[-1].end_lineno or node.lineno
            lines.update(range(node.lineno, end + 1))
    return frozenset(lines)
