"""The services of the archive: the days of a repository as a site and as feeds."""

from __future__ import annotations

from functools import partial

from bot.container.connections.from_settings import get_display_name, load_path_settings
from bot.container.digests.history import build_merge_history
from bot.container.digests.services import name_summary_version
from bot.container.foundation import Foundation
from bot.container.touches.contracts import build_kept_ledgers, build_kept_reader
from bot.domain.archive.models import ArchiveHeading
from bot.domain.errors import ConfigurationError
from bot.domain.pull_requests.models import Repository
from bot.services.archive.day_reader import ArchiveReader, KeptMerges
from bot.services.archive.deadlines import list_deadlines
from bot.services.archive.feeds import FeedService
from bot.services.summaries.summary_cache import SummaryCache


def build_archive_reader(base: Foundation) -> ArchiveReader:
    """Build the reader of days. Raises ConfigurationError if the file of path classes can't be used."""
    classes_of = load_path_settings(base.settings).get_path_classes
    summaries = SummaryCache(base.cache, name_summary_version(base.settings), classes_of)
    contracts = build_kept_reader(base)
    return ArchiveReader(
        KeptMerges(partial(build_merge_history, base), summaries.get, contracts.get_cached, classes_of)
    )


def build_heading(base: Foundation, repository: Repository, zone: str, name: str | None = None) -> ArchiveHeading:
    """Build what pages and feeds say of themselves."""
    settings = base.settings
    return ArchiveHeading(
        name or get_display_name(settings, repository),
        str(repository),
        zone,
        settings.github_web_url,
        settings.prdigest_site_url or "",
    )


def build_feed_service(base: Foundation) -> FeedService:
    """Build the feeds of the bot's own repository.

    Raises:
        ConfigurationError: no repository is set, or the file of path classes can't be used.
        StoreUnavailable: the store does not answer.
    """
    settings = base.settings
    if settings.prdigest_repo is None:
        raise ConfigurationError("Set PRDIGEST_REPO to your repository, as owner/name: the feeds are about it.")
    return FeedService(
        settings.prdigest_repo,
        build_heading(base, settings.prdigest_repo, str(settings.prdigest_timezone)),
        build_archive_reader(base),
        partial(list_deadlines, build_kept_ledgers(base)),
        base.get_today,
        base.now,
    )
