"""What of a digest is shown to someone: filters, and whether only what is substantial or risky."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum

from bot.domain.pull_requests.filters import EVERYTHING, Filters


class Only(StrEnum):
    """How much a pull request has to weigh to be shown."""

    ALL = ""
    SUBSTANTIAL = "substantial"
    """What is not trivial."""
    RISKY = "risky"
    """What the rules list as risky, and what was taken back."""


@dataclass(frozen=True, slots=True)
class View:
    """Which pull requests of a day are shown."""

    filters: Filters = EVERYTHING
    only: Only = Only.ALL

    def words(self) -> tuple[str, ...]:
        """As they are written in a command."""
        return (*self.filters.words(), *([f"only:{self.only}"] if self.only else []))

    def __str__(self) -> str:
        return " ".join(self.words())

    def __bool__(self) -> bool:
        """Whether anything may be left out."""
        return bool(self.filters) or bool(self.only)

    @property
    def mark(self) -> str:
        """A short name that two views share only if they are equal; empty where everything is shown."""
        return hashlib.sha256(str(self).encode()).hexdigest()[:8] if self else ""


WHOLE = View()
