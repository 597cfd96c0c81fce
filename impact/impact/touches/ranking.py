"""The rank of a merge among others: how likely a team adapts to it.

A logistic model of five figures. Its weights were fitted to the 108 merges of vLLM from October 2025 to January
2026 that vllm-ascend names in its adaptations, out of 3,456, and rounded
(docs/decisions/0009-what-breaks-a-downstream.md has what was tried, ``python -m benchmarks months`` fits them
again).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Collection, Sequence

from impact.contract.models import MergeContract
from impact.python.module_names import name_module
from impact.touches.models import RankFigures, Touch, TouchLevel
from impact.touches.profile_index import ProfileIndex

# a merge that only touches is shown from this chance on: of the 65 below it, none was adapted to
LEAST_CHANCE = 0.025
# of what every merge has, of one that breaks, and of one that may break; then, for each doubling, roughly: of
# changed names that are used, of uses of the changed modules, and of all changes
WEIGHTS = (-6.3, 2.2, 0.3, 0.25, 0.45, 0.45)


def count_figures(contract: MergeContract, touches: Collection[Touch], index: ProfileIndex) -> RankFigures:
    levels = {each.level for each in touches}
    return RankFigures(
        max(levels, default=TouchLevel.NO) > TouchLevel.MAY_BREAK,
        TouchLevel.MAY_BREAK in levels,
        len({each.change.name for each in touches}),
        _count_uses(contract, index),
        len(contract.changes),
    )


def estimate_chance(figures: RankFigures, weights: Sequence[float] = WEIGHTS) -> float:
    """Return the chance that the team adapts to a merge, 0 if it changes nothing to depend on or that is used."""
    if not figures.names and not figures.uses:
        return 0.0
    odds = sum(map(operator.mul, weights, list_terms(figures)))
    return 1 / (1 + math.exp(-odds))


def list_terms(figures: RankFigures) -> tuple[float, ...]:
    """Return what the weights belong to."""
    counts = (figures.names, figures.uses, figures.changes)
    return 1.0, float(figures.breaks), float(figures.may_break), *map(math.log1p, counts)


def _count_uses(contract: MergeContract, index: ProfileIndex) -> int:
    """Return how many lines of the team use a module that the merge changes."""
    total = 0
    for path in contract.files:
        module = name_module(path)
        if module:
            name, is_package = module
            # most of what is imported from a package stands in other files of it
            uses = index.list_uses(name) if is_package else index.list_uses_within(name)
            total += len({(use.path, use.line) for use in uses})
    return total
