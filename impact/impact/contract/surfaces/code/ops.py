from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from impact.contract.surfaces.code.annotations import show_signature
from impact.contract.surfaces.code.python_file import (
    Function,
    PythonFile,
    find_argument,
    get_last_name,
    name_expression,
    read_string,
)
from impact.contract.surfaces.facts import Fact, make_op

_NAME = re.compile(r"\s*(?:\w{1,80}::)?(\w{1,120})", re.A)


def list_python_ops(file: PythonFile) -> Iterator[Fact]:
    functions = {node.name: node for node, _ in file.functions}
    libraries = _list_libraries(file)
    for call, _ in file.calls:
        name = get_last_name(call.func)
        if name == "direct_register_custom_op":
            yield from _read_registration(file, call, functions, libraries)
        elif name == "define" and isinstance(call.func, ast.Attribute) and call.args:
            space = libraries.get(name_expression(call.func.value))
            schema = read_string(file, call.args[0])
            if space and schema and (match := _NAME.match(schema)):
                yield make_op(f"{space}.{match[1]}", call.lineno, schema)
    for function, _ in file.functions:
        yield from _read_decorators(file, function)


def _list_libraries(file: PythonFile) -> dict[str, str]:
    libraries: dict[str, str] = {}
    for placed in file.others:
        node = placed.node
        call = node.value if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) else None
        if isinstance(node, ast.Assign) and call and get_last_name(call.func) == "Library" and call.args:
            space = read_string(file, call.args[0])
            libraries |= {name_expression(target): space for target in node.targets if space}
    return libraries


def _read_registration(
    file: PythonFile, call: ast.Call, functions: Mapping[str, Function], libraries: Mapping[str, str]
) -> Iterator[Fact]:
    name = read_string(file, find_argument(call, "op_name", 0))
    if not name:
        return
    library = find_argument(call, "target_lib")
    space = libraries.get(name_expression(library), "vllm" if library is None else name_expression(library))
    function = functions.get(get_last_name(find_argument(call, "op_func", 1)))
    yield make_op(f"{space}.{name}", call.lineno, show_signature(name, function))


def _read_decorators(file: PythonFile, function: Function) -> Iterator[Fact]:
    """Yield the op of ``@torch.library.custom_op("space::name", …)`` and of ``@triton_op``."""
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and get_last_name(decorator.func) in {"custom_op", "triton_op"}:
            name = read_string(file, find_argument(decorator, "name", 0)) or ""
            space, mark, op = name.partition("::")
            if mark and op:
                yield make_op(f"{space}.{op}", function.lineno, show_signature(op, function))
