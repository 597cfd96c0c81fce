"""What the settings say, as values and connections: the same for the bot and for its doctor."""

from __future__ import annotations

from redis import Redis

from bot.adapters.files.path_settings import read_path_settings
from bot.adapters.redis import RedisTimeouts, connect_embedded, connect_server
from bot.domain.pull_requests.models import Repository
from bot.domain.pull_requests.path_classes import PathSettings
from bot.domain.subscriptions.models import Subscription, Timing
from bot.settings import Settings


def list_repositories(settings: Settings) -> tuple[Repository, ...]:
    """Those that the bot may speak of, each once, the usual one first."""
    return tuple(dict.fromkeys(each for each in (settings.prdigest_repo, *settings.prdigest_repos) if each))


def load_path_settings(settings: Settings) -> PathSettings:
    """Which paths of which repository are what. Raises NotSetUp where the file that says so can't be used."""
    return read_path_settings(settings.prdigest_paths) if settings.prdigest_paths else PathSettings()


def build_fixed_subscription(settings: Settings) -> Subscription | None:
    """The subscription that needs no command."""
    if settings.prdigest_repo is None or settings.prdigest_channel is None:
        return None
    timing = Timing(settings.prdigest_post_at, settings.prdigest_timezone)
    return Subscription(settings.prdigest_channel, settings.prdigest_repo, timing)


def connect_store(settings: Settings, patience: RedisTimeouts) -> Redis:
    """A client of the store. Raises StoreUnavailable."""
    if settings.redis_url:
        return connect_server(settings.redis_url, patience=patience)
    return connect_embedded(settings.prdigest_state_dir, patience)


def get_display_name(settings: Settings, repository: Repository) -> str:
    """Return what headings call a repository."""
    if settings.prdigest_name and repository == settings.prdigest_repo:
        return settings.prdigest_name
    return repository.name
