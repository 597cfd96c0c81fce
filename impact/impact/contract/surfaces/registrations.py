"""What a Python file reads or registers by name: environment variables, endpoints, metrics, ops, entry points.

And what it warns of: the variables, flags and fields that will go.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from impact.contract.deprecations import is_deprecation
from impact.contract.models import ContractClass
from impact.contract.surfaces.facts import (
    Fact,
    PythonFile,
    find_argument,
    get_last_name,
    is_true,
    list_elements,
    list_parameters,
    make_entry_point,
    make_op,
    make_variable,
    name_expression,
    read_literal,
    read_notice,
    shorten_note,
    shorten_text,
    show_default,
    show_expression,
    show_signature,
)
from impact.python.code_reader import show_constant

# --- environment variables

_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{2,79}", re.A)
_GETTERS = frozenset(("os.getenv", "os.environ.get", "environ.get", "getenv"))
_GETS = frozenset(("getenv", "get"))
_UNSET = ("None", "''")


def list_python_variables(file: PythonFile) -> Iterator[Fact]:
    """Yield the variables that tables declare, then those that are read elsewhere in the file."""
    reads = [
        (call, scope, file.read_string(call.args[0]))
        for call, scope in file.list_calls(_GETS.__contains__)
        if name_expression(call.func) in _GETTERS and call.args
    ]
    getters = {(scope, name): call for call, scope, name in reversed(reads)}
    declared: set[str] = set()
    for table in (each for each in file.constants.values() if isinstance(each, ast.Dict)):
        pairs = zip(table.keys, table.values, strict=True)
        named = [
            (key.lineno, name, value)
            for key, value in pairs
            if key and (name := read_literal(key)) and _VARIABLE.fullmatch(name)
        ]
        # it reads a variable under its own name
        if any(isinstance(value, ast.Lambda) and _find_getter(value, name) for _, name, value in named):
            declared |= {name for _, name, _ in named}
            for line, name, value in named:
                getter = getters.get((name_expression(value), name))
                call = getter if isinstance(value, ast.Name) else _find_getter(value, name)
                default = _show_value(find_argument(call, "default", 1)) if call else ""
                body = value.body if isinstance(value, ast.Lambda) else value
                # what follows "or" applies if the variable is empty
                if isinstance(body, ast.BoolOp) and isinstance(body.op, ast.Or):
                    last = body.values[-1]
                    default = default or (_show_value(last) if isinstance(last, ast.Constant) else "")
                yield _make_commented(file, name, default, line)
    read: list[tuple[ast.Call | ast.Subscript, str]] = [(call, name) for call, _, name in reads]
    for node, _ in file.list_nodes(ast.Subscript):
        if isinstance(node.ctx, ast.Load) and get_last_name(node.value) == "environ":
            read.append((node, file.read_string(node.slice)))
    own = f"{PurePosixPath(file.path).parts[0].upper()}_"
    for each, name in read:
        if _VARIABLE.fullmatch(name) and name not in declared and name.startswith(own):
            default = _show_value(find_argument(each, "default", 1)) if isinstance(each, ast.Call) else ""
            yield _make_commented(file, name, default, each.lineno, is_loose=True)


def _find_getter(node: ast.AST, name: str) -> ast.Call | None:
    """Return the first call that reads a variable: by ``os.getenv`` and the like if there is one."""
    calls = [
        child
        for child in ast.walk(node)
        if isinstance(child, ast.Call) and child.args and getattr(child.args[0], "value", None) == name
    ]
    return next((call for call in calls if name_expression(call.func) in _GETTERS), calls[0] if calls else None)


def _show_value(node: ast.expr | None) -> str:
    text = read_literal(node) or show_expression(node.body if isinstance(node, ast.Lambda) else node)
    return "" if text in _UNSET else text


def _make_commented(file: PythonFile, name: str, default: str, line: int, *, is_loose: bool = False) -> Fact:
    comment = file.read_comment(line)
    return read_notice(make_variable(name, line, default, comment, is_loose=is_loose), comment)


# --- warnings

_WARNERS = frozenset(("warn", "warning", "warning_once", "warn_once", "error", "info_once", "warn_deprecated"))
_SUBJECT = re.compile(
    r"^(?P<subject>.{1,300}?)\b(?:is|are|has been|have been|was|will be|to be)\s+(?:now\s+)?"
    r"(?:deprecated|removed|renamed)\b",
    re.I | re.S,
)
# what a warning may be about, the first that it names counts; a value of a flag, --convert reward, is not the flag
_SUBJECTS = (
    (ContractClass.FLAG, re.compile(r"(?<![\w-])--[a-z0-9][\w-]{1,80}(?![\w-]|[ =][\w])", re.A)),
    (ContractClass.ENVIRONMENT, re.compile(r"\b[A-Z][A-Z0-9]{1,30}_[A-Z0-9_]{1,80}\b", re.A)),
)
_QUOTED = re.compile(r"[`'\"]([A-Za-z_][\w.]{1,80})(?:\(\))?[`'\"]", re.A)
_MAX_LENGTH = 2000


def list_warnings(file: PythonFile, fields: Mapping[str, Fact]) -> Iterator[Fact]:
    """Yield what a file warns of; ``fields`` are those that it defines, by their last name."""
    calls = file.list_calls(_WARNERS.__contains__)
    is_named = any(isinstance(argument, ast.Name) for call, _ in calls for argument in call.args[:1])
    assigned = file.assigned if is_named else ()
    texts = {(scope, name): text for scope, name, value in assigned if (text := _join_text(value))}
    for call, scope in calls:
        message = call.args[0] if call.args else None
        text = _join_text(message)
        if isinstance(message, ast.Name):
            text = texts.get((scope, message.id)) or file.read_string(message)
        match = _SUBJECT.match(text) if is_deprecation(text) else None
        if match and (about := _find_subject(match["subject"], fields)):
            yield read_notice(Fact(*about, call.lineno, shorten_text(text)), text, is_deprecated=True)


def _join_text(node: ast.expr | None) -> str:
    """Return a literal text; what is filled in becomes ``{}``."""
    parts = node.values[:50] if isinstance(node, ast.JoinedStr) else []
    filled = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts)
    return (read_literal(node) or filled)[:_MAX_LENGTH]


def _find_subject(text: str, fields: Mapping[str, Fact]) -> tuple[ContractClass, str] | None:
    for subject, pattern in _SUBJECTS:
        if names := pattern.findall(text):
            return subject, names[-1]
    quoted = (name.rpartition(".")[2] for name in _QUOTED.findall(text))
    known = [fields[name] for name in quoted if name in fields]
    return (known[-1].subject, known[-1].name) if known else None


# --- endpoints: method and path, by FastAPI, Flask or aiohttp

_METHODS = frozenset(("get", "post", "put", "delete", "patch", "head", "options", "websocket"))
_ROUTES = frozenset(("route", "api_route", "websocket_route"))
_ADDERS = {f"add_{method}": method for method in _METHODS} | {"add_api_websocket_route": "websocket"}
_ROUTE_ADDERS = frozenset(("add_api_route", "add_url_rule", "add_route"))
_PARAMETERS = frozenset(("Query", "Form", "Header", "Cookie", "Body", "File"))
_ROUTERS = frozenset(("APIRouter", "Blueprint"))


def list_endpoints(file: PythonFile) -> Iterator[Fact]:
    """Yield the endpoints of decorated handlers and of calls that add a route, with what they take."""
    prefixes = _list_prefixes(file)
    handlers: dict[str, list[str]] = {}
    for function, scope in file.list_nodes(ast.FunctionDef):
        facts: list[Fact] = []
        for call in function.decorator_list:
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
                methods = [call.func.attr] if call.func.attr in _METHODS else []
                methods += _read_methods(file, call) if call.func.attr in _ROUTES else []
                path = find_argument(call, "path", 0) or find_argument(call, "rule")
                facts += _list_routes(call, methods, file.read_string(path), prefixes)
        yield from facts
        names = [fact.name for fact in facts]
        handlers[f"{scope}.{function.name}".lstrip(".")] = names
        for name, line, default in _list_taken(function) if names else ():
            yield from (_make_parameter(endpoint, name, line, default) for endpoint in names)
    for call, scope in file.list_calls("get".__eq__):
        # what a handler takes from the query itself: request.query_params.get("level", "1")
        if call.args and get_last_name(getattr(call.func, "value", None)) == "query_params":
            parameter = file.read_string(call.args[0])
            default = show_expression(find_argument(call, "default", 1))
            for endpoint in handlers.get(scope, []) if parameter else ():
                yield _make_parameter(endpoint, parameter, call.lineno, default)
    # app.router.add_get("/x", …) and app.add_api_route("/x", …, methods=[…])
    for call, _ in file.list_calls({*_ADDERS, *_ROUTE_ADDERS}.__contains__):
        action, first = get_last_name(call.func), file.read_argument(call, "path", 0)
        methods = [_ADDERS[action]] if action in _ADDERS else _read_methods(file, call)
        if isinstance(call.func, ast.Attribute) and first.startswith("/"):
            yield from _list_routes(call, methods, first, prefixes)
        elif isinstance(call.func, ast.Attribute) and action == "add_route" and first.isalpha():
            # aiohttp: add_route("GET", "/x", …)
            yield from _list_routes(call, [first], file.read_argument(call, "path", 1), {})


def _list_prefixes(file: PythonFile) -> dict[str, str]:
    """Return what routers put before the path, by the name of the router."""
    prefixes: dict[str, str] = {}
    for _, name, value in file.assigned:
        if isinstance(value, ast.Call) and get_last_name(value.func) in _ROUTERS:
            prefix = find_argument(value, "prefix") or find_argument(value, "url_prefix")
            prefixes[name] = file.read_string(prefix)
    for call, _ in file.list_calls("include_router".__eq__):
        if call.args:
            added = file.read_argument(call, "prefix")
            name = name_expression(call.args[0])
            if added and name in prefixes:
                prefixes[name] = f"{added}{prefixes[name]}"
    return prefixes


def _list_routes(call: ast.Call, methods: list[str], path: str, prefixes: Mapping[str, str]) -> Iterator[Fact]:
    router = call.func.value if isinstance(call.func, ast.Attribute) else None
    is_deprecated = is_true(find_argument(call, "deprecated"))
    for method in methods if path.startswith("/") else ():
        name = f"{method.upper()} {prefixes.get(name_expression(router), '')}{path}"
        yield Fact(ContractClass.ENDPOINT, name, call.lineno, name, is_deprecated=is_deprecated)


def _read_methods(file: PythonFile, call: ast.Call) -> list[str]:
    methods = find_argument(call, "methods")
    if not isinstance(methods, ast.List | ast.Tuple | ast.Set):
        return ["get"]
    return [method for node in methods.elts if (method := file.read_string(node))]


def _list_taken(function: ast.FunctionDef) -> Iterator[tuple[str, int, str]]:
    """Yield what FastAPI takes from the query, a form or the headers: name, line and default."""
    positional, named = list_parameters(function)
    for argument, default in (*positional, *named):
        annotation = argument.annotation
        is_annotated = isinstance(annotation, ast.Subscript) and get_last_name(annotation.value) == "Annotated"
        parts = getattr(getattr(annotation, "slice", None), "elts", ()) if is_annotated else ()
        calls = [node for node in (default, *parts) if isinstance(node, ast.Call)]
        marker = next((call for call in calls if get_last_name(call.func) in _PARAMETERS), None)
        if marker is not None:
            value = find_argument(marker, "default", 0) if marker is default else default
            yield argument.arg, argument.lineno, show_expression(value)


def _make_parameter(endpoint: str, name: str, line: int, default: str) -> Fact:
    name = f"{endpoint}?{name}"
    return Fact(ContractClass.API_FIELD, name, line, show_default(name, default), default, owner=endpoint)


# --- metrics, by prometheus_client or a wrapper of it

_METRIC_NAME = re.compile(r"[A-Za-z_:][A-Za-z0-9_:]{2,120}", re.A)
_METRIC_TYPES = ("gauge", "counter", "histogram", "summary")
# modules with classes of the same names
_NO_METRICS = frozenset(("collections", "typing", "ray_metrics"))
_HIDDEN = "show_hidden"
_Lists = Mapping[tuple[str, str], ast.expr]


def list_metrics(file: PythonFile) -> Iterator[Fact]:
    """Yield the metrics of a file; a hidden one is deprecated."""
    calls = file.list_calls(_read_type)
    lists = {("", name): value for name, value in file.constants.items()}
    for scope, name, value in file.assigned if calls else ():
        if isinstance(value, ast.List | ast.Tuple | ast.BinOp):
            lists[scope, name.rpartition(".")[2]] = value
    hidden = _list_hidden_lines(file) if calls else set()
    for call, scope in calls:
        kind, name = _read_type(get_last_name(call.func)), file.read_argument(call, "name", 0)
        is_other = isinstance(call.func, ast.Attribute) and get_last_name(call.func.value) in _NO_METRICS
        # collections.Counter("text") has no documentation
        is_registered = len(call.args) > 1 or any(
            keyword.arg in {"documentation", "labelnames"} for keyword in call.keywords
        )
        if not _METRIC_NAME.fullmatch(name) or not is_registered or is_other:
            continue
        names = find_argument(call, "labelnames", 2)
        labels = ", ".join(_read_labels(names, scope, lists)) if names else ""
        note = shorten_note(file.read_argument(call, "documentation", 1))
        text = shorten_text(f"{kind} {name} {{{labels}}}" if labels else f"{kind} {name}")
        fact = Fact(ContractClass.METRIC, name, call.lineno, text, shape=f"{kind} {labels}", help=note)
        comment = f"{note} {file.read_comment(call.lineno)}"
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


def _list_hidden_lines(file: PythonFile) -> set[int]:
    """Return the lines that run only if hidden metrics are shown."""
    lines: set[int] = set()
    for node, _ in file.list_nodes(ast.If) if any(_HIDDEN in line for line in file.lines) else ():
        # what stands inside of the last one is known already
        if node.lineno not in lines and _HIDDEN in show_expression(node.test):
            lines.update(range(node.lineno, (node.body[-1].end_lineno or node.lineno) + 1))
    return lines


# --- ops

OP_NAME = re.compile(r"\s*(?:\w{1,80}::)?(\w{1,120})", re.A)


def list_python_ops(file: PythonFile) -> Iterator[Fact]:
    """Yield the ops that a file defines: by a library, ``direct_register_custom_op`` or a decorator."""
    functions = {node.name: node for node, _ in file.list_nodes(ast.FunctionDef)}
    libraries: dict[str, str] = {}
    for _, name, value in file.assigned:
        if isinstance(value, ast.Call) and get_last_name(value.func) == "Library" and value.args:
            libraries |= {name: space} if (space := file.read_string(value.args[0])) else {}
    for call, _ in file.list_calls({"direct_register_custom_op", "define"}.__contains__):
        if get_last_name(call.func) != "define":
            library = find_argument(call, "target_lib")
            written = name_expression(library)
            space = libraries.get(written, "vllm" if library is None else written)
            function = functions.get(get_last_name(find_argument(call, "op_func", 1)))
            if op := file.read_argument(call, "op_name", 0):
                yield make_op(f"{space}.{op}", call.lineno, show_signature(op, function))
        elif isinstance(call.func, ast.Attribute) and call.args:
            space = libraries.get(name_expression(call.func.value), "")
            schema = file.read_string(call.args[0])
            if space and (match := OP_NAME.match(schema)):
                yield make_op(f"{space}.{match[1]}", call.lineno, schema)
    for function, _ in file.list_nodes(ast.FunctionDef):
        for decorator in function.decorator_list:
            # @torch.library.custom_op("space::name", …)
            if isinstance(decorator, ast.Call) and get_last_name(decorator.func) in {"custom_op", "triton_op"}:
                space, _, op = file.read_argument(decorator, "name", 0).partition("::")
                if op:
                    yield make_op(f"{space}.{op}", function.lineno, show_signature(op, function))


# --- entry points, and groups in which plugins of others are looked for

_GROUP = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)+", re.A)
_LOOKUPS = ("entry_points", "plugins_by_group", "iter_entry_points")


def list_setup_entry_points(file: PythonFile) -> Iterator[Fact]:
    for call, _ in file.list_calls("setup".__eq__):
        table = file.resolve_name(find_argument(call, "entry_points"))
        for key, items in zip(table.keys, table.values, strict=True) if isinstance(table, ast.Dict) else ():
            group = file.read_string(key)
            for item in list_elements(items) if group else ():
                name, mark, target = file.read_string(item).partition("=")
                if mark:
                    yield make_entry_point(group, name.strip(), target.strip(), item.lineno)


def list_plugin_groups(file: PythonFile) -> Iterator[Fact]:
    calls = file.list_calls(lambda name: name.endswith(_LOOKUPS))
    groups = [(find_argument(call, "group", 0), call.lineno, True) for call, _ in calls]
    for constant, value in file.constants.items():
        if constant.endswith("_GROUP") and "PLUGIN" in constant:
            groups.append((value, value.lineno, False))
    for node, line, is_loose in groups:
        group = file.read_string(node)
        if _GROUP.fullmatch(group):
            text = f"plugins in the group {group}"
            yield Fact(ContractClass.ENTRY_POINT, group, line, text, is_loose=is_loose)
