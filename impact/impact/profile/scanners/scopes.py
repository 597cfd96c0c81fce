from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from impact.profile.symbols import Lookup, read_annotation

_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class Scope:
    """The names within an ``owner``. ``instance`` is the symbol of ``self`` in a method, empty elsewhere."""

    def __init__(self, owner: str, parent: Scope | None = None, instance: str = "") -> None:
        self.owner = owner
        self.parent = parent
        self.instance: str = instance or (parent.instance if parent else "")
        self.names: dict[str, str | None] = {}
        self.imports: set[str] = set()
        self.guesses: set[str] = set()
        # imports that may fail, after which what uses them is left out or done otherwise
        self.guarded: set[str] = set()
        self.functions: dict[str, ast.FunctionDef | ast.AsyncFunctionDef] = {}

    def find(self, name: str) -> Scope | None:
        scope: Scope | None = self
        while scope is not None and name not in scope.names:
            scope = scope.parent
        return scope

    def lookup(self, name: str) -> str | None:
        """Return the symbol of a name; None if it is unknown."""
        scope = self.find(name)
        return scope.names[name] if scope else None

    def bind(self, name: str, symbol: str | None, *, is_guess: bool = False) -> None:
        """Bind a name to what a symbol stands for, or to something unknown."""
        self.names[name] = symbol
        self.imports.discard(name)
        self.guesses.discard(name)
        self.guarded.discard(name)
        if is_guess:
            self.guesses.add(name)

    def bind_import(self, name: str, symbol: str, *, is_guarded: bool = False) -> None:
        self.bind(name, symbol)
        self.imports.add(name)
        if is_guarded:
            self.guarded.add(name)

    def is_import(self, name: str) -> bool:
        scope = self.find(name)
        return scope is not None and name in scope.imports

    def is_guess(self, name: str) -> bool:
        """Return whether what a name stands for is only likely."""
        scope = self.find(name)
        return scope is not None and name in scope.guesses

    def find_function(self, name: str) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        scope = self.find(name)
        return scope.functions.get(name) if scope else None


def bind_parameters(scope: Scope, args: ast.arguments, lookup: Lookup, guesses: dict[str, str]) -> None:
    """Bind the parameters of a function by their annotations, or by the classes that they are called after."""
    for each in _list_arguments(args):
        symbol = read_annotation(each.annotation, lookup)
        guess = guesses.get(each.arg) if each.annotation is None and symbol is None else None
        scope.bind(each.arg, symbol or guess, is_guess=guess is not None)
    for rest in (args.vararg, args.kwarg):
        if rest:
            scope.bind(rest.arg, None)


def _list_arguments(args: ast.arguments) -> Iterator[ast.arg]:
    yield from args.posonlyargs
    yield from args.args
    yield from args.kwonlyargs


def name_instance(class_name: str) -> str:
    """Return what a variable for an instance of a class is called: ``VllmConfig`` gives ``vllm_config``."""
    return _CAPITAL.sub("_", class_name).lower() if len(class_name) < 100 else ""
