"""Where names went that a module no longer defines: to other modules, or to other names, by how alike they are."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from impact.contract.python.snapshots import Place, Snapshot
from impact.python.code_reader import hash_code
from impact.python.models import DefinitionKind
from impact.python.syntax import parse_expression

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
        scored = [(compare_shapes(old, each), each) for each in by_name[old.definition.name, old.kind]]
        best = max(scored, key=lambda each: (each[0], -_get_distance(old, each[1])), default=None)
        if best and best[0] >= _MIN_SAME_NAME:
            yield Pair(old, best[1], is_importable)


def _get_distance(old: Place, new: Place) -> int:
    """Return by how many packages two modules differ."""
    first, second = old.module.split("."), new.module.split(".")
    common = sum(1 for left, right in zip(first, second, strict=False) if left == right)
    return len(first) + len(second) - 2 * common


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
