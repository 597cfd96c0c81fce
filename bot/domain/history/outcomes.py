"""What became of merged pull requests: which were reverted or repaired, by which, and how long they lived."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from bot.domain.history.repairs import repairs_among
from bot.domain.history.reverts import Revert, gone_of, reverts_among, standing
from bot.domain.pull_requests.models import PullRequest


class Fate(StrEnum):
    """How something was taken back, as a participle."""

    REVERTED = "reverted"
    PARTLY = "reverted in part"
    REPAIRED = "repaired"


@dataclass(frozen=True, slots=True)
class TakenBack:
    """A merge that another one reverted or repaired; it does not stand if that one was reverted in its turn."""

    pull: PullRequest
    by: PullRequest
    fate: Fate = Fate.REVERTED
    stands: bool = True

    @property
    def lasted(self) -> timedelta:
        return self.by.merge_time - self.pull.merge_time

    @property
    def mark(self) -> str:
        """Names the pair within its repository."""
        return f"{self.pull.number}-{self.by.number}"

    @property
    def state(self) -> str:
        """Its mark, another one where it does not stand."""
        return f"{self.mark}{'' if self.stands else '-'}"


def outcomes_among(pulls: Iterable[PullRequest]) -> tuple[TakenBack, ...]:
    """All that ``pulls`` say of each other: reverts, those that stand no more among them, then repairs.

    Both halves are among ``pulls``. Nothing is repaired that was reverted, or by what was.
    """
    known = tuple(pulls)
    by_number = {pull.number: pull for pull in known}
    reverts = reverts_among(known)
    held = frozenset(standing(reverts, known))
    gone = gone_of(held)
    taken = (
        TakenBack(by_number[found.number], by_number[found.by], _fate(found), stands=found in held)
        for found in reverts
    )
    repaired = (
        TakenBack(by_number[found.number], by_number[found.by], Fate.REPAIRED)
        for found in repairs_among(known)
        if gone.isdisjoint((found.number, found.by))
    )
    return (*taken, *repaired)


def _fate(revert: Revert) -> Fate:
    return Fate.PARTLY if revert.is_partial else Fate.REVERTED
