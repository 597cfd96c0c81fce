"""How alike two definitions are, by their names, shapes and bodies."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

from impact.contract.python.signatures import is_same_value
from impact.python.models import Definition, DefinitionKind, ModuleOutline, Signature

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
# of two shapes that say nothing: no parameters, no members
_NEUTRAL = 0.5
_MIN_VALUE = 3


def compare_names(first: str, second: str) -> float:
    """Return the share of common words in two names, from 0 to 1."""
    return _get_overlap(_split_words(first), _split_words(second))


def compare_shapes(first: Definition, before: ModuleOutline, second: Definition, after: ModuleOutline) -> float:
    """Return how alike two definitions of one kind are apart from their names, from 0 to 1."""
    if first.kind is DefinitionKind.CLASS:
        members = before.list_members(first.name), after.list_members(second.name)
        if not members[0] and not members[1]:
            return 1.0 if first.bases == second.bases else _NEUTRAL
        return _get_overlap(members[0], members[1])
    if first.signature and second.signature:
        return _compare_functions(first, second)
    if len(first.value) > _MIN_VALUE and is_same_value(first.value, second.value):
        return 1.0
    return _NEUTRAL


def _compare_functions(first: Definition, second: Definition) -> float:
    if first.body == second.body and first.end_line - first.line >= 1:
        return 1.0
    old, new = _list_parameters(first.signature), _list_parameters(second.signature)
    return _get_overlap(old, new) if old or new else _NEUTRAL


def _list_parameters(signature: Signature | None) -> set[str]:
    return {each.name for each in signature.parameters} - {"self", "cls"} if signature else set()


def _get_overlap(first: Collection[str], second: Collection[str]) -> float:
    common = len(set(first) & set(second))
    return common / max(1, len(set(first) | set(second)))


@lru_cache(maxsize=10_000)
def _split_words(name: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORDS.findall(name[:200]))
