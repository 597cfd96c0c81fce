"""The composition root: turns settings into services. The only place that knows every adapter."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import cached_property
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from github import Auth
from pydantic import SecretStr
from redis import Redis
from slack_sdk import WebClient

from bot.adapters.claude import ClaudeModel, claude_client
from bot.adapters.files_cache import CachedFiles
from bot.adapters.github import GitHubPullRequests
from bot.adapters.github_client import GitHubClient
from bot.adapters.slack import SlackMessenger, slack_client
from bot.adapters.store import RedisCache, RedisPostRecords, connect, connect_embedded, require_durable
from bot.config import Settings
from bot.domain.errors import UsageError
from bot.ports import Cache, Messenger, PullRequests
from bot.services.asking import Asker
from bot.services.commands import CommandAnswers
from bot.services.daily import DailyDigest
from bot.services.overview import Overviewer
from bot.services.publish import Publisher
from bot.services.summarise import Summariser


class Wiring:
    """Builds each service when it is first asked for, so that a command needs only its own settings."""

    def __init__(self, settings: Settings, now: Callable[[], datetime], sleep: Callable[[float], None]) -> None:
        self._settings = settings
        self._now = now
        self._sleep = sleep

    @cached_property
    def daily(self) -> DailyDigest:
        """Builds digests and single entries."""
        return DailyDigest(
            self.pulls,
            self._summariser.summarise,
            Overviewer(self._asker, self._settings.prdigest_answer_model).overview,
            self._settings.prdigest_concurrency,
        )

    @cached_property
    def pulls(self) -> PullRequests:
        """Pull requests from GitHub, their files through the cache."""
        client = GitHubClient(self._settings.github_api_url, _github_auth(self._settings))
        return CachedFiles(GitHubPullRequests(client, self._now), self.cache)

    @cached_property
    def publisher(self) -> Publisher:
        """Posts digests to Slack. Needs a store that drops nothing by itself."""
        return Publisher(self.messenger, RedisPostRecords(self.store), self._now, self._sleep)

    @cached_property
    def slack(self) -> WebClient:
        """The client of Slack, for the listeners."""
        token = required(self._settings.slack_bot_token, "SLACK_BOT_TOKEN", "the bot's token (xoxb-…)")
        return slack_client(token, self._settings.slack_api_url)

    @cached_property
    def messenger(self) -> Messenger:
        """Slack as the services know it."""
        return SlackMessenger(self.slack)

    @cached_property
    def answers(self) -> CommandAnswers:
        """Answers to commands."""
        return CommandAnswers(self.pulls, self.daily)

    @cached_property
    def cache(self) -> Cache:
        """The cache, for what is remembered for a while."""
        return RedisCache(self._store)

    @cached_property
    def store(self) -> Redis:
        """The store itself, for the job queue. It must not drop anything by itself."""
        require_durable(self._store)
        return self._store

    @property
    def has_model(self) -> bool:
        """Whether summaries will be a model's."""
        return self._settings.anthropic_api_key is not None

    def close(self) -> None:
        """Let go of the store; the embedded one ends by itself when nobody uses it."""
        if "_store" in self.__dict__:
            self._store.close()

    @cached_property
    def _store(self) -> Redis:
        if self._settings.redis_url:
            return connect(self._settings.redis_url)
        return connect_embedded(self._settings.prdigest_state_dir)

    @cached_property
    def _summariser(self) -> Summariser:
        settings = self._settings
        return Summariser(self._asker, settings.prdigest_summary_model, settings.prdigest_diff_tokens)

    @cached_property
    def _asker(self) -> Asker | None:
        if self._settings.anthropic_api_key is None:
            return None
        key = self._settings.anthropic_api_key.get_secret_value()
        model = ClaudeModel(claude_client(key, self._settings.anthropic_base_url))
        return Asker(model, self.cache, self._sleep)


def _github_auth(settings: Settings) -> Auth.Auth:
    if settings.github_token:
        return Auth.Token(settings.github_token.get_secret_value())
    if settings.github_app_id and settings.github_app_installation_id:
        key = required(settings.github_app_private_key, "GITHUB_APP_PRIVATE_KEY", "the app's key or its file")
        app = Auth.AppAuth(settings.github_app_id, _private_key(key))
        return app.get_installation_auth(settings.github_app_installation_id)
    raise UsageError("Set GITHUB_TOKEN to a token that may read pull requests, or the GITHUB_APP_… variables.")


def _private_key(text: str) -> str:
    """The key itself, or what is in the file that the text names."""
    try:
        key = text.replace("\\n", "\n") if "PRIVATE KEY" in text else Path(text).read_text(encoding="ascii")
        load_pem_private_key(key.encode(), password=None)
    except (OSError, ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise UsageError("GITHUB_APP_PRIVATE_KEY is neither a private key nor a file that can be read.") from error
    return key


def required(value: SecretStr | None, name: str, meaning: str) -> str:
    """A secret that the command can't do without. Raises UsageError, which names the variable."""
    if value is None:
        raise UsageError(f"Set {name} to {meaning}.")
    return value.get_secret_value()
