"""References to a pull request: ``35617``, ``#35617``, ``owner/repo#35617`` or its address."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bot.domain.errors import PullRequestNotFound, UsageError
from bot.domain.pull_requests.models import GITHUB_WEB, Repository
from bot.domain.text.strings import quote_input

# the numbers of a repository begin at 1
_DIGITS = r"(?!0+\b)(\d{1,9})"
_NUMBER = re.compile(rf"#?{_DIGITS}")
# as on pages that group digits: 35,617
_GROUPED_NUMBER = re.compile(r"#?[1-9]\d{0,2}(?:,\d{3}){1,2}")
_QUALIFIED = re.compile(rf"([\w.-]+/[\w.-]+)#{_DIGITS}")
NO_REPOSITORY = "No repository: pass --repo owner/name or set PRDIGEST_REPO."
_PAGE = re.compile(rf"/([\w.-]+/[\w.-]+)/pull/{_DIGITS}(?:[/?#].*)?")


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference to a pull request."""

    repository: Repository
    number: int

    def __str__(self) -> str:
        """Return ``owner/name#35617``."""
        return f"{self.repository}#{self.number}"

    def build_missing_error(self) -> PullRequestNotFound:
        """Return the error for a number that no pull request of the repository has."""
        return PullRequestNotFound(f"{self.repository} has no pull request #{self.number}.")


def parse_reference(text: str, default: Repository | None, web: str = GITHUB_WEB) -> Reference:
    """Parse a reference that a person entered; ``default`` is the repository of a bare number.

    ``web`` is the address of GitHub's pages.

    Raises:
        UsageError: the text is not a reference, or it is a bare number and no default repository is set.
    """
    trimmed = text.strip()
    qualified = _QUALIFIED.fullmatch(trimmed) or _match_address(trimmed, web)
    if qualified:
        return Reference(Repository.parse(qualified[1]), int(qualified[2]))
    bare = _NUMBER.fullmatch(trimmed)
    if not bare:
        raise UsageError(
            f"I couldn't find a pull request number in {quote_input(text)}: write 35617, #35617, "
            "owner/repo#35617 or its web address."
        )
    if default is None:
        raise UsageError(NO_REPOSITORY)
    return Reference(default, int(bare[1]))


def ungroup_number(word: str) -> str:
    """Return ``35617`` for ``35,617``, and any other word as it is."""
    return word.replace(",", "") if _GROUPED_NUMBER.fullmatch(word) else word


def _match_address(text: str, web: str) -> re.Match[str] | None:
    return _PAGE.fullmatch(text, len(web)) if text.startswith(web) else None
