"""The mirror of repositories, if a folder for it is set."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from bot.platform.git.mirror import GitMirror, is_own_address
from bot.platform.git.reading import GitMirrorFiles, GitMirrorSearch, MirrorReader
from bot.platform.github.client import create_github_auth, read_git_token
from bot.ports import SourceFiles, SourceMirror, SourceSearch, SourceVersionReader
from bot.services.source.fallback_files import FallbackSourceFiles
from bot.services.source.fallback_versions import FallbackVersionReader
from bot.settings import Settings


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


def add_mirror_files(settings: Settings, github: SourceFiles) -> SourceFiles:
    """Return a source of files that reads the mirror first; ``github`` itself without ``PRDIGEST_MIRROR``."""
    folder = settings.prdigest_mirror
    return github if folder is None else FallbackSourceFiles(GitMirrorFiles(MirrorReader(folder)), github)


def add_mirror_versions(settings: Settings, github: SourceVersionReader) -> SourceVersionReader:
    """Return the same for files before and after a commit."""
    folder = settings.prdigest_mirror
    return github if folder is None else FallbackVersionReader(GitMirrorFiles(MirrorReader(folder)), github)


def build_mirror_search(settings: Settings) -> SourceSearch | None:
    """Build the search over the files of a mirror; None without ``PRDIGEST_MIRROR``."""
    folder = settings.prdigest_mirror
    return None if folder is None else GitMirrorSearch(MirrorReader(folder))
