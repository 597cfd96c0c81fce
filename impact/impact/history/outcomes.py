"""The outcomes of merged pull requests: which were reverted or repaired, by which, and after what time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Generic, TypeVar

from impact.history.merges import WrittenMerge
from impact.history.repairs import find_repairs
from impact.history.revert_index import M, RevertIndex
from impact.history.reverts import list_reverted_numbers, select_standing

M_co = TypeVar("M_co", bound=WrittenMerge, covariant=True)


class OutcomeKind(StrEnum):
    REVERTED = "reverted"
    PARTLY = "reverted in part"
    REPAIRED = "repaired"


# without slots: Python 3.11 can't call MergeOutcome[PullRequest](…) of a frozen class that has them
@dataclass(frozen=True)
class MergeOutcome(Generic[M_co]):
    pull: M_co
    by: M_co
    kind: OutcomeKind = OutcomeKind.REVERTED
    stands: bool = True

    @property
    def lifetime(self) -> timedelta:
        return self.by.merge_time - self.pull.merge_time

    @property
    def pair_key(self) -> str:
        return f"{self.pull.number}-{self.by.number}"

    @property
    def state_key(self) -> str:
        return f"{self.pair_key}{'' if self.stands else '-'}"


def find_outcomes(index: RevertIndex[M]) -> tuple[MergeOutcome[M], ...]:
    """Return all outcomes among the merges of an index: reverts, also those that do not stand, then repairs.

    Both pull requests of a pair are in the index. A pair with a reverted pull request is no repair.
    """
    by_number, reverts = index.merges.by_number, index.reverts
    held = frozenset(select_standing(reverts, by_number.values()))
    gone = list_reverted_numbers(held)
    kinds = (OutcomeKind.REVERTED, OutcomeKind.PARTLY)
    reverted = (
        MergeOutcome(by_number[each.number], by_number[each.by], kinds[each.is_partial], stands=each in held)
        for each in reverts
    )
    repaired = (
        MergeOutcome(by_number[repair.number], by_number[repair.by], OutcomeKind.REPAIRED)
        for repair in find_repairs(index)
        if gone.isdisjoint((repair.number, repair.by))
    )
    return (*reverted, *repaired)
