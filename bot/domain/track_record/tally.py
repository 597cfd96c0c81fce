"""Counts of pull requests by what became of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bot.domain.history.pull_outcomes import MergeOutcome
from bot.domain.track_record.statistics import compute_wilson_interval
from impact.history.outcomes import OutcomeKind


@dataclass(frozen=True, slots=True)
class Tally:
    """The number of ``pulls``, and how many of them were ``reverted``, fully or in part, or else ``repaired``."""

    pulls: int = 0
    reverted: int = 0
    repaired: int = 0

    @property
    def taken_back(self) -> int:
        """The number of reverted or repaired ones."""
        return self.reverted + self.repaired

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the share reverted or repaired, from 0 to 1."""
        return compute_wilson_interval(self.taken_back, self.pulls)


EMPTY_TALLY = Tally()


def count_outcomes(outcomes: Iterable[MergeOutcome | None]) -> Tally:
    """Count pull requests by their outcomes, None for each that has none."""
    kinds = [outcome and outcome.kind for outcome in outcomes]
    repaired = kinds.count(OutcomeKind.REPAIRED)
    return Tally(len(kinds), len(kinds) - kinds.count(None) - repaired, repaired)
