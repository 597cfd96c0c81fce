"""The view of a digest: filters, which pull requests are shown, and whose profile they are checked against."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum

from bot.domain.errors import UsageError
from bot.domain.pull_requests.filters import NO_FILTERS, Filters
from bot.domain.text.strings import quote_input
from impact.profile.names import parse_profile_name


class ViewLevel(StrEnum):
    """The minimum importance of a pull request that is shown."""

    ALL = ""
    SUBSTANTIAL = "substantial"
    """Those that are not trivial."""
    RISKY = "risky"
    """Those that the rules list as risky, and the reverted ones."""
    TOUCHING = "touching"
    """Those that touch the code of the view's profile."""


def check_profile_name(name: str) -> None:
    """Raise UsageError for a name that no profile has; an empty one stands for none."""
    if name:
        parse_profile_name(name)


@dataclass(frozen=True, slots=True)
class DigestView:
    """The selection of the pull requests of a day, and the name of the profile that they are checked against.

    Raises:
        UsageError: the name of the profile can't be one, or is missing.
    """

    filters: Filters = NO_FILTERS
    only: ViewLevel = ViewLevel.ALL
    profile: str = ""

    def __post_init__(self) -> None:
        check_profile_name(self.profile)
        if self.only is ViewLevel.TOUCHING and not self.profile:
            raise UsageError("only:touching needs a profile: add profile:NAME.")

    def list_options(self) -> tuple[str, ...]:
        """Return the view as options of a command."""
        return (
            *self.filters.list_options(),
            *([f"only:{self.only}"] if self.only else []),
            *([f"profile:{self.profile}"] if self.profile else []),
        )

    def __str__(self) -> str:
        return " ".join(self.list_options())

    def __bool__(self) -> bool:
        """Return whether anything may be left out."""
        return bool(self.filters) or bool(self.only)

    @property
    def fingerprint(self) -> str:
        """A short hash that is equal for equal views only; empty for the full view without a profile."""
        text = str(self)
        return hashlib.sha256(text.encode()).hexdigest()[:8] if text else ""


FULL_VIEW = DigestView()


def parse_view_level(text: str) -> ViewLevel:
    """Parse the name of a view level. Raises UsageError."""
    try:
        return ViewLevel(text.lower())
    except ValueError as error:
        raise UsageError(
            f"I don't understand only:{quote_input(text)}: write only:substantial, only:risky or only:touching."
        ) from error
