"""What the names of an upstream repository stand for, read module by module as they are needed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from impact.profile.symbols import (
    MAX_ANNOTATION_LENGTH,
    SUPER,
    ExpressionReader,
    parse_annotation,
    read_annotation,
)
from impact.python.models import Definition, DefinitionKind, ModuleOutline

# re-exports, aliases and values from one name to what it is in the end; more are a circle
_MAX_DEPTH = 16
# ancestors of one class that are kept
_MAX_ANCESTORS = 200
_CALL = re.compile(r"[A-Za-z_][\w.]{0,200}\(", re.A)

OutlineLoader = Callable[[str], ModuleOutline | None]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a name is defined: its module, and its name in it, empty for the module itself."""

    module: str
    name: str = ""

    @property
    def full_name(self) -> str:
        return f"{self.module}.{self.name}" if self.name else self.module


class UpstreamIndex:
    def __init__(self, load: OutlineLoader) -> None:
        self._load = load
        self._outlines: dict[str, ModuleOutline | None] = {}
        # what leads to itself ends where it is met again
        self._places: dict[str, Place | None] = {}
        self._ancestors: dict[str, tuple[str, ...]] = {}
        self._values: dict[str, str | None] = {}

    def get_outline(self, module: str) -> ModuleOutline | None:
        """Return the outline of a module; None if there is none, or it can't be read."""
        if module not in self._outlines:
            self._outlines[module] = self._load(module)
        return self._outlines[module]

    def find_place(self, name: str) -> Place | None:
        """Return where a name is defined; None if it is not. Aliases are not followed: an alias is a name too."""
        if name not in self._places:
            self._places[name] = None
            self._places[name] = self._find_place(name, _MAX_DEPTH)
        return self._places[name]

    def get_definition(self, place: Place | None) -> Definition | None:
        outline = self.get_outline(place.module) if place else None
        return outline.definitions.get(place.name) if outline and place else None

    def find_class(self, name: str, depth: int = _MAX_DEPTH) -> str | None:
        """Return the full name of the class that a name stands for, also behind an alias."""
        place = self.find_place(name)
        definition = self.get_definition(place)
        if definition is None or place is None:
            return None
        if definition.kind is DefinitionKind.CLASS:
            return place.full_name
        if definition.kind is not DefinitionKind.CONSTANT or depth <= 0:
            return None
        target = self._read_value(place, definition, definition.value)
        return self.find_class(target, depth - 1) if target and target != name else None

    def list_ancestors(self, name: str) -> tuple[str, ...]:
        """Return the upstream ancestors of a class, in the order in which Python looks for members."""
        owner = self.find_class(name)
        if owner is None:
            return ()
        if owner not in self._ancestors:
            self._ancestors[owner] = ()
            definition = self.get_definition(self.find_place(owner))
            bases = dict.fromkeys(map(self.find_class, definition.bases if definition else ()))
            known = [base for base in bases if base and base != owner]
            lines = [[base, *self.list_ancestors(base)] for base in known]
            self._ancestors[owner] = _merge_lines([*lines, known])
        return self._ancestors[owner]

    def find_member(self, owner: str, member: str) -> tuple[str, ...]:
        """Return the names under which a class and its ancestors define a member, nearest first."""
        name = self.find_class(owner)
        line = (name, *self.list_ancestors(name)) if name else ()
        return tuple(f"{each}.{member}" for each in line if self._has_member(each, member))

    def list_inherited_constructors(self, name: str) -> tuple[str, ...]:
        """Return the constructors of bases that a call of a class runs, or whose fields are arguments of it."""
        owner = self.find_class(name)
        names: list[str] = []
        for each in self.find_member(owner, "__init__") if owner else ():
            names.append(each)
            if self.get_definition(self._place_member(each)):
                # it takes what the call passes, whatever others take
                break
        return tuple(each for each in names if each != f"{owner}.__init__")

    def find_definitions(self, symbol: str) -> tuple[str, ...]:
        """Return the names under which upstream defines what a symbol names.

        For a member these are all in the order of resolution; they are empty if the symbol leads nowhere.
        """
        place = self.find_place(symbol)
        if place is not None and "." not in place.name:
            return (place.full_name,)
        owner, _, member = symbol.rpartition(".")
        value = self.find_value(owner) if owner and member.isidentifier() else None
        if value is None:
            return ()
        if self.find_class(value) is not None:
            return self.find_member(value, member)
        place = self.find_place(f"{value}.{member}")
        return (place.full_name,) if place else ()

    def find_value(self, symbol: str, depth: int = _MAX_DEPTH) -> str | None:
        """Return the class or module that a symbol leads to; None if it is unknown."""
        if symbol not in self._values:
            self._values[symbol] = None
            self._values[symbol] = self._find_value(symbol, depth)
        return self._values[symbol]

    def _find_value(self, symbol: str, depth: int) -> str | None:
        if depth <= 0:
            return None
        place = self.find_place(symbol)
        if place is not None and "." not in place.name:
            return self.find_class(symbol) or self._find_result(place, depth) if place.name else place.module
        owner, _, part = symbol.rpartition(".")
        value = self.find_value(owner, depth - 1) if owner else None
        if value is None or part == SUPER:
            return value
        # the first class that says what a member holds or returns
        results = (self._find_result(self._place_member(name), depth) for name in self.find_member(value, part))
        return next(filter(None, results), None)

    def _find_result(self, place: Place | None, depth: int) -> str | None:
        """Return what a definition holds or returns, by the surest of the texts that say it."""
        definition = self.get_definition(place)
        if place is None or definition is None:
            return None
        texts = [definition.annotation, definition.value]
        if definition.kind in {DefinitionKind.FUNCTION, DefinitionKind.METHOD}:
            texts = [definition.signature.returns if definition.signature else ""]
        for text in filter(None, texts):
            symbol = self._read_value(place, definition, text)
            value = self.find_value(symbol, depth - 1) if symbol else None
            if value:
                return value
        return None

    def _read_value(self, place: Place, definition: Definition, text: str) -> str | None:
        outline = self.get_outline(place.module)
        return _read_value(outline, definition, text) if outline else None

    def _place_member(self, name: str) -> Place | None:
        owner, _, member = name.rpartition(".")
        place = self.find_place(owner)
        return Place(place.module, f"{place.name}.{member}") if place else None

    def _has_member(self, owner: str, member: str) -> bool:
        if self.get_definition(self._place_member(f"{owner}.{member}")):
            return True
        # the fields of a data class are its constructor
        definition = self.get_definition(self.find_place(owner)) if member == "__init__" else None
        return definition is not None and definition.is_data

    def _find_place(self, name: str, depth: int) -> Place | None:
        parts = name.split(".") if depth > 0 else []
        for length in range(len(parts), 0, -1):
            outline = self.get_outline(".".join(parts[:length]))
            if outline is not None:
                return self._find_in_module(outline, parts[length:], depth)
        return None

    def _find_in_module(self, outline: ModuleOutline, parts: Sequence[str], depth: int) -> Place | None:
        name = ".".join(parts)
        if not parts or name in outline.definitions:
            return Place(outline.module, name)
        head, rest = parts[0], parts[1:]
        definition = outline.definitions.get(head)
        if definition is not None:
            is_alias = definition.kind is DefinitionKind.CONSTANT and definition.value
            target = _read_value(outline, definition, definition.value) if is_alias else None
            return self._find_place(".".join((target, *rest)), depth - 1) if target else None
        imported = [outline.imports[head]] if head in outline.imports else []
        for target in (*imported, *(f"{star}.{head}" for star in outline.stars)):
            place = self._find_place(".".join((target, *rest)), depth - 1)
            if place is not None:
                return place
        return Place(outline.module, head) if not rest and head in outline.dynamic else None


def _merge_lines(lines: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Merge the lines of the bases as Python does (C3); if they contradict, keep the first place of each."""
    waiting = [list(line) for line in lines if line]
    merged: list[str] = []
    while waiting and len(merged) < _MAX_ANCESTORS:
        tails = {name for line in waiting for name in line[1:]}
        head = next((line[0] for line in waiting if line[0] not in tails), waiting[0][0])
        merged.append(head)
        waiting = [rest for line in waiting if (rest := [name for name in line if name != head])]
    return tuple(merged)


def _read_value(outline: ModuleOutline, definition: Definition, text: str) -> str | None:
    """Return the symbol of an annotation or a value that stands in a definition; None if nothing is known."""
    # of a long call, which is cut, what is called says it all
    call = _CALL.match(text) if len(text) > MAX_ANNOTATION_LENGTH else None
    node = parse_annotation(f"{call[0]})" if call else text)
    if node is None:
        return None
    owner = definition.name.rpartition(".")[0]
    annotations = dict(_list_parameters(outline, definition))

    def look_up_global(name: str) -> str | None:
        if name in outline.definitions:
            return f"{outline.module}.{name}"
        if name in outline.imports:
            return outline.imports[name]
        return f"{outline.stars[0]}.{name}" if outline.stars and name.istitle() else None

    def look_up(name: str) -> str | None:
        if owner and name in {"self", "cls", "Self"}:
            return f"{outline.module}.{owner}"
        if name in annotations:
            return read_annotation(parse_annotation(annotations[name]), look_up_global)
        return look_up_global(name)

    try:
        return read_annotation(node, look_up) or ExpressionReader(look_up).read(node)
    except RecursionError:
        return None


def _list_parameters(outline: ModuleOutline, definition: Definition) -> Iterator[tuple[str, str]]:
    """Yield the parameters, with their annotations, of the method that sets an attribute."""
    if definition.kind is DefinitionKind.ATTRIBUTE:
        prefix = f"{definition.name.rpartition('.')[0]}."
        for each in outline.definitions.values():
            is_method = each.kind is DefinitionKind.METHOD and each.name.startswith(prefix)
            if is_method and each.line <= definition.line <= each.end_line:
                parameters = each.signature.parameters if each.signature else ()
                yield from ((parameter.name, parameter.annotation) for parameter in parameters)
                return
