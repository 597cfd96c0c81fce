"""Interface to the releases of a repository."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bot.domain.pull_requests.models import Repository
from impact.contract.releases import Release


class Releases(Protocol):
    """Source of releases."""

    def list_releases(self, repository: Repository) -> Sequence[Release]:
        """Return the newest releases of a repository, oldest first, without drafts and release candidates.

        A tag that is nothing but a version counts as a release, too.

        Raises:
            PrdigestError: as the methods of :class:`bot.ports.PullRequests` do.
        """

    def find_commit(self, repository: Repository, tag: str) -> str:
        """Return the last merge of the default branch that a tag holds, as a full hash; empty without one.

        A tag of a release branch holds commits of its own, which are no merges. Raises as ``list_releases``.
        """
