"""What the texts of upstream's annotations and values stand for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from impact.profile.expressions import ExpressionReader
from impact.profile.symbols import MAX_ANNOTATION_LENGTH, parse_annotation, read_annotation
from impact.python.models import Definition, DefinitionKind, ModuleOutline

_CALL = re.compile(r"[A-Za-z_][\w.]{0,200}\(", re.A)
_FUNCTIONS = frozenset({DefinitionKind.FUNCTION, DefinitionKind.METHOD})


def list_value_texts(definition: Definition) -> Iterator[str]:
    """Yield the texts that say what a definition holds or returns, the surest first."""
    if definition.kind in _FUNCTIONS:
        returns = definition.signature.returns if definition.signature else ""
        if returns:
            yield returns
        return
    if definition.annotation:
        yield definition.annotation
    if definition.value:
        yield definition.value


def read_value(outline: ModuleOutline, definition: Definition, text: str) -> str | None:
    """Return the symbol of an annotation or a value that stands in a definition; None if nothing is known."""
    # of a long call, which is cut, what is called says it all
    call = _CALL.match(text) if len(text) > MAX_ANNOTATION_LENGTH else None
    node = parse_annotation(f"{call[0]})" if call else text)
    if node is None:
        return None
    scope = _DefinitionScope(outline, definition)
    try:
        return read_annotation(node, scope.lookup) or ExpressionReader(scope.lookup).read(node)
    except RecursionError:
        return None


class _DefinitionScope:
    """The names that a definition sees: the parameters of the method that it stands in, then its module's."""

    def __init__(self, outline: ModuleOutline, definition: Definition) -> None:
        self._outline, self._definition = outline, definition
        self._owner = definition.name.rpartition(".")[0]
        self._method = _find_method(outline, definition)

    def lookup(self, name: str) -> str | None:
        if self._owner and name in {"self", "cls", "Self"}:
            return f"{self._outline.module}.{self._owner}"
        for parameter in self._method.signature.parameters if self._method and self._method.signature else ():
            if parameter.name == name:
                node = parse_annotation(parameter.annotation)
                return read_annotation(node, self._lookup_global) if node is not None else None
        return self._lookup_global(name)

    def _lookup_global(self, name: str) -> str | None:
        if name in self._outline.definitions:
            return f"{self._outline.module}.{name}"
        if name in self._outline.imports:
            return self._outline.imports[name]
        return f"{self._outline.stars[0]}.{name}" if self._outline.stars and name.istitle() else None


def _find_method(outline: ModuleOutline, definition: Definition) -> Definition | None:
    if definition.kind is not DefinitionKind.ATTRIBUTE:
        return None
    prefix = f"{definition.name.rpartition('.')[0]}."
    for each in outline.definitions.values():
        is_method = each.kind is DefinitionKind.METHOD and each.name.startswith(prefix)
        if is_method and each.line <= definition.line <= each.end_line:
            return each
    return None
