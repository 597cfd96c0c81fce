"""The outside of a bot at work: GitHub and Claude, as the settings say."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from functools import cached_property

from bot.adapters.claude import LateClaude
from bot.adapters.github import GitHubClient, GitHubLimits, GitHubPullRequests
from bot.container.credentials import github_auth
from bot.domain.operations.rate_allowance import Allowance
from bot.ports import ChatModel, Model, PullRequests
from bot.settings import Settings


class GitHubAndClaude:
    """:class:`bot.ports.Outside` over the network; each client is made when it is first asked for."""

    def __init__(self, settings: Settings, now: Callable[[], datetime]) -> None:
        self._settings = settings
        self._now = now

    @cached_property
    def pulls(self) -> PullRequests:
        """Pull requests from GitHub."""
        client = GitHubClient(self._settings.github_api_url, github_auth(self._settings))
        return GitHubPullRequests(client, self._now)

    @property
    def model(self) -> Model | None:
        """Claude, None without a key."""
        return self._claude

    @property
    def chat(self) -> ChatModel | None:
        """Claude in a talk, None without a key."""
        return self._claude

    @property
    def has_model(self) -> bool:
        """Whether there is a key."""
        return self._settings.anthropic_api_key is not None

    @property
    def stands_in(self) -> str:
        """Nobody."""
        return ""

    def allowances(self) -> Iterable[Allowance]:
        """What GitHub still grants. Not for several threads."""
        return self._limits.left()

    def prepare(self) -> None:
        """Have Claude ready, with a key."""
        if self._claude is not None:
            self._claude.prepare()

    def close(self) -> None:
        """Let go of the model."""
        if self._claude is not None:
            self._claude.close()

    @cached_property
    def _limits(self) -> GitHubLimits:
        return GitHubLimits(self._settings.github_api_url, github_auth(self._settings))

    @cached_property
    def _claude(self) -> LateClaude | None:
        key = self._settings.anthropic_api_key
        return None if key is None else LateClaude(key.get_secret_value(), self._settings.anthropic_base_url)
