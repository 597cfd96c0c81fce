"""Settings in Python: variables, flags, metrics, endpoints, configuration fields, fields of requests."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from impact.profile.expressions import get_string
from impact.profile.models import UseKind
from impact.profile.scanned import FileText
from impact.profile.scanners.patterns import (
    FLAG,
    VARIABLE,
    get_patterns,
    list_configuration,
    list_endpoints,
    list_flags,
    list_metrics,
    name_configuration,
)
from impact.profile.symbols import name_expression

_MAX_STRING = 2000
_VARIABLE_CALLS = frozenset("getenv setenv delenv putenv".split())
_ENVIRON_METHODS = frozenset("get pop setdefault".split())
_ENGINES = frozenset("LLM AsyncLLM EngineArgs AsyncEngineArgs AsyncLLMEngine LLMEngine".split())
_ENGINE_ARGUMENTS = "EngineArgs"
_BODY_KEYWORDS = frozenset("json extra_body".split())
_PAYLOAD_KEYS = frozenset("messages prompt input".split())

Found = Iterator[tuple[UseKind, str]]


class SettingScanner:
    """Notes the settings in a Python file. ``add`` takes a kind, a node and a name."""

    def __init__(self, file: FileText, add: Callable[[UseKind, ast.AST, str], None]) -> None:
        self._add = add
        self._packages = file.packages
        self._patterns = get_patterns(file.packages)
        # flags are those of upstream's commands only where one of them is run
        self._runs_upstream = bool(self._patterns.command.search(file.text))

    def scan_string(self, node: ast.Constant) -> None:
        if isinstance(node.value, str) and len(node.value) <= _MAX_STRING:
            for kind, name in self._list_string(node.value):
                self._add(kind, node, name)

    def scan_symbol(self, node: ast.AST, symbol: str | None) -> None:
        """Note a variable that is read or set as an attribute of upstream's module of variables."""
        owner, _, name = (symbol or "").rpartition(".")
        if owner.endswith(".envs") and VARIABLE.fullmatch(name):
            self._add(UseKind.ENVIRONMENT, node, name)

    def scan_subscript(self, node: ast.Subscript) -> None:
        if name_expression(node.value).endswith("environ"):
            self._add_variable(node, get_string(node.slice))

    def scan_call(self, node: ast.Call, symbol: str | None) -> None:
        name = name_expression(node.func)
        last = name.rpartition(".")[2]
        reads = last in _VARIABLE_CALLS or (last in _ENVIRON_METHODS and name.endswith(f"environ.{last}"))
        if reads and node.args:
            self._add_variable(node, get_string(node.args[0]))
        kind = (symbol or "").rpartition(".")[2]
        is_upstream = (symbol or "").partition(".")[0] in self._packages
        if is_upstream and (kind in _ENGINES or kind.endswith("Config")):
            self._scan_engine(node, _ENGINE_ARGUMENTS if kind in _ENGINES else kind)
        for keyword in node.keywords:
            if keyword.arg in _BODY_KEYWORDS and isinstance(keyword.value, ast.Dict):
                self._add_keys(keyword.value)
        if name.endswith(("completions.create", "embeddings.create", "responses.create")):
            for keyword in node.keywords:
                if keyword.arg and not keyword.arg.startswith("extra_"):
                    self._add(UseKind.API_FIELD, node, keyword.arg)

    def scan_dict(self, node: ast.Dict) -> None:
        """Note the fields of a request's body."""
        keys = {get_string(key) for key in node.keys[:100]}
        if "model" in keys and not keys.isdisjoint(_PAYLOAD_KEYS):
            self._add_keys(node)

    def _list_string(self, text: str) -> Found:
        variable = self._patterns.variable.match(text)
        if variable and text[variable.end() :][:1] in {"", "="}:
            yield UseKind.ENVIRONMENT, variable[0]
        for name in list_metrics(text, self._patterns):
            yield UseKind.METRIC, name
        for name in list_endpoints(text):
            yield UseKind.ENDPOINT, name
        if self._runs_upstream and (FLAG.match(text) or self._patterns.command.search(text)):
            for flag in list_flags(text):
                yield UseKind.FLAG, flag
            for name in list_configuration(text):
                yield UseKind.CONFIGURATION, name

    def _scan_engine(self, node: ast.Call, owner: str) -> None:
        """Note the fields that keywords set, and those of configurations that are given as a dictionary."""
        for keyword in node.keywords:
            if not keyword.arg:
                continue
            self._add(UseKind.CONFIGURATION, keyword.value, f"{owner}.{keyword.arg}")
            if keyword.arg.endswith("_config") and isinstance(keyword.value, ast.Dict):
                for key in filter(None, map(get_string, keyword.value.keys)):
                    self._add(UseKind.CONFIGURATION, keyword.value, f"{name_configuration(keyword.arg)}.{key}")

    def _add_variable(self, node: ast.AST, name: str) -> None:
        if VARIABLE.fullmatch(name):
            self._add(UseKind.ENVIRONMENT, node, name)

    def _add_keys(self, node: ast.Dict) -> None:
        for key in node.keys:
            name = get_string(key)
            if key is not None and name.isidentifier():
                self._add(UseKind.API_FIELD, key, name)
