"""What became of merged pull requests: which were reverted or repaired, by which, and how long they lived."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from bot.domain.pulls import PullRequest
from bot.domain.repairs import repairs_among
from bot.domain.reverts import Revert, reverts_among, standing


class Fate(StrEnum):
    """How something was taken back, as a participle."""

    REVERTED = "reverted"
    PARTLY = "reverted in part"
    REPAIRED = "repaired"


@dataclass(frozen=True, slots=True)
class TakenBack:
    """A merge that another one reverted or repaired."""

    pull: PullRequest
    by: PullRequest
    fate: Fate = Fate.REVERTED

    @property
    def lasted(self) -> timedelta:
        return self.by.merge_time - self.pull.merge_time

    @property
    def mark(self) -> str:
        """Names the pair within its repository."""
        return f"{self.pull.number}-{self.by.number}"


def outcomes_among(pulls: Iterable[PullRequest]) -> tuple[TakenBack, ...]:
    """What holds at the end: a revert that was itself reverted took nothing back. Reverts first, then repairs.

    Both halves are among ``pulls``. Nothing is repaired that was reverted, or by what was.
    """
    known = tuple(pulls)
    by_number = {pull.number: pull for pull in known}
    reverts = standing(reverts_among(known), known)
    gone = {revert.number for revert in reverts if not _is_partial(revert)}
    taken = [
        TakenBack(
            by_number[found.number], by_number[found.by], Fate.PARTLY if _is_partial(found) else Fate.REVERTED
        )
        for found in reverts
    ]
    repaired = [
        TakenBack(by_number[found.number], by_number[found.by], Fate.REPAIRED)
        for found in repairs_among(known)
        if gone.isdisjoint((found.number, found.by))
    ]
    return (*taken, *repaired)


def _is_partial(revert: Revert) -> bool:
    return bool(getattr(revert, "is_partial", False))
