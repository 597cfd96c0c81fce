"""The Python code of a repository before or after a merge, and where names went that are gone from it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from impact.python.code_reader import hash_code
from impact.python.data_classes import DECORATORS, MODEL_BASES
from impact.python.models import Definition, DefinitionKind, ModuleOutline, Parameter, ParameterKind, Signature
from impact.python.syntax import parse_expression

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

    def list_members(self) -> dict[str, Place]:
        return {name: Place(self.outline, each) for name, each in self.members.items()}


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
                if definition is None:
                    # what it imports
                    target = self.find_name(outline.module, parts[length]) or ""
                    module, _, name = target.rpartition(".")
                    outline = self.get_module(module) if module else None
                    full = ".".join([name, *parts[length + 1 :]])
                    definition = outline.definitions.get(full) if outline else None
                return Place(outline, definition) if outline and definition else None
        return None

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
            if base:
                is_unknown = is_unknown or base.outline.may_give(base.definition.name, is_method=is_method)
            elif not is_plain_base(name):
                # an unknown class of the same repository may define any member
                is_own = "." not in name or name.partition(".")[0] == owner.partition(".")[0]
                is_unknown = is_unknown or is_own or member in _INHERITED or member.startswith("__")
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


# --- what became of names: they are in other modules, or have other names, by how alike they are

# set before any result was seen: what has the same name may differ by half, what has another name by little
_MIN_SAME_NAME, _MIN_RENAME, _NAME_WEIGHT = 0.3, 0.58, 0.4
# what took another's name elsewhere may be another thing
_MIN_COMPARED, _MIN_MOVED_RENAME = 0.5, 0.8
# definitions of a module that are compared with each other: more are generated ones
_MAX_COMPARED = 60
_MIN_MEMBERS, _MIN_BODY_LINES = 3, 3
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
# of two shapes that say nothing: no parameters, no members
_NEUTRAL = 0.5
_MIN_VALUE = 3


@dataclass(frozen=True, slots=True)
class Pair:
    """A definition before and after. ``is_importable``: the old name can still be used."""

    old: Place
    new: Place
    is_importable: bool = False

    @property
    def is_comparable(self) -> bool:
        """Whether both are the same thing: under one name, or alike."""
        return self.old.name == self.new.name or compare_shapes(self.old, self.new) >= _MIN_COMPARED


def match_names(before: Snapshot, after: Snapshot) -> tuple[list[Pair], list[Place]]:
    """Return the names at the top level of changed modules that have a successor, and those that are lost."""
    pairs: list[Pair] = []
    # those that are not there any more, and whether their names can still be imported
    waiting: dict[str, tuple[Place, bool]] = {}
    for old in _list_places(before):
        place, is_importable = _find_same_name(old, after)
        if place:
            pairs.append(Pair(old, place, is_importable=True))
        else:
            waiting[old.name] = old, is_importable
    fresh = [
        each
        for each in _list_places(after)
        if each.module not in before.modules or each.definition.name not in before.modules[each.module].definitions
    ]
    moved = list(_match_moves(waiting.values(), fresh, _find_import_moves(before, after), after))
    used = {pair.new.name for pair in pairs if pair.old.name != pair.new.name} | {each.new.name for each in moved}
    for pair in moved:
        del waiting[pair.old.name]
    others = {each.name: each for each in [each for each in fresh if each.name not in used][: 4 * _MAX_COMPARED]}
    scores = [
        (_score_rename(old, new), old.name, new.name)
        for old, _ in list(waiting.values())[:_MAX_COMPARED]
        for new in others.values()
    ]
    pairs += moved
    for name, new_name in pair_best(scores).items():
        old, is_importable = waiting.pop(name)
        pairs.append(Pair(old, others[new_name], is_importable))
    return pairs, [old for old, is_importable in waiting.values() if not is_importable]


def _list_places(side: Snapshot) -> Iterator[Place]:
    for outline in side.modules.values():
        for name, definition in outline.definitions.items():
            is_dunder = name.startswith("__") and name.endswith("__")
            if "." not in name and name not in outline.typing_only and not is_dunder:
                yield Place(outline, definition)


def _find_same_name(old: Place, after: Snapshot) -> tuple[Place | None, bool]:
    """Return what has a definition's name after the merge, and whether the name can be imported."""
    name, outline = old.definition.name, after.get_module(old.module)
    if outline is None:
        return None, False
    target = after.find_name(old.module, name)
    if target is None and name in old.outline.dynamic:
        # the table of ``__getattr__`` had it
        return None, name in outline.dynamic or not outline.dynamic or bool(outline.stars)
    place = after.find_definition(target) if target else None
    # under the same name, something of another kind is still what callers get
    is_same = place is not None and (place.kind is old.kind or place.name == old.name)
    return place if is_same else None, target != ""


def _find_import_moves(before: Snapshot, after: Snapshot) -> dict[str, str]:
    """Return where most changed files import a name from that they imported from elsewhere."""
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for module, outline in after.modules.items():
        previous = before.modules.get(module)
        for local, target in outline.imports.items() if previous else ():
            old = previous.imports.get(local, target) if previous else target
            if old != target:
                votes[old][target] += 1
    return {old: counter.most_common(1)[0][0] for old, counter in votes.items()}


def _match_moves(
    waiting: Iterable[tuple[Place, bool]], fresh: Iterable[Place], hints: Mapping[str, str], after: Snapshot
) -> Iterator[Pair]:
    """Pair definitions with those of the same name elsewhere: where others import it from, or the most alike."""
    by_name: dict[tuple[str, DefinitionKind], list[Place]] = defaultdict(list)
    for each in fresh:
        by_name[each.definition.name, each.kind].append(each)
    for old, is_importable in waiting:
        hinted = after.find_definition(hints[old.name]) if old.name in hints else None
        if hinted and hinted.kind is old.kind:
            yield Pair(old, hinted, is_importable)
            continue
        parts = old.module.split(".")
        scored = []
        for each in by_name[old.definition.name, old.kind]:
            others = each.module.split(".")
            # the packages by which both differ
            distance = len(others) - 2 * sum(map(str.__eq__, parts, others))
            scored.append((compare_shapes(old, each), -distance, each))
        best = max(scored, key=lambda each: each[:2], default=None)
        if best and best[0] >= _MIN_SAME_NAME:
            yield Pair(old, best[2], is_importable)


def _score_rename(old: Place, new: Place) -> float:
    """Return how likely a definition has got another name, 0 for what is not likely enough."""
    if old.kind is not new.kind:
        return 0.0
    # it has enough in it to be known again under another name
    is_long = old.kind is DefinitionKind.FUNCTION and old.length >= _MIN_BODY_LINES
    is_telling = len(old.members) >= _MIN_MEMBERS if old.is_class else is_long
    shape = compare_shapes(old, new)
    if old.module != new.module:
        return shape if shape >= _MIN_MOVED_RENAME and is_telling else 0.0
    name = compare_names(old.definition.name, new.definition.name)
    return score_rename(name, shape, _NAME_WEIGHT, is_telling=is_telling)


# --- how alike two definitions are


def score_rename(name: float, shape: float, weight: float, *, is_telling: bool) -> float:
    """Return how likely one of two is the other by the likeness of their names and shapes, 0 for too little."""
    if shape == 1.0 and is_telling:
        return 1.0 + name
    score = weight * name + (1 - weight) * shape
    return score if name and score >= _MIN_RENAME else 0.0


def pair_best(scores: Iterable[tuple[float, str, str]]) -> dict[str, str]:
    """Return the old and new names that are paired by the highest scores above 0, each name once."""
    pairs: dict[str, str] = {}
    used: set[str] = set()
    for score, old, new in sorted(scores, key=lambda each: (-each[0], *each[1:])):
        if score and old not in pairs and new not in used:
            pairs[old] = new
            used.add(new)
    return pairs


def compare_names(first: str, second: str) -> float:
    """Return the share of common words in two names, from 0 to 1."""
    return _get_overlap(_split_words(first), _split_words(second))


@lru_cache(maxsize=10_000)
def _split_words(name: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORDS.findall(name[:200]))


def compare_shapes(old: Place, new: Place) -> float:
    """Return how alike two definitions of one kind are apart from their names, from 0 to 1."""
    first, second = old.definition, new.definition
    if old.is_class:
        members = old.members, new.members
        neutral = 1.0 if first.bases == second.bases else _NEUTRAL
        return _get_overlap(*members) if any(members) else neutral
    if first.signature and second.signature:
        if first.body == second.body and old.length >= 1:
            return 1.0
        signatures = first.signature, second.signature
        names = [{part.name for part in each.parameters} - {"self", "cls"} for each in signatures]
        return _get_overlap(*names) if any(names) else _NEUTRAL
    return 1.0 if len(first.value) > _MIN_VALUE and is_same_value(first.value, second.value) else _NEUTRAL


def _get_overlap(first: Collection[str], second: Collection[str]) -> float:
    common = len(set(first) & set(second))
    return common / max(1, len(set(first) | set(second)))


def is_same_value(first: str, second: str) -> bool:
    """Return whether two texts of expressions mean the same, however they are written."""
    if first == second:
        return True
    trees = parse_expression(first), parse_expression(second)
    if not trees[0] or not trees[1]:
        return "".join(first.split()) == "".join(second.split())
    return hash_code([trees[0]]) == hash_code([trees[1]])
