"""The rank of a merge among others: how likely a team adapts to it.

A logistic model of five figures. Its weights were fitted to the 108 merges of vLLM from October 2025 to January
2026 that vllm-ascend names in its adaptations, out of 3,456, and rounded
(docs/decisions/0009-what-breaks-a-downstream.md has the method and what was tried).
"""

from __future__ import annotations

import math
from collections.abc import Collection

from impact.contract.models import MergeContract
from impact.python.module_names import name_module
from impact.touches.models import Touch, TouchLevel
from impact.touches.profile_index import ProfileIndex

# a merge that only touches is shown from this chance on: of the 65 below it, none was adapted to
LEAST_CHANCE = 0.025
_INTERCEPT = -6.3
_BREAKS, _MAY_BREAK = 2.2, 0.3
# for each doubling, roughly: changed names that are used, uses of the changed modules, changed names
_NAMES, _USES, _CHANGES = 0.25, 0.45, 0.45


def estimate_chance(contract: MergeContract, touches: Collection[Touch], index: ProfileIndex) -> float:
    """Return the chance that the team adapts to a merge, 0 if it changes nothing to depend on or that is used."""
    uses = _count_uses(contract, index)
    if not touches and not uses:
        return 0.0
    levels = {each.level for each in touches}
    odds = (
        _INTERCEPT
        + _BREAKS * (max(levels, default=TouchLevel.NO) > TouchLevel.MAY_BREAK)
        + _MAY_BREAK * (TouchLevel.MAY_BREAK in levels)
        + _NAMES * math.log1p(len({each.change.name for each in touches}))
        + _USES * math.log1p(uses)
        + _CHANGES * math.log1p(len(contract.changes))
    )
    return 1 / (1 + math.exp(-odds))


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
