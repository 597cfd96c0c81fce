"""The mirror of repositories, if a folder for it is set."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from bot.errors import SourceUnavailable
from bot.platform.git.mirror import GitMirror, is_own_address
from bot.platform.git.reading import MirrorReader
from bot.platform.github.client import create_github_auth, read_git_token
from bot.platform.source.models import SourceFiles, SourceMirror, SourceSearch, SourceVersionReader
from bot.settings import Settings
from impact.repository import Repository
from impact.source.models import DiffSide, SourceFile, SourceVersions

log = logging.getLogger(__name__)


class VersionedFiles(SourceFiles, SourceVersionReader, Protocol):
    """Files at a commit, and before it."""


def build_mirror(settings: Settings, now: Callable[[], datetime]) -> SourceMirror | None:
    """Build what keeps the mirrors up to date; None without ``PRDIGEST_MIRROR``.

    The token goes to the pages of the GitHub whose API is set, and nowhere else.
    """
    if settings.prdigest_mirror is None:
        return None
    api, web = settings.github_api_url, settings.github_web_url

    def read_token() -> str:
        return read_git_token(api, create_github_auth(settings)) if is_own_address(api, web) else ""

    return GitMirror(settings.prdigest_mirror, web, read_token, now)


def add_mirror(settings: Settings, github: VersionedFiles) -> VersionedFiles:
    """Return a source of files that reads the mirror first; ``github`` itself without ``PRDIGEST_MIRROR``."""
    folder = settings.prdigest_mirror
    return github if folder is None else MirroredFiles(MirrorReader(folder), github)


def build_mirror_search(settings: Settings) -> SourceSearch | None:
    """Build the search over the files of a mirror; None without ``PRDIGEST_MIRROR``."""
    folder = settings.prdigest_mirror
    return None if folder is None else MirrorReader(folder)


class MirroredFiles:
    """Files and their versions from the mirror, and from GitHub where the mirror lacks the commit.

    A mirror has the default branch alone, as it was when it was last updated. Both methods raise what GitHub
    raises.
    """

    def __init__(self, mirror: VersionedFiles, github: VersionedFiles) -> None:
        self._mirror = mirror
        self._github = github

    def read_files(
        self, repository: Repository, commit: str, paths: Sequence[str], side: DiffSide = DiffSide.NEW
    ) -> Mapping[str, SourceFile]:
        """Return each file of ``paths``."""
        try:
            return self._mirror.read_files(repository, commit, paths, side)
        except SourceUnavailable as error:
            log.info("files of %s at %s are read from GitHub: %s", repository, commit, error)
        return self._github.read_files(repository, commit, paths, side)

    def read_versions(
        self, repository: Repository, commit: str, old: Sequence[str], new: Sequence[str]
    ) -> SourceVersions:
        """Return the files of both sides."""
        try:
            return self._mirror.read_versions(repository, commit, old, new)
        except SourceUnavailable as error:
            log.info("versions of files of %s at %s are read from GitHub: %s", repository, commit, error)
        return self._github.read_versions(repository, commit, old, new)
