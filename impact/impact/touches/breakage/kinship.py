"""Which upstream classes a class of an error derives from: by a profile, or else by its name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from impact.profile.models import DerivedClass, Profile

# the words of a class name: NPUOffloadingSpec is NPU, Offloading and Spec
_CLASS_WORD = re.compile(r"[A-Z]{1,60}(?![a-z])|[A-Z]?[a-z0-9]{1,60}")
MAX_WORDS = 12
# words that a base has and its subclasses leave out
_BASE_WORDS = frozenset(("base", "abstract", "interface", "abc", "mixin", "impl"))
# a class that a profile knows, with other ancestors: the profile may not follow every base
_UNLISTED_SHARE = 0.4
# names that end in different words are no kin: a scheduler is no worker
_LEAST_LIKENESS = 0.4


class Kinship:
    """Kinship of classes, from 0 for none to 1 for a known ancestor."""

    def __init__(self, profiles: Iterable[Profile] = ()) -> None:
        self._ancestors = _index_ancestors(derived for each in profiles for derived in each.classes.values())

    def measure(self, name: str, ancestor: str) -> float:
        last, base = name.rpartition(".")[2], ancestor.rpartition(".")[2]
        if not last or not base:
            return 0.0
        if last == base:
            return 1.0
        known = self._ancestors.get(last)
        if known is None:
            return compare_class_names(last, base)
        if ancestor in known:
            return 1.0
        if base in {each.rpartition(".")[2] for each in known}:
            return 0.9
        return _UNLISTED_SHARE * compare_class_names(last, base)


def _index_ancestors(classes: Iterable[DerivedClass]) -> dict[str, frozenset[str]]:
    """Return the upstream ancestors by the last part of a class's name."""
    index: dict[str, frozenset[str]] = {}
    for derived in classes:
        last = derived.name.rpartition(".")[2]
        index[last] = index.get(last, frozenset()) | frozenset(derived.ancestors)
    return index


@lru_cache(maxsize=4096)
def compare_class_names(name: str, base: str) -> float:
    """Return how much a class is named as its base would be: 0.9 if the base's name is its end, 0 if unlike."""
    words, base_words = _split_words(name), _split_words(base)
    if words[-1:] != base_words[-1:]:
        base_words = [word for word in base_words if word not in _BASE_WORDS]
    if not words or not base_words or words[-1] != base_words[-1]:
        return 0.0
    if words[-len(base_words) :] == base_words:
        # "Scheduler" is the end of many names, "OffloadingSpec" of few
        return 0.9 if len(base_words) > 1 else 0.75
    common = _count_common(words, base_words)
    likeness = 2 * common / (len(words) + len(base_words))
    return 0.85 * likeness if likeness > _LEAST_LIKENESS else 0.0


def _split_words(name: str) -> list[str]:
    """Return the words of a name in lower case."""
    return [word.lower() for word in _CLASS_WORD.findall(name)[-MAX_WORDS:]]


def _count_common(words: list[str], others: list[str]) -> int:
    """Return how many words both have in the same order."""
    counts = [0] * (len(others) + 1)
    for word in words:
        before = 0
        for place, other in enumerate(others, 1):
            above = counts[place]
            counts[place] = before + 1 if word == other else max(counts[place], counts[place - 1])
            before = above
    return counts[-1]
