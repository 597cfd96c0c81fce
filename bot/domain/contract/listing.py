"""What the merges of some days change for others, as a command lists it."""

from __future__ import annotations

from dataclasses import dataclass

from bot.domain.pull_requests.models import PullRequest
from bot.domain.time.date_range import Span
from impact.contract.models import MergeContract, UnreadFile


@dataclass(frozen=True, slots=True)
class ContractList:
    """The contracts of the merges of some days that fit the filters. ``merged`` counts all merges."""

    name: str
    span: Span
    merged: int
    pulls: tuple[PullRequest, ...] = ()
    contracts: tuple[MergeContract, ...] = ()
    filters: str = ""
    caveats: tuple[str, ...] = ()

    @property
    def unread(self) -> tuple[UnreadFile, ...]:
        """The files that could not be read."""
        return tuple(dict.fromkeys(file for contract in self.contracts for file in contract.unread))
