"""References to a pull request: ``35617``, ``#35617``, ``owner/repo#35617`` or its address."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bot.domain.errors import UsageError
from bot.domain.pull_requests.models import GITHUB_WEB, Repository
from bot.domain.text.strings import quote_input

_NUMBER = re.compile(r"#?(\d{1,9})")
_QUALIFIED = re.compile(r"([\w.-]+/[\w.-]+)#(\d{1,9})")
_PAGE = re.compile(r"/([\w.-]+/[\w.-]+)/pull/(\d{1,9})(?:[/?#].*)?")


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference to a pull request."""

    repository: Repository
    number: int

    def __str__(self) -> str:
        """Return ``owner/name#35617``."""
        return f"{self.repository}#{self.number}"


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
        raise UsageError("No repository: pass --repo owner/name or set PRDIGEST_REPO.")
    return Reference(default, int(bare[1]))


def _match_address(text: str, web: str) -> re.Match[str] | None:
    return _PAGE.fullmatch(text, len(web)) if text.startswith(web) else None
