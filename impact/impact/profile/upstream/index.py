"""What the names of an upstream repository stand for, read module by module as they are needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from impact.profile.symbols import SUPER, follow_part, is_container
from impact.profile.upstream.ancestors import merge_lines
from impact.profile.upstream.values import list_value_texts, read_value
from impact.python.models import Definition, DefinitionKind, ModuleOutline

# re-exports, aliases and values from one name to what it is in the end; more are a circle
_MAX_DEPTH = 16

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
        self._places: dict[str, Place | None] = {}
        self._ancestors: dict[str, tuple[str, ...]] = {}
        self._values: dict[str, str | None] = {}

    def get_outline(self, module: str) -> ModuleOutline | None:
        """Return the outline of a module; None if there is none, or it can't be read."""
        if module not in self._outlines:
            self._outlines[module] = self._load(module)
        return self._outlines[module]

    def resolve_name(self, name: str) -> str | None:
        """Return the full name under which a module, or what is at the top level of one, is defined.

        Of a member it is its class's name with the member. Aliases are not followed: an alias is a name too.
        """
        place = self.find_place(name)
        return place.full_name if place else None

    def find_place(self, name: str) -> Place | None:
        """Return where a name is defined; None if it is not."""
        if name not in self._places:
            # a name that leads to itself ends here
            self._places[name] = None
            self._places[name] = self._find_place(name, _MAX_DEPTH)
        return self._places[name]

    def find_definition(self, name: str) -> Definition | None:
        place = self.find_place(name)
        outline = self.get_outline(place.module) if place and place.name else None
        return outline.definitions.get(place.name) if outline and place else None

    def find_class(self, name: str, depth: int = _MAX_DEPTH) -> str | None:
        """Return the full name of the class that a name stands for, also behind an alias."""
        definition = self.find_definition(name)
        place = self.find_place(name)
        if definition is None or place is None:
            return None
        if definition.kind is DefinitionKind.CLASS:
            return place.full_name
        if definition.kind is not DefinitionKind.CONSTANT or depth <= 0:
            return None
        target = self._read_text(place, definition.value)
        return self.find_class(target, depth - 1) if target and target != name else None

    def list_ancestors(self, name: str) -> tuple[str, ...]:
        """Return the upstream ancestors of a class, in the order in which Python looks for members."""
        owner = self.find_class(name)
        if owner is None:
            return ()
        if owner not in self._ancestors:
            # a class that extends itself ends here
            self._ancestors[owner] = ()
            self._ancestors[owner] = self._list_ancestors(owner)
        return self._ancestors[owner]

    def find_member(self, owner: str, member: str) -> tuple[str, ...]:
        """Return the names under which a class and its ancestors define a member, nearest first."""
        name = self.find_class(owner)
        if name is None:
            return ()
        line = (name, *self.list_ancestors(name))
        return tuple(f"{each}.{member}" for each in line if self._has_member(each, member))

    def list_inherited_constructors(self, name: str) -> tuple[str, ...]:
        """Return the constructors of bases that a call of a class runs, or whose fields are arguments of it."""
        owner = self.find_class(name)
        names: list[str] = []
        for each in self.find_member(owner, "__init__") if owner else ():
            names.append(each)
            place = self._place_member(each)
            outline = self.get_outline(place.module) if place else None
            if outline and place and place.name in outline.definitions:
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
        if not owner or not member.isidentifier():
            return ()
        value = self.find_value(owner)
        if value is None or is_container(value):
            return ()
        if self.find_class(value) is not None:
            return self.find_member(value, member)
        place = self.find_place(f"{value}.{member}")
        return (place.full_name,) if place else ()

    def find_value(self, symbol: str, depth: int = _MAX_DEPTH) -> str | None:
        """Return the class or module that a symbol leads to, or a container of one; None if it is unknown."""
        if symbol in self._values:
            return self._values[symbol]
        # a value that depends on itself ends here
        self._values[symbol] = None
        self._values[symbol] = value = self._find_value(symbol, depth)
        return value

    def _find_value(self, symbol: str, depth: int) -> str | None:
        if depth <= 0 or is_container(symbol):
            return symbol if depth > 0 else None
        place = self.find_place(symbol)
        if place is not None and "." not in place.name:
            return self.find_class(symbol) or self._find_result(place, depth) if place.name else place.module
        owner, _, part = symbol.rpartition(".")
        value = self.find_value(owner, depth - 1) if owner else None
        if value is not None and is_container(value):
            inner = follow_part(value, part)
            return self.find_value(inner, depth - 1) if inner else None
        return value if value is None or part == SUPER else self._find_member_value(value, part, depth)

    def _find_member_value(self, owner: str, member: str, depth: int) -> str | None:
        """Return what a member of a class holds or returns, by the first class that says so."""
        for name in self.find_member(owner, member):
            place = self._place_member(name)
            value = self._find_result(place, depth) if place else None
            if value:
                return value
        return None

    def _find_result(self, place: Place, depth: int) -> str | None:
        outline = self.get_outline(place.module)
        definition = outline.definitions.get(place.name) if outline else None
        if outline is None or definition is None:
            return None
        for text in list_value_texts(definition):
            symbol = read_value(outline, definition, text)
            value = self.find_value(symbol, depth - 1) if symbol else None
            if value:
                return value
        return None

    def _read_text(self, place: Place, text: str) -> str | None:
        outline = self.get_outline(place.module)
        definition = outline.definitions.get(place.name) if outline else None
        return read_value(outline, definition, text) if outline and definition else None

    def _place_member(self, name: str) -> Place | None:
        owner, _, member = name.rpartition(".")
        place = self.find_place(owner)
        return Place(place.module, f"{place.name}.{member}") if place else None

    def _has_member(self, owner: str, member: str) -> bool:
        place = self.find_place(owner)
        outline = self.get_outline(place.module) if place else None
        if outline is None or place is None:
            return False
        if f"{place.name}.{member}" in outline.definitions:
            return True
        # the fields of a data class are its constructor
        return member == "__init__" and outline.definitions[place.name].is_data

    def _find_place(self, name: str, depth: int) -> Place | None:
        if depth <= 0:
            return None
        parts = name.split(".")
        for length in range(len(parts), 0, -1):
            module = ".".join(parts[:length])
            if self.get_outline(module) is not None:
                return self._find_in_module(module, parts[length:], depth)
        return None

    def _find_in_module(self, module: str, parts: Sequence[str], depth: int) -> Place | None:
        outline = self.get_outline(module)
        if outline is None or not parts:
            return Place(module) if outline else None
        if parts[0] in outline.definitions:
            return self._find_in_definitions(outline, parts, depth)
        for target in self._list_targets(outline, parts[0]):
            name = ".".join((target, *parts[1:]))
            place = self._find_place(name, depth - 1)
            if place is not None:
                return place
        return Place(module, parts[0]) if len(parts) == 1 and parts[0] in outline.dynamic else None

    def _find_in_definitions(self, outline: ModuleOutline, parts: Sequence[str], depth: int) -> Place | None:
        name = ".".join(parts)
        if name in outline.definitions:
            return Place(outline.module, name)
        definition = outline.definitions[parts[0]]
        target = read_value(outline, definition, definition.value) if definition.value else None
        if definition.kind is not DefinitionKind.CONSTANT or not target:
            return None
        return self._find_place(".".join((target, *parts[1:])), depth - 1)

    def _list_targets(self, outline: ModuleOutline, name: str) -> Iterator[str]:
        if name in outline.imports:
            yield outline.imports[name]
        for star in outline.stars:
            yield f"{star}.{name}"

    def _list_ancestors(self, owner: str) -> tuple[str, ...]:
        definition = self.find_definition(owner)
        bases = [name for base in definition.bases if (name := self.find_class(base))] if definition else []
        bases = [base for base in dict.fromkeys(bases) if base != owner]
        lines = [[base, *self.list_ancestors(base)] for base in bases]
        return merge_lines([*lines, bases])
