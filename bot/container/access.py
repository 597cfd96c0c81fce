"""Who may ask the bot, and for which repositories."""

from __future__ import annotations

from bot.adapters.redis import RedisRateLimiter
from bot.container.connections.from_settings import list_repositories
from bot.container.foundation import Foundation
from bot.domain.conversations.commands import AllowedRepositories
from bot.domain.errors import ConfigurationError
from bot.services.slack.access_control import AccessControl, AccessRules
from bot.settings import Settings
from bot.settings.digests import SET_REPOSITORY


def build_access_control(base: Foundation) -> AccessControl:
    """Build the check of who may ask.

    Raises:
        ConfigurationError, SlackCallRefused, SlackUnavailable, StoreUnavailable: Slack or the store can't be
            asked.
    """
    settings = base.settings
    own_team = base.messenger.fetch_team()
    rules = AccessRules(
        frozenset({own_team}) | settings.prdigest_allowed_workspaces,
        settings.prdigest_allowed_channels,
        settings.prdigest_allowed_users,
    )
    return AccessControl(rules, RedisRateLimiter(base.hurried_store, settings.prdigest_user_limit, base.keyspace))


def build_allowed_repositories(settings: Settings) -> AllowedRepositories:
    """Return the repositories that the bot may speak of. Raises ConfigurationError if there is none."""
    repositories = list_repositories(settings)
    if not repositories:
        raise ConfigurationError(SET_REPOSITORY)
    return AllowedRepositories(repositories[0], repositories[1:], settings.github_web_url)
