"""Where names went that a module no longer defines: to other modules, or to other names."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from impact.contract.python.similarity import compare_names, compare_shapes
from impact.contract.python.snapshots import Presence, Snapshot
from impact.python.models import Definition, DefinitionKind, ModuleOutline

# set before any result was seen: what has the same name may differ by half, what has another name by little
_MIN_SAME_NAME = 0.3
_MIN_RENAME = 0.58
# what took another's name elsewhere may be another thing
_MIN_COMPARED = 0.5
_MIN_MOVED_RENAME = 0.8
_NAME_WEIGHT = 0.4
# definitions of a module that are compared with each other: more are generated ones
_MAX_COMPARED = 60
_MIN_MEMBERS = 3
_MIN_BODY_LINES = 3


@dataclass(frozen=True, slots=True)
class Place:
    outline: ModuleOutline
    definition: Definition

    @property
    def name(self) -> str:
        return f"{self.outline.module}.{self.definition.name}"


@dataclass(frozen=True, slots=True)
class Pair:
    """A definition before and after. ``is_importable``: the old name can still be used."""

    old: Place
    new: Place
    is_importable: bool = False

    @property
    def is_comparable(self) -> bool:
        """Whether both are the same thing: under one name, or alike."""
        return self.old.name == self.new.name or _compare(self.old, self.new) >= _MIN_COMPARED


@dataclass(frozen=True, slots=True)
class Matches:
    """The names at the top level of changed modules: those with a successor, and the lost."""

    pairs: tuple[Pair, ...]
    lost: tuple[Place, ...]


def match_names(before: Snapshot, after: Snapshot) -> Matches:
    pairs: list[Pair] = []
    waiting: list[tuple[Place, bool]] = []
    fresh = [
        each
        for each in _list_places(after)
        if (previous := before.modules.get(each.outline.module)) is None
        or each.definition.name not in previous.definitions
    ]
    for old in _list_places(before):
        pair, is_importable = _find_same_name(old, after)
        if pair:
            pairs.append(pair)
        else:
            waiting.append((old, is_importable))
    hints = find_import_moves(before, after)
    matched_names = {pair.new.name for pair in pairs if pair.old.name != pair.new.name}
    matched = _match_moves(waiting, fresh, hints, after)
    pairs.extend(matched)
    done = {pair.old.name for pair in matched}
    matched_names |= {pair.new.name for pair in matched}
    waiting = [each for each in waiting if each[0].name not in done]
    renamed = list(_match_renames(waiting, [each for each in fresh if each.name not in matched_names]))
    pairs.extend(renamed)
    done = {pair.old.name for pair in renamed}
    lost = tuple(old for old, is_importable in waiting if old.name not in done and not is_importable)
    return Matches(tuple(pairs), lost)


def find_import_moves(before: Snapshot, after: Snapshot) -> dict[str, str]:
    """Return where most changed files import a name from that they imported from elsewhere."""
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for module, outline in after.modules.items():
        previous = before.modules.get(module)
        for local, target in outline.imports.items() if previous else ():
            old = previous.imports.get(local, target) if previous else target
            if old != target:
                votes[old][target] += 1
    return {old: counter.most_common(1)[0][0] for old, counter in votes.items()}


def _list_places(side: Snapshot) -> Iterator[Place]:
    for outline in side.modules.values():
        for definition in outline.definitions.values():
            is_top = "." not in definition.name and definition.name not in outline.typing_only
            if is_top and not _is_dunder(definition.name):
                yield Place(outline, definition)


def _find_same_name(old: Place, after: Snapshot) -> tuple[Pair | None, bool]:
    module, name = old.outline.module, old.definition.name
    outline = after.get_module(module)
    if outline is None:
        return None, False
    lookup = after.find_name(module, name)
    if lookup.presence is Presence.UNKNOWN and name in old.outline.dynamic:
        # the table of ``__getattr__`` had it
        return None, name in outline.dynamic or not outline.dynamic or bool(outline.stars)
    if lookup.presence is not Presence.PRESENT:
        return None, lookup.presence is Presence.UNKNOWN
    place = find_place(after, lookup.name)
    # under the same name, something of another kind is still what callers get
    if place is None or not (_is_same_kind(old.definition, place.definition) or place.name == old.name):
        return None, True
    return Pair(old, place, is_importable=True), True


def find_place(side: Snapshot, full_name: str) -> Place | None:
    match = side.find_definition(full_name)
    return Place(*match) if match else None


def _match_moves(
    waiting: Iterable[tuple[Place, bool]], fresh: Iterable[Place], hints: Mapping[str, str], after: Snapshot
) -> list[Pair]:
    by_name: dict[str, list[Place]] = defaultdict(list)
    for each in fresh:
        by_name[each.definition.name].append(each)
    pairs = []
    for old, is_importable in waiting:
        new = _choose_move(old, by_name[old.definition.name], hints, after)
        if new:
            pairs.append(Pair(old, new, is_importable=is_importable))
    return pairs


def _choose_move(
    old: Place, candidates: Sequence[Place], hints: Mapping[str, str], after: Snapshot
) -> Place | None:
    hint = hints.get(old.name)
    place = find_place(after, hint) if hint else None
    if place and _is_same_kind(old.definition, place.definition):
        return place
    scored = [(_compare(old, each), each) for each in candidates if _is_same_kind(old.definition, each.definition)]
    best = max(scored, key=lambda each: (each[0], -_get_distance(old, each[1])), default=None)
    return best[1] if best and best[0] >= _MIN_SAME_NAME else None


def _match_renames(waiting: Sequence[tuple[Place, bool]], fresh: Sequence[Place]) -> Iterator[Pair]:
    """Yield the best pairs of a lost and a fresh definition, each used once."""
    if len(waiting) > _MAX_COMPARED or len(fresh) > 4 * _MAX_COMPARED:
        fresh = fresh[: 4 * _MAX_COMPARED]
    scored = [
        (score, old, is_importable, new)
        for old, is_importable in waiting[:_MAX_COMPARED]
        for new in fresh
        if (score := _score_rename(old, new))
    ]
    done: set[str] = set()
    for _, old, is_importable, new in sorted(scored, key=lambda each: (-each[0], each[1].name, each[3].name)):
        if old.name not in done and new.name not in done:
            done.update((old.name, new.name))
            yield Pair(old, new, is_importable=is_importable)


def _score_rename(old: Place, new: Place) -> float:
    """Return how likely a definition has got another name, 0 for what is not likely enough."""
    if old.definition.kind is not new.definition.kind:
        return 0.0
    shape, name = _compare(old, new), compare_names(old.definition.name, new.definition.name)
    if old.outline.module != new.outline.module:
        return shape if shape >= _MIN_MOVED_RENAME and _is_telling(old) else 0.0
    if shape == 1.0 and _is_telling(old):
        return 1.0 + name
    score = _NAME_WEIGHT * name + (1 - _NAME_WEIGHT) * shape
    return score if score >= _MIN_RENAME and name else 0.0


def _is_telling(place: Place) -> bool:
    """Return whether a definition has enough in it to be known again under another name."""
    definition = place.definition
    if definition.kind is DefinitionKind.CLASS:
        return len(place.outline.list_members(definition.name)) >= _MIN_MEMBERS
    return definition.kind is DefinitionKind.FUNCTION and definition.end_line - definition.line >= _MIN_BODY_LINES


def _compare(old: Place, new: Place) -> float:
    return compare_shapes(old.definition, old.outline, new.definition, new.outline)


def _is_same_kind(old: Definition, new: Definition) -> bool:
    return old.kind is new.kind


def _get_distance(old: Place, new: Place) -> int:
    """Return by how many packages two modules differ."""
    first, second = old.outline.module.split("."), new.outline.module.split(".")
    common = sum(1 for left, right in zip(first, second, strict=False) if left == right)
    return len(first) + len(second) - 2 * common


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")
