"""The outside of a bot at work: GitHub and a provider of models, as the settings say."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from functools import cached_property

from bot.adapters.github import GitHubClient, GitHubPullRequests, GitHubRateLimits
from bot.container.credentials import create_github_auth
from bot.container.late_model import LazyModelConnection
from bot.container.providers import get_model_access
from bot.domain.operations.rate_allowance import RateAllowance
from bot.ports import ChatModel, Model, ModelProvider, PullRequests
from bot.settings import Settings


class LiveSources:
    """:class:`bot.ports.Outside` over the network; each client is made when it is first asked for."""

    def __init__(self, settings: Settings, now: Callable[[], datetime], provider: ModelProvider) -> None:
        self._settings = settings
        self._provider = provider
        self._now = now

    @cached_property
    def pulls(self) -> PullRequests:
        """Pull requests from GitHub."""
        client = GitHubClient(self._settings.github_api_url, create_github_auth(self._settings))
        return GitHubPullRequests(client, self._now)

    @property
    def model(self) -> Model | None:
        """A model, None without a key."""
        return self._lazy_model

    @property
    def chat(self) -> ChatModel | None:
        """A model in a talk, None without a key."""
        return self._lazy_model

    @property
    def has_model(self) -> bool:
        """Whether there is a key."""
        return self._lazy_model is not None

    @property
    def stands_in(self) -> str:
        """Nobody."""
        return ""

    def list_allowances(self) -> Iterable[RateAllowance]:
        """What GitHub still grants. Not for several threads."""
        return self._rate_limits.list_allowances()

    def open_sources(self) -> None:
        """Have the model ready, with a key."""
        if self._lazy_model is not None:
            self._lazy_model.open_connection()

    def close(self) -> None:
        """Let go of the model."""
        if self._lazy_model is not None:
            self._lazy_model.close()

    @cached_property
    def _rate_limits(self) -> GitHubRateLimits:
        return GitHubRateLimits(self._settings.github_api_url, create_github_auth(self._settings))

    @cached_property
    def _lazy_model(self) -> LazyModelConnection | None:
        access = get_model_access(self._settings, self._provider)
        return None if access is None else LazyModelConnection(lambda: self._provider.connect(access))
