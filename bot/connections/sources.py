"""What the settings lead to: repositories, the store, GitHub, clones, and the provider of models."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from redis import Redis

from bot.connections.path_settings import read_path_settings
from bot.errors import ConfigurationError, SourceUnavailable
from bot.platform.commands import AllowedRepositories
from bot.platform.git.mirror import GitMirror, MirrorLimits, is_own_address
from bot.platform.git.reading import MirrorReader
from bot.platform.git.tag_history import TagHistory
from bot.platform.github.client import GitHubClient, GitHubRateLimits, create_github_auth, read_git_token
from bot.platform.github.discussions import GitHubBackground
from bot.platform.github.pulls import GitHubPullRequests
from bot.platform.github.releases import GitHubReleases, GitHubTrees
from bot.platform.github.source_files import GitHubSourceFiles
from bot.platform.http.bounded_calls import CallWatch, watch_nothing
from bot.platform.models import ChatModel, Model, ModelProvider
from bot.platform.models.registry import LazyModelConnection, get_model_access
from bot.platform.packages.index import PackageIndex
from bot.platform.pulls.models import PullRequest
from bot.platform.pulls.paths import PathSettings
from bot.platform.pulls.sources import PullRequestBackground, PullRequests, RateAllowance, Releases
from bot.platform.source.models import SourceFiles, SourceVersionReader
from bot.platform.store.connection import RedisTimeouts, connect_embedded, connect_server
from bot.settings import SET_REPOSITORY, Settings
from impact.repository import Repository
from impact.source.models import DiffSide, SourceFile, SourceVersions

if TYPE_CHECKING:
    from bot.features.merges.review import BugReview

log = logging.getLogger(__name__)
NO_NAMES: Mapping[Repository, Repository] = MappingProxyType({})


def list_repositories(settings: Settings) -> tuple[Repository, ...]:
    """List the repositories that the bot may speak of, each once, the default one first."""
    return tuple(dict.fromkeys(each for each in (settings.prdigest_repo, *settings.prdigest_repos) if each))


def build_allowed_repositories(settings: Settings) -> AllowedRepositories:
    """Return the repositories that the bot may speak of. Raises ConfigurationError if there is none."""
    repositories = list_repositories(settings)
    if not repositories:
        raise ConfigurationError(SET_REPOSITORY)
    return AllowedRepositories(repositories[0], repositories[1:], settings.github_web_url)


def load_path_settings(settings: Settings) -> PathSettings:
    """Load the path classes of each repository. Raises ConfigurationError if their file can't be used."""
    return read_path_settings(settings.prdigest_paths) if settings.prdigest_paths else PathSettings()


def connect_store(settings: Settings, timeouts: RedisTimeouts) -> Redis:
    """Open a client of the store. Raises StoreUnavailable."""
    if settings.redis_url:
        return connect_server(settings.redis_url, timeouts=timeouts)
    return connect_embedded(settings.prdigest_state_dir, timeouts)


def get_display_name(settings: Settings, repository: Repository) -> str:
    if settings.prdigest_name and repository == settings.prdigest_repo:
        return settings.prdigest_name
    return repository.name


class VersionedFiles(SourceFiles, SourceVersionReader, Protocol):
    """Files at a commit, and before it."""


def build_mirror(
    settings: Settings,
    now: Callable[[], datetime],
    present_names: Mapping[Repository, Repository] = NO_NAMES,
    *,
    has_files: bool = True,
) -> GitMirror | None:
    """Build what updates the mirrors, None without a folder. The token goes to pages of the set GitHub alone."""
    folder = settings.mirror_folder
    if folder is None:
        return None
    api, web = settings.github_api_url, settings.github_web_url

    def read_token() -> str:
        return read_git_token(api, create_github_auth(settings)) if is_own_address(api, web) else ""

    # without files, the whole history is smaller than that of a month with them
    limits = MirrorLimits.of_days(settings.prdigest_mirror_days) if has_files else MirrorLimits.of_commits()
    return GitMirror(folder, web, read_token, now, limits, present_names=present_names, has_files=has_files)


def add_mirror(settings: Settings, github: VersionedFiles) -> VersionedFiles:
    """Return a source of files that reads the mirror first; ``github`` itself without mirrors."""
    folder = settings.mirror_folder
    return github if folder is None else MirroredFiles(MirrorReader(folder), github)


def build_package_index(settings: Settings) -> PackageIndex | None:
    address = settings.prdigest_package_index
    return PackageIndex(address, settings.prdigest_state_dir / "packages") if address else None


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
        try:
            return self._mirror.read_files(repository, commit, paths, side)
        except SourceUnavailable as error:
            log.info("files of %s at %s are read from GitHub: %s", repository, commit, error)
        return self._github.read_files(repository, commit, paths, side)

    def read_versions(
        self, repository: Repository, commit: str, old: Sequence[str], new: Sequence[str]
    ) -> SourceVersions:
        try:
            return self._mirror.read_versions(repository, commit, old, new)
        except SourceUnavailable as error:
            log.info("versions of files of %s at %s are read from GitHub: %s", repository, commit, error)
        return self._github.read_versions(repository, commit, old, new)


class Sources(Protocol):
    """Sources of pull requests and of texts. The settings of a source are needed only when it is used.

    ``pulls``, ``background``, those of files and releases, ``model`` and ``chat`` raise ConfigurationError if a
    setting is missing or wrong. What is None is not there.
    """

    @property
    def pulls(self) -> PullRequests: ...

    @property
    def background(self) -> PullRequestBackground | None: ...

    @property
    def source_files(self) -> SourceFiles | None: ...

    @property
    def source_versions(self) -> SourceVersionReader | None: ...

    @property
    def source_trees(self) -> GitHubTrees | None: ...

    @property
    def releases(self) -> Releases | None: ...

    @property
    def model(self) -> Model | None: ...

    @property
    def chat(self) -> ChatModel | None: ...

    @property
    def has_model(self) -> bool:
        """Whether there is a model that writes and answers. Reading this opens no connection."""

    @property
    def stands_in(self) -> str:
        """Who writes in place of a model, as a sentence for readers; empty if a model writes, or nobody.

        Such a writer has read the changes before, so its statements need no proof by a quote from a diff.
        """

    @property
    def source_mirror(self) -> GitMirror | None:
        """The copies of repositories that are brought up to date before a digest."""

    @property
    def source_search(self) -> MirrorReader | None: ...

    @property
    def tag_history(self) -> TagHistory | None:
        """All commits of repositories with their tags, without files."""

    def get_written_review(self, pull: PullRequest) -> BugReview | None:
        """Return the review for bugs that was written for a pull request of a sample; None elsewhere."""

    def list_allowances(self) -> Iterable[RateAllowance]:
        """Return the remaining allowances of the source of pull requests; empty without reported limits."""

    def open_sources(self) -> None:
        """Open everything now that the first use would otherwise open. This may take time."""

    def close(self) -> None: ...


class LiveSources:
    """:class:`Sources` over the network; each client is opened when it is first used.

    Those of GitHub raise ConfigurationError without credentials. ``watch_github`` watches each call to it.
    ``present_names`` are those of repositories that are spoken of by an earlier one.
    """

    # a model writes, or nobody
    stands_in = ""

    def __init__(
        self,
        settings: Settings,
        now: Callable[[], datetime],
        provider: ModelProvider,
        watch_github: CallWatch = watch_nothing,
        present_names: Mapping[Repository, Repository] = NO_NAMES,
    ) -> None:
        # it is filled when the store is open
        self._present_names = present_names
        self._settings = settings
        self._provider = provider
        self._now = now
        self._watch_github = watch_github

    @cached_property
    def _client(self) -> GitHubClient:
        settings, watch = self._settings, self._watch_github
        auth = create_github_auth(settings)
        return GitHubClient(settings.github_api_url, auth, watch=watch, present_names=self._present_names)

    @cached_property
    def pulls(self) -> PullRequests:
        return GitHubPullRequests(self._client, self._now)

    @cached_property
    def background(self) -> PullRequestBackground:
        return GitHubBackground(self._client)

    @cached_property
    def source_files(self) -> VersionedFiles:
        return add_mirror(self._settings, GitHubSourceFiles(self._client))

    @property
    def source_versions(self) -> VersionedFiles:
        return self.source_files

    @cached_property
    def source_trees(self) -> GitHubTrees | None:
        return GitHubTrees(self._client)

    @cached_property
    def releases(self) -> Releases | None:
        return GitHubReleases(self._client)

    @cached_property
    def source_mirror(self) -> GitMirror | None:
        return build_mirror(self._settings, self._now, self._present_names)

    @cached_property
    def source_search(self) -> MirrorReader | None:
        """The search over the mirror; None without a folder for it."""
        folder = self._settings.mirror_folder
        return None if folder is None else MirrorReader(folder)

    @cached_property
    def tag_history(self) -> TagHistory | None:
        mirror = build_mirror(self._settings, self._now, self._present_names, has_files=False)
        folder = self._settings.mirror_folder
        return TagHistory(mirror, MirrorReader(folder, has_files=False)) if mirror and folder else None

    @cached_property
    def _lazy_model(self) -> LazyModelConnection | None:
        access = get_model_access(self._settings, self._provider)
        return None if access is None else LazyModelConnection(self._provider, access)

    @property
    def model(self) -> Model | None:
        return self._lazy_model

    @property
    def chat(self) -> ChatModel | None:
        return self._lazy_model

    @property
    def has_model(self) -> bool:
        return self._lazy_model is not None

    def get_written_review(self, pull: PullRequest) -> None:
        """Return None: reviews are made by the model."""

    def list_allowances(self) -> Iterable[RateAllowance]:
        """Return the remaining allowances of GitHub. Not for use by several threads."""
        return self._rate_limits.list_allowances()

    @cached_property
    def _rate_limits(self) -> GitHubRateLimits:
        return GitHubRateLimits(self._settings.github_api_url, create_github_auth(self._settings))

    def open_sources(self) -> None:
        if self._lazy_model is not None:
            self._lazy_model.open_connection()

    def close(self) -> None:
        if self._lazy_model is not None:
            self._lazy_model.close()
