"""Values and connections made from the settings, for the bot and for its doctor."""

from __future__ import annotations

from redis import Redis

from bot.connections.path_settings import read_path_settings
from bot.errors import ConfigurationError
from bot.platform.commands import AllowedRepositories
from bot.platform.pulls.paths import PathSettings
from bot.platform.store.connection import RedisTimeouts, connect_embedded, connect_server
from bot.settings import SET_REPOSITORY, Settings
from impact.repository import Repository


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
    """Return what headings call a repository."""
    if settings.prdigest_name and repository == settings.prdigest_repo:
        return settings.prdigest_name
    return repository.name
