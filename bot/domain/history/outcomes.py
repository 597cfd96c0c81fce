"""The outcomes of merged pull requests: which were reverted or repaired, by which, and after what time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from bot.domain.history.repairs import repairs_among
from bot.domain.history.reverts import Revert, gone_of, reverts_among, standing
from bot.domain.pull_requests.models import PullRequest


class Fate(StrEnum):
    """The kind of an outcome, as a participle for sentences."""

    REVERTED = "reverted"
    PARTLY = "reverted in part"
    REPAIRED = "repaired"


@dataclass(frozen=True, slots=True)
class TakenBack:
    """A merge that another merge reverted or repaired. It does not stand if that revert was itself reverted."""

    pull: PullRequest
    by: PullRequest
    fate: Fate = Fate.REVERTED
    stands: bool = True

    @property
    def lasted(self) -> timedelta:
        """The time between the merge and its revert or repair."""
        return self.by.merge_time - self.pull.merge_time

    @property
    def mark(self) -> str:
        """An identifier of the pair, unique within its repository."""
        return f"{self.pull.number}-{self.by.number}"

    @property
    def state(self) -> str:
        """The identifier of the pair and of whether it stands."""
        return f"{self.mark}{'' if self.stands else '-'}"


def outcomes_among(pulls: Iterable[PullRequest]) -> tuple[TakenBack, ...]:
    """Return all outcomes within ``pulls``: reverts, including those that no longer stand, then repairs.

    Both pull requests of a pair are in ``pulls``. A pair with a reverted pull request is no repair.
    """
    merged = tuple(pulls)
    by_number = {pull.number: pull for pull in merged}
    reverts = reverts_among(merged)
    held = frozenset(standing(reverts, merged))
    gone = gone_of(held)
    reverted = (
        TakenBack(by_number[revert.number], by_number[revert.by], _fate(revert), stands=revert in held)
        for revert in reverts
    )
    repaired = (
        TakenBack(by_number[repair.number], by_number[repair.by], Fate.REPAIRED)
        for repair in repairs_among(merged)
        if gone.isdisjoint((repair.number, repair.by))
    )
    return (*reverted, *repaired)


def _fate(revert: Revert) -> Fate:
    return Fate.PARTLY if revert.is_partial else Fate.REVERTED
