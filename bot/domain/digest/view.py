"""The view of a digest: filters, and whether only substantial or risky pull requests are shown."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum

from bot.domain.errors import UsageError
from bot.domain.pull_requests.filters import NO_FILTERS, Filters
from bot.domain.text.strings import quote_input


class ViewLevel(StrEnum):
    """The minimum importance of a pull request that is shown."""

    ALL = ""
    SUBSTANTIAL = "substantial"
    """Those that are not trivial."""
    RISKY = "risky"
    """Those that the rules list as risky, and the reverted ones."""


@dataclass(frozen=True, slots=True)
class DigestView:
    """The selection of the pull requests of a day."""

    filters: Filters = NO_FILTERS
    only: ViewLevel = ViewLevel.ALL

    def list_options(self) -> tuple[str, ...]:
        """Return the view as options of a command."""
        return (*self.filters.list_options(), *([f"only:{self.only}"] if self.only else []))

    def __str__(self) -> str:
        return " ".join(self.list_options())

    def __bool__(self) -> bool:
        """Return whether anything may be left out."""
        return bool(self.filters) or bool(self.only)

    @property
    def fingerprint(self) -> str:
        """A short hash that is equal for equal views only; empty if everything is shown."""
        return hashlib.sha256(str(self).encode()).hexdigest()[:8] if self else ""


FULL_VIEW = DigestView()


def parse_view_level(text: str) -> ViewLevel:
    """Parse the name of a view level. Raises UsageError."""
    try:
        return ViewLevel(text.lower())
    except ValueError as error:
        raise UsageError(
            f"I don't understand only:{quote_input(text)}: write only:substantial or only:risky."
        ) from error
