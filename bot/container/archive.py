"""The services of the archive: the days of a repository as a site and as feeds."""

from __future__ import annotations

from functools import partial

from bot.adapters.caching import list_kept_releases
from bot.adapters.redis import RedisDeprecationStore
from bot.app import App
from bot.connections.from_settings import get_display_name, load_path_settings
from bot.domain.archive.models import ArchiveHeading
from bot.domain.errors import ConfigurationError
from bot.domain.pull_requests.models import Repository
from bot.services.archive.day_reader import ArchiveReader, KeptMerges
from bot.services.archive.deadlines import list_deadlines
from bot.services.archive.feeds import FeedService
from bot.services.contract.deprecations import DeprecationLedgers
from bot.services.summaries.summary_cache import SummaryCache


def build_archive_reader(app: App) -> ArchiveReader:
    """Build the reader of days. Raises ConfigurationError if the file of path classes can't be used."""
    classes_of = load_path_settings(app.settings).get_path_classes
    summaries = SummaryCache(app.cache, app.summary_version, classes_of)
    contracts = app.kept_contracts
    return ArchiveReader(KeptMerges(lambda: app.merge_history, summaries.get, contracts.get_cached, classes_of))


def build_heading(app: App, repository: Repository, zone: str, name: str | None = None) -> ArchiveHeading:
    """Build what pages and feeds say of themselves."""
    settings = app.settings
    return ArchiveHeading(
        name or get_display_name(settings, repository),
        str(repository),
        zone,
        settings.github_web_url,
        settings.prdigest_site_url or "",
    )


def _build_kept_ledgers(app: App) -> DeprecationLedgers:
    store = RedisDeprecationStore(app.store, app.keyspace)
    return DeprecationLedgers(store, app.now, lambda repository, until: list_kept_releases(app.cache, repository))


def build_feed_service(app: App) -> FeedService:
    """Build the feeds of the bot's own repository.

    Raises:
        ConfigurationError: no repository is set, or the file of path classes can't be used.
        StoreUnavailable: the store does not answer.
    """
    settings = app.settings
    if settings.prdigest_repo is None:
        raise ConfigurationError("Set PRDIGEST_REPO to your repository, as owner/name: the feeds are about it.")
    return FeedService(
        settings.prdigest_repo,
        build_heading(app, settings.prdigest_repo, str(settings.prdigest_timezone)),
        build_archive_reader(app),
        partial(list_deadlines, _build_kept_ledgers(app)),
        app.get_today,
        app.now,
    )
