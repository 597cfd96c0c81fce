"""Versions of files from one source, and from another one where the first lacks the commit."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from bot.domain.errors import SourceUnavailable
from bot.domain.pull_requests.models import Repository
from bot.ports import SourceVersionReader
from impact.source.models import SourceVersions

log = logging.getLogger(__name__)


class FallbackVersionReader:
    """``SourceVersionReader`` that asks ``mirror`` first, and ``github`` where it lacks the commit."""

    def __init__(self, mirror: SourceVersionReader, github: SourceVersionReader) -> None:
        self._mirror = mirror
        self._github = github

    def read_versions(
        self, repository: Repository, commit: str, old: Sequence[str], new: Sequence[str]
    ) -> SourceVersions:
        """Return the files of both sides from one of the two. Raises what the second one raises."""
        try:
            return self._mirror.read_versions(repository, commit, old, new)
        except SourceUnavailable as error:
            log.info("versions of files of %s at %s are read from GitHub: %s", repository, commit, error)
        return self._github.read_versions(repository, commit, old, new)
