"""The live sources: GitHub and a provider of models, from the settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from functools import cached_property

from bot.connections.mirror import (
    VersionedFiles,
    add_mirror,
    build_mirror,
    build_mirror_search,
)
from bot.platform.github.client import GitHubClient, GitHubRateLimits, create_github_auth
from bot.platform.github.discussions import GitHubBackground
from bot.platform.github.pulls import GitHubPullRequests
from bot.platform.github.releases import GitHubReleases, GitHubTrees
from bot.platform.github.source_files import GitHubSourceFiles
from bot.platform.models import ChatModel, Model, ModelProvider
from bot.platform.models.registry import LazyModelConnection, open_models
from bot.platform.pulls.models import PullRequest
from bot.platform.pulls.sources import PullRequestBackground, PullRequests, RateAllowance, Releases
from bot.platform.source.models import SourceMirror, SourceSearch, SourceTrees
from bot.platform.watches import CallWatch, watch_nothing
from bot.settings import Settings


class LiveSources:
    """:class:`bot.connections.protocol.Sources` over the network; each client is opened when it is first used."""

    def __init__(
        self,
        settings: Settings,
        now: Callable[[], datetime],
        provider: ModelProvider,
        watch_github: CallWatch = watch_nothing,
    ) -> None:
        """Build them; ``watch_github`` watches each call to GitHub."""
        self._settings = settings
        self._provider = provider
        self._now = now
        self._watch_github = watch_github

    @cached_property
    def pulls(self) -> PullRequests:
        """Pull requests from GitHub. Raises ConfigurationError without credentials."""
        return GitHubPullRequests(self._client, self._now)

    @cached_property
    def background(self) -> PullRequestBackground:
        """Discussions and the pull requests of commits. Raises ConfigurationError without credentials."""
        return GitHubBackground(self._client)

    @cached_property
    def source_files(self) -> VersionedFiles:
        """Files from the mirror, and from GitHub. Raises ConfigurationError without credentials."""
        return add_mirror(self._settings, GitHubSourceFiles(self._client))

    @property
    def source_versions(self) -> VersionedFiles:
        """The same before and after a commit."""
        return self.source_files

    @cached_property
    def source_trees(self) -> SourceTrees | None:
        """Lists of files from GitHub. Raises ConfigurationError without credentials."""
        return GitHubTrees(self._client)

    @cached_property
    def releases(self) -> Releases | None:
        """Releases from GitHub. Raises ConfigurationError without credentials."""
        return GitHubReleases(self._client)

    @property
    def model(self) -> Model | None:
        """The model; None without a key."""
        return self._lazy_model

    @property
    def chat(self) -> ChatModel | None:
        """The model that answers questions; None without a key."""
        return self._lazy_model

    @property
    def has_model(self) -> bool:
        """Whether there is a key of a model."""
        return self._lazy_model is not None

    @property
    def stands_in(self) -> str:
        """An empty text: a model writes, or nobody."""
        return ""

    @cached_property
    def source_mirror(self) -> SourceMirror | None:
        """The mirror of repositories; None without a folder for it."""
        return build_mirror(self._settings, self._now)

    @cached_property
    def source_search(self) -> SourceSearch | None:
        """The search over the mirror; None without a folder for it."""
        return build_mirror_search(self._settings)

    def get_written_review(self, pull: PullRequest) -> None:
        """Return None: reviews are made by the model."""

    def list_allowances(self) -> Iterable[RateAllowance]:
        """Return the remaining allowances of GitHub. Not for use by several threads."""
        return self._rate_limits.list_allowances()

    def open_sources(self) -> None:
        """Open the connection to the model, if there is a key."""
        if self._lazy_model is not None:
            self._lazy_model.open_connection()

    def close(self) -> None:
        """Close the connection to the model."""
        if self._lazy_model is not None:
            self._lazy_model.close()

    @cached_property
    def _client(self) -> GitHubClient:
        return GitHubClient(
            self._settings.github_api_url, create_github_auth(self._settings), watch=self._watch_github
        )

    @cached_property
    def _rate_limits(self) -> GitHubRateLimits:
        return GitHubRateLimits(self._settings.github_api_url, create_github_auth(self._settings))

    @cached_property
    def _lazy_model(self) -> LazyModelConnection | None:
        return open_models(self._settings, self._provider)
