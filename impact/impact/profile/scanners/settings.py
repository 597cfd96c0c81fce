"""What users write, and names, in calls, dictionaries and strings of Python: each with its node."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from impact.profile.models import UseKind
from impact.profile.scanners.patterns import (
    FLAG,
    VARIABLE,
    PackagePatterns,
    list_configuration,
    list_endpoints,
    list_flags,
    list_metrics,
    name_configuration,
)
from impact.profile.symbols import get_string, name_expression

# characters of a string with settings, and of one that is a name
_MAX_STRING, _MAX_NAME = 2_000, 300
_VARIABLE_CALLS = frozenset("getenv setenv delenv putenv".split())
_ENVIRON_METHODS = frozenset("get pop setdefault".split())
_ENGINES = frozenset("LLM AsyncLLM EngineArgs AsyncEngineArgs AsyncLLMEngine LLMEngine".split())
_BODY_KEYWORDS = frozenset("json extra_body".split())
_PAYLOAD_KEYS = frozenset("messages prompt input".split())
_PATH = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?::[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)?", re.A)
_OP = re.compile(r"([A-Za-z_]\w*)::([A-Za-z_]\w*)(?:\.\w+)?", re.A)

Setting = tuple[UseKind, ast.AST, str]


def list_call_settings(node: ast.Call, symbol: str | None, packages: Sequence[str]) -> Iterator[Setting]:
    """Yield what a call sets or reads: variables, fields of configurations and of requests."""
    name = name_expression(node.func)
    last = name.rpartition(".")[2]
    if last in _VARIABLE_CALLS or (last in _ENVIRON_METHODS and name.endswith(f"environ.{last}")):
        yield from list_variable(node, get_string(node.args[0]) if node.args else "")
    kind = (symbol or "").rpartition(".")[2]
    if (symbol or "").partition(".")[0] in packages and (kind in _ENGINES or kind.endswith("Config")):
        owner = "EngineArgs" if kind in _ENGINES else kind
        for keyword in node.keywords:
            if not keyword.arg:
                continue
            yield UseKind.CONFIGURATION, keyword.value, f"{owner}.{keyword.arg}"
            if keyword.arg.endswith("_config") and isinstance(keyword.value, ast.Dict):
                for key in filter(None, map(get_string, keyword.value.keys)):
                    yield UseKind.CONFIGURATION, keyword.value, f"{name_configuration(keyword.arg)}.{key}"
    for keyword in node.keywords:
        if keyword.arg in _BODY_KEYWORDS and isinstance(keyword.value, ast.Dict):
            yield from _list_keys(keyword.value)
    if name.endswith(("completions.create", "embeddings.create", "responses.create")):
        for keyword in node.keywords:
            if keyword.arg and not keyword.arg.startswith("extra_"):
                yield UseKind.API_FIELD, node, keyword.arg


def list_variable(node: ast.AST, name: str) -> Iterator[Setting]:
    if VARIABLE.fullmatch(name):
        yield UseKind.ENVIRONMENT, node, name


def list_payload(node: ast.Dict) -> Iterator[Setting]:
    """Yield the fields of a request's body."""
    keys = {get_string(key) for key in node.keys[:100]}
    if "model" in keys and not keys.isdisjoint(_PAYLOAD_KEYS):
        yield from _list_keys(node)


def _list_keys(node: ast.Dict) -> Iterator[Setting]:
    for key in node.keys:
        if key is not None and get_string(key).isidentifier():
            yield UseKind.API_FIELD, key, get_string(key)


def list_string_settings(
    text: str, patterns: PackagePatterns, *, runs_upstream: bool
) -> Iterator[tuple[UseKind, str]]:
    """Yield the settings in a string. ``runs_upstream``: a command of upstream is run in the file."""
    if len(text) > _MAX_STRING:
        return
    variable = patterns.variable.match(text)
    if variable and text[variable.end() :][:1] in {"", "="}:
        yield UseKind.ENVIRONMENT, variable[0]
    for name in list_metrics(text, patterns):
        yield UseKind.METRIC, name
    for name in list_endpoints(text):
        yield UseKind.ENDPOINT, name
    # flags are those of upstream's commands only where one of them is run
    if runs_upstream and (FLAG.match(text) or patterns.command.search(text)):
        for flag in list_flags(text):
            yield UseKind.FLAG, flag
        for name in list_configuration(text):
            yield UseKind.CONFIGURATION, name


def read_named(text: str, packages: Sequence[str], patterns: PackagePatterns) -> tuple[UseKind, str] | None:
    """Return what a string names, if it is one name: a path of modules and names, or an op."""
    first = re.split(r"[.:]", text[: _MAX_NAME + 1], maxsplit=1)[0]
    if len(text) > _MAX_NAME or (first not in packages and not first.startswith(("_C", "_moe_C"))):
        return None
    if patterns.group.fullmatch(text):
        return UseKind.ENTRY_POINT, text
    if _PATH.fullmatch(text):
        return UseKind.NAMED, text.replace(":", ".")
    match = _OP.fullmatch(text)
    return (UseKind.OP, f"torch.ops.{match[1]}.{match[2]}") if match else None


def list_pairs(nodes: Sequence[ast.expr], packages: Sequence[str]) -> Iterator[str]:
    """Yield the names that a module and a name beside it make: ``("vllm.x", "Y")``."""
    for module, name in pairwise(nodes):
        first, second = get_string(module), get_string(name)
        if first.partition(".")[0] in packages and "." in first and second.isidentifier():
            yield f"{first}.{second}"
