"""Interface to the releases of a repository."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bot.domain.contract.releases import Release
from bot.domain.pull_requests.models import Repository


class Releases(Protocol):
    """Source of releases."""

    def list_releases(self, repository: Repository) -> Sequence[Release]:
        """Return the newest releases of a repository, oldest first, without drafts and release candidates.

        Raises:
            PrdigestError: as the methods of :class:`bot.ports.PullRequests` do.
        """
