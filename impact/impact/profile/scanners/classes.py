"""Classes of the team, in the making."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from impact.profile.scanned import ScannedClass
from impact.profile.symbols import name_expression

_ABSTRACT = frozenset("abstractmethod abstractproperty abstractclassmethod abstractstaticmethod".split())


@dataclass(slots=True)
class ClassBuilder:
    name: str
    path: str
    line: int
    bases: tuple[str, ...]
    members: dict[str, str] = field(default_factory=dict)
    methods: set[str] = field(default_factory=set)
    own: set[str] = field(default_factory=set)
    has_constructor: bool = False
    runs_base_constructor: bool = False
    is_abstract: bool = False
    is_data: bool = False
    required: set[str] = field(default_factory=set)

    def add_method(self, node: ast.FunctionDef | ast.AsyncFunctionDef, returns: str | None) -> None:
        self.methods.add(node.name)
        self.members[node.name] = returns or ""
        self.has_constructor = self.has_constructor or node.name == "__init__"
        ends = {name_expression(each).rpartition(".")[2] for each in node.decorator_list}
        self.is_abstract = self.is_abstract or not ends.isdisjoint(_ABSTRACT)

    def add_field(self, name: str, symbol: str | None, *, has_value: bool) -> None:
        self.own.add(name)
        if not has_value:
            self.required.add(name)
        self.members[name] = symbol or ""

    def add_attribute(self, name: str, symbol: str | None, method: str) -> None:
        if symbol or name not in self.members:
            self.members[name] = symbol or ""
        if "init" in method:
            self.own.add(name)

    def build(self) -> ScannedClass:
        return ScannedClass(
            self.name,
            self.path,
            self.line,
            self.bases,
            self.members,
            frozenset(self.methods),
            frozenset(self.own),
            self.runs_base_constructor or not self.has_constructor,
            self.is_abstract,
            self.is_data,
            frozenset(self.required) if self.is_data else frozenset(),
        )
