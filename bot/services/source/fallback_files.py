"""Files from one source, and from another one where the first lacks the commit."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from bot.domain.errors import SourceUnavailable
from bot.domain.pull_requests.diff import DiffSide
from bot.domain.pull_requests.models import Repository
from bot.ports import SourceFiles
from impact.source.models import SourceFile

log = logging.getLogger(__name__)


class FallbackSourceFiles:
    """:class:`bot.ports.SourceFiles` that asks ``mirror`` first, and ``github`` where it lacks the commit.

    A mirror has the default branch alone, as it was when it was last updated.
    """

    def __init__(self, mirror: SourceFiles, github: SourceFiles) -> None:
        self._mirror = mirror
        self._github = github

    def read_files(
        self, repository: Repository, commit: str, paths: Sequence[str], side: DiffSide = DiffSide.NEW
    ) -> Mapping[str, SourceFile]:
        """Return each file of ``paths`` from one of the two. Raises what the second one raises."""
        try:
            return self._mirror.read_files(repository, commit, paths, side)
        except SourceUnavailable as error:
            log.info("files of %s at %s are read from GitHub: %s", repository, commit, error)
        return self._github.read_files(repository, commit, paths, side)
