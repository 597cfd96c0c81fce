"""The outside of a bot at work: GitHub and Claude, as the settings say."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from bot.adapters.github import GitHubPullRequests
from bot.adapters.github_client import GitHubClient
from bot.adapters.github_limits import GitHubLimits
from bot.config import Settings
from bot.domain.allowance import Allowance
from bot.ports import ChatModel, Model, PullRequests
from bot.wiring.credentials import github_auth

if TYPE_CHECKING:
    from anthropic import Anthropic


class GitHubAndClaude:
    """:class:`bot.ports.Outside` over the network; each client is made when it is first asked for.

    The SDK of the model takes a second to import: whoever asks no model does not wait for it.
    """

    def __init__(self, settings: Settings, now: Callable[[], datetime]) -> None:
        self._settings = settings
        self._now = now

    @cached_property
    def pulls(self) -> PullRequests:
        """Pull requests from GitHub."""
        client = GitHubClient(self._settings.github_api_url, github_auth(self._settings))
        return GitHubPullRequests(client, self._now)

    @cached_property
    def model(self) -> Model | None:
        """Claude, None without a key."""
        if self._claude is None:
            return None
        from bot.adapters.claude import ClaudeModel  # noqa: PLC0415

        return ClaudeModel(self._claude)

    @cached_property
    def chat(self) -> ChatModel | None:
        """Claude in a talk, None without a key."""
        if self._claude is None:
            return None
        from bot.adapters.claude_chat import ClaudeChat  # noqa: PLC0415

        return ClaudeChat(self._claude)

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

    def close(self) -> None:
        """Let go of the model."""
        if claude := self.__dict__.get("_claude"):
            claude.close()

    @cached_property
    def _limits(self) -> GitHubLimits:
        return GitHubLimits(self._settings.github_api_url, github_auth(self._settings))

    @cached_property
    def _claude(self) -> Anthropic | None:
        key = self._settings.anthropic_api_key
        if key is None:
            return None
        from bot.adapters.claude import claude_client  # noqa: PLC0415

        return claude_client(key.get_secret_value(), self._settings.anthropic_base_url)
