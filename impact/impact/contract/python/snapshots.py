"""The Python code of a repository before or after a merge, as far as it is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from impact.python.data_classes import DECORATORS, MODEL_BASES
from impact.python.models import Definition, DefinitionKind, ModuleOutline, Parameter, ParameterKind, Signature

OutlineLoader = Callable[[str], ModuleOutline | None]
# re-exports of re-exports, and bases of bases, that are followed
_MAX_STEPS, _MAX_ANCESTORS = 12, 40
# bases that make nothing of arguments, and all that give a class no members of interest
_EMPTY_BASES = frozenset({"object", "ABC", "Protocol", "Generic"})
_PLAIN_BASES = _EMPTY_BASES | {"Enum", "IntEnum", "StrEnum", "NamedTuple", "Struct"}
_SELF = Parameter("self")
_NOTHING = Signature((_SELF,))
# members of the bases from other packages that classes override most
_INHERITED = frozenset({"forward", "run", "emit", "format", "get", "extra_repr", "reset_parameters"})


@dataclass(frozen=True, slots=True)
class Place:
    """A definition, and the module that it stands in."""

    outline: ModuleOutline
    definition: Definition

    @property
    def module(self) -> str:
        return self.outline.module

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
    def is_class(self) -> bool:
        return self.definition.kind is DefinitionKind.CLASS

    @property
    def signature(self) -> Signature | None:
        return self.definition.signature

    @property
    def members(self) -> Mapping[str, Definition]:
        return self.outline.list_members(self.definition.name)

    @property
    def length(self) -> int:
        return self.definition.end_line - self.definition.line


@dataclass(slots=True)
class Snapshot:
    """One side of a merge: its changed modules, others by ``load``, and ``gone``: modules of the other side.

    Where a name leads is the full name of its definition: empty if there is none, None if nobody knows.
    """

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

    def lacks_name(self, module: str, name: str) -> bool:
        """Return whether a module has no such name. What an import leads to takes long, and is not looked at."""
        outline = self.get_module(module)
        is_imported = outline is not None and name in outline.imports and name not in outline.typing_only
        return not is_imported and self.find_name(module, name) == ""

    def find_definition(self, full_name: str) -> Place | None:
        parts = full_name.split(".")
        for length in range(min(len(parts) - 1, 20), 0, -1):
            outline = self.get_module(".".join(parts[:length]))
            if outline:
                definition = outline.definitions.get(".".join(parts[length:]))
                return Place(outline, definition) if definition else self._follow(outline, parts[length:])
        return None

    def _follow(self, outline: ModuleOutline, parts: list[str]) -> Place | None:
        module, _, name = (self.find_name(outline.module, parts[0]) or "").rpartition(".")
        target = self.get_module(module) if module else None
        definition = target.definitions.get(".".join([name, *parts[1:]])) if target else None
        return Place(target, definition) if target and definition else None

    # --- names of a module

    def find_name(self, module: str, name: str, steps: int = _MAX_STEPS) -> str | None:
        """Return where a name of a module leads."""
        outline = self.get_module(module)
        if outline is None or not steps:
            return None
        is_defined = name in outline.definitions and name not in outline.typing_only
        if is_defined or name in outline.dynamic:
            definition = outline.definitions.get(name)
            value = definition.value if definition and definition.kind is DefinitionKind.CONSTANT else ""
            is_alias = value != name and (value in outline.definitions or value in outline.imports)
            # an alias leads on
            own = value if is_alias and value.isidentifier() else name
            return (own != name and self.find_name(module, own, steps - 1)) or f"{module}.{own}"
        if name in outline.imports and name not in outline.typing_only:
            target = outline.imports[name]
            source, _, last = target.rpartition(".")
            is_known = bool(source) and self.get_module(source) is not None
            # upstream would not import what is not there
            return (is_known and self.find_name(source, last, steps - 1)) or target
        return self._find_in_stars(outline, name, steps)

    def _find_in_stars(self, outline: ModuleOutline, name: str, steps: int) -> str | None:
        is_unknown = outline.has_getattr
        for star in outline.stars:
            source = self.get_module(star)
            if source and not source.gives_star(name):
                continue
            target = self.find_name(star, name, steps - 1)
            if target:
                return target
            is_unknown = is_unknown or target is None
        full_name = f"{outline.module}.{name}"
        if outline.is_package and self.get_module(full_name):
            return full_name
        return None if is_unknown else ""

    # --- members and constructors of a class

    def find_inherited(self, owner: str, member: str, *, is_method: bool = True) -> str | None:
        """Return where a member that a class has from a base leads."""
        own = self.find_definition(owner)
        is_unknown = own is not None and own.outline.may_give(own.definition.name, is_method=is_method)
        for name, base in self._walk_ancestors(owner):
            if base and member in base.members:
                return f"{base.name}.{member}"
            is_unknown = is_unknown or (
                base.outline.may_give(base.definition.name, is_method=is_method)
                if base
                else _may_define(name, owner, member)
            )
        return None if is_unknown else ""

    def find_constructor(self, name: str, steps: int = _MAX_STEPS) -> tuple[Signature, int] | None:
        """Return the signature that makes an object of a class, and its line; None if that is not known."""
        place = self.find_definition(name) if steps else None
        if place is None or not place.is_class:
            return None
        own = place.members.get("__init__") or place.members.get("__new__")
        if own and own.signature and own.signature.parameters:
            return replace(own.signature, parameters=(_SELF, *own.signature.parameters[1:])), own.line
        if own:
            return None
        if self._makes_of_fields(name, place):
            fields = self._collect_fields(name, steps).values()
            ordered = sorted(fields, key=lambda each: each.kind is ParameterKind.KEYWORD_ONLY)
            return Signature((_SELF, *ordered)), place.definition.line
        for base in place.definition.bases:
            if base.rpartition(".")[2] not in _EMPTY_BASES:
                made = self.find_constructor(base, steps - 1)
                # what an object takes is said by the next base
                if made is None or made[0] != _NOTHING:
                    return made
        return _NOTHING, place.definition.line

    def _makes_of_fields(self, name: str, place: Place) -> bool:
        return place.definition.is_data or any(
            each.endswith(MODEL_BASES) for each, _ in self._walk_ancestors(name)
        )

    def _collect_fields(self, name: str, steps: int) -> dict[str, Parameter]:
        """Return the fields of a class: those of its bases, then its own, which keep the place of others."""
        place = self.find_definition(name) if steps else None
        if place is None:
            return {}
        fields = {}
        for base in reversed(place.definition.bases):
            fields.update(self._collect_fields(base, steps - 1))
        is_decorated = any(each.rpartition(".")[2] in DECORATORS for each in place.definition.decorators)
        if place.signature and (is_decorated or self._makes_of_fields(name, place)):
            fields.update({each.name: each for each in place.signature.parameters[1:]})
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


def is_plain_base(name: str) -> bool:
    """Return whether a base gives a class no members of interest."""
    return name.rpartition(".")[2] in _PLAIN_BASES


def _may_define(ancestor: str, owner: str, member: str) -> bool:
    """Return whether an unknown class may define a member: one of the same repository may define any."""
    is_own = ancestor.partition(".")[0] == owner.partition(".")[0] or "." not in ancestor
    return not is_plain_base(ancestor) and (is_own or member in _INHERITED or member.startswith("__"))
