"""The Python code of a repository before or after a merge, as far as it is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto

from impact.python.data_classes import DECORATORS, MODEL_BASES
from impact.python.models import Definition, DefinitionKind, ModuleOutline, Parameter, ParameterKind, Signature

OutlineLoader = Callable[[str], ModuleOutline | None]
# re-exports of re-exports, and bases of bases, that are followed
_MAX_STEPS = 12
_MAX_ANCESTORS = 40
# bases that give a class no members of interest
_PLAIN_BASES = frozenset(
    {"object", "ABC", "Protocol", "Generic", "Enum", "IntEnum", "StrEnum", "NamedTuple", "Struct"}
)
# those of them, and of data classes, that make nothing of arguments
_EMPTY_BASES = frozenset({"object", "ABC", "Protocol", "Generic"})
_SELF = Parameter("self")
_NOTHING = Signature((_SELF,))
# members of the bases from other packages that classes override most
_INHERITED = frozenset({"forward", "run", "emit", "format", "get", "extra_repr", "reset_parameters"})


class Presence(Enum):
    PRESENT = auto()
    ABSENT = auto()
    UNKNOWN = auto()


@dataclass(frozen=True, slots=True)
class Place:
    """A definition, and the module that it stands in."""

    outline: ModuleOutline
    definition: Definition

    @property
    def name(self) -> str:
        return f"{self.outline.module}.{self.definition.name}"

    @property
    def last_name(self) -> str:
        return self.definition.name.rpartition(".")[2]

    @property
    def kind(self) -> DefinitionKind:
        return self.definition.kind

    @property
    def members(self) -> Mapping[str, Definition]:
        return self.outline.list_members(self.definition.name)

    @property
    def length(self) -> int:
        return self.definition.end_line - self.definition.line


@dataclass(frozen=True, slots=True)
class Lookup:
    """Where a name leads: the full name of its definition, if it is known."""

    presence: Presence
    name: str = ""


@dataclass(slots=True)
class Snapshot:
    """One side of a merge: its changed modules, others by ``load``, and ``gone``: modules of the other side."""

    modules: Mapping[str, ModuleOutline]
    paths: Mapping[str, str]
    gone: frozenset[str]
    load: OutlineLoader
    _others: dict[str, ModuleOutline | None] = field(default_factory=dict)

    def get_module(self, name: str) -> ModuleOutline | None:
        """Return the outline of a module, or None if there is none or it is not known."""
        if name in self.modules or name in self.gone:
            return self.modules.get(name)
        if name not in self._others:
            self._others[name] = self.load(name)
        return self._others[name]

    def gone_on(self, other: Snapshot) -> frozenset[str]:
        return frozenset(self.modules) & other.gone

    def find_name(self, module: str, name: str) -> Lookup:
        return self._find(module, name, _MAX_STEPS)

    def lacks_name(self, module: str, name: str) -> bool:
        """Return whether a module has no such name. What an import leads to takes long, and is not looked at."""
        outline = self.get_module(module)
        is_imported = outline is not None and name in outline.imports and name not in outline.typing_only
        return not is_imported and self.find_name(module, name).presence is Presence.ABSENT

    def find_definition(self, full_name: str) -> Place | None:
        parts = full_name.split(".")
        for length in range(min(len(parts) - 1, 20), 0, -1):
            outline = self.get_module(".".join(parts[:length]))
            if outline:
                definition = outline.definitions.get(".".join(parts[length:]))
                return Place(outline, definition) if definition else self._follow(outline, parts[length:])
        return None

    def find_inherited(self, owner: str, member: str, *, is_method: bool = True) -> Lookup:
        own = self.find_definition(owner)
        unknown = own is not None and own.outline.may_give(own.definition.name, is_method=is_method)
        for name, base in self._walk_ancestors(owner):
            if base is None:
                unknown = unknown or _may_define(name, owner, member)
                continue
            if member in base.members:
                return Lookup(Presence.PRESENT, f"{base.name}.{member}")
            unknown = unknown or base.outline.may_give(base.definition.name, is_method=is_method)
        return Lookup(Presence.UNKNOWN if unknown else Presence.ABSENT)

    def find_constructor(self, name: str, steps: int = _MAX_STEPS) -> tuple[Signature, int] | None:
        """Return the signature that makes an object of a class, and its line; None if that is not known."""
        place = self.find_definition(name) if steps else None
        if place is None or place.kind is not DefinitionKind.CLASS:
            return None
        definition = place.definition
        own = place.members.get("__init__") or place.members.get("__new__")
        if own and own.signature and own.signature.parameters:
            return replace(own.signature, parameters=(_SELF, *own.signature.parameters[1:])), own.line
        if own:
            return None
        if self._makes_of_fields(name, definition):
            fields = sorted(self._collect_fields(name, steps).values(), key=_is_keyword)
            return Signature((_SELF, *fields)), definition.line
        for base in definition.bases:
            if base.rpartition(".")[2] not in _EMPTY_BASES:
                made = self.find_constructor(base, steps - 1)
                # what an object takes is said by the next base
                if made is None or made[0] != _NOTHING:
                    return made
        return _NOTHING, definition.line

    def _makes_of_fields(self, name: str, definition: Definition) -> bool:
        ancestors = (each for each, _ in self._walk_ancestors(name))
        return definition.is_data or any(each.endswith(MODEL_BASES) for each in ancestors)

    def _collect_fields(self, name: str, steps: int) -> dict[str, Parameter]:
        """Return the fields of a class: those of its bases, then its own, which keep the place of others."""
        place = self.find_definition(name) if steps else None
        if place is None:
            return {}
        definition, fields = place.definition, {}
        for base in reversed(definition.bases):
            fields.update(self._collect_fields(base, steps - 1))
        is_decorated = any(each.rpartition(".")[2] in DECORATORS for each in definition.decorators)
        if definition.signature and (is_decorated or self._makes_of_fields(name, definition)):
            fields.update({each.name: each for each in definition.signature.parameters[1:]})
        return fields

    def _walk_ancestors(self, owner: str) -> Iterator[tuple[str, Place | None]]:
        waiting, seen = [owner], {owner}
        while waiting and len(seen) < _MAX_ANCESTORS:
            name = waiting.pop(0)
            place = self.find_definition(name)
            if name != owner:
                yield name, place
            for base in place.definition.bases if place else ():
                if base not in seen:
                    seen.add(base)
                    waiting.append(base)

    def _follow(self, outline: ModuleOutline, parts: list[str]) -> Place | None:
        lookup = self.find_name(outline.module, parts[0])
        module, _, name = lookup.name.rpartition(".")
        target = self.get_module(module) if lookup.presence is Presence.PRESENT and module else None
        definition = target.definitions.get(".".join([name, *parts[1:]])) if target else None
        return Place(target, definition) if target and definition else None

    def _find(self, module: str, name: str, steps: int) -> Lookup:
        full_name = f"{module}.{name}"
        outline = self.get_module(module)
        if outline is None or not steps:
            return Lookup(Presence.UNKNOWN, full_name)
        is_defined = name in outline.definitions and name not in outline.typing_only
        if is_defined or name in outline.dynamic:
            return Lookup(Presence.PRESENT, self._follow_alias(outline, name, steps))
        if name in outline.imports and name not in outline.typing_only:
            return self._find_import(outline.imports[name], steps)
        return self._find_in_stars(outline, name, steps)

    def _follow_alias(self, outline: ModuleOutline, name: str, steps: int) -> str:
        definition = outline.definitions.get(name)
        value = definition.value if definition and definition.kind is DefinitionKind.CONSTANT else ""
        if value == name or not value.isidentifier():
            return f"{outline.module}.{name}"
        if value in outline.definitions or value in outline.imports:
            return self._find(outline.module, value, steps - 1).name
        return f"{outline.module}.{name}"

    def _find_import(self, target: str, steps: int) -> Lookup:
        """Return what an import leads to: upstream would not import what is not there."""
        module, _, name = target.rpartition(".")
        if not module or self.get_module(module) is None:
            return Lookup(Presence.PRESENT, target)
        lookup = self._find(module, name, steps - 1)
        return Lookup(Presence.PRESENT, lookup.name if lookup.presence is Presence.PRESENT else target)

    def _find_in_stars(self, outline: ModuleOutline, name: str, steps: int) -> Lookup:
        unknown = outline.has_getattr
        for star in outline.stars:
            source = self.get_module(star)
            if source and not source.gives_star(name):
                continue
            lookup = self._find(star, name, steps - 1)
            if lookup.presence is Presence.PRESENT:
                return lookup
            unknown = unknown or lookup.presence is Presence.UNKNOWN
        full_name = f"{outline.module}.{name}"
        if outline.is_package and self.get_module(full_name):
            return Lookup(Presence.PRESENT, full_name)
        return Lookup(Presence.UNKNOWN if unknown else Presence.ABSENT, full_name)


def is_plain_base(name: str) -> bool:
    """Return whether a base gives a class no members of interest."""
    return name.rpartition(".")[2] in _PLAIN_BASES


def _is_keyword(parameter: Parameter) -> bool:
    return parameter.kind is ParameterKind.KEYWORD_ONLY


def _may_define(ancestor: str, owner: str, member: str) -> bool:
    """Return whether an unknown class may define a member: one of the same repository may define any."""
    if is_plain_base(ancestor):
        return False
    is_own = ancestor.partition(".")[0] == owner.partition(".")[0] or "." not in ancestor
    return is_own or member in _INHERITED or member.startswith("__")
