"""What the tools of agents read."""

from __future__ import annotations

from functools import partial

from bot.adapters.caching import OngoingDayCache
from bot.adapters.redis import RedisPostedDigestIndex, RedisRateLimiter
from bot.container.access import build_allowed_repositories
from bot.container.connections.from_settings import get_display_name
from bot.container.digests.history import build_merge_timeline
from bot.container.digests.services import DigestServices, build_digest_services, build_kept_reviews
from bot.container.foundation import Foundation
from bot.container.questions import build_archive
from bot.container.touches.contracts import build_contract_lister, build_contract_reader
from bot.container.touches.profiles import build_known_profiles, build_profile_store
from bot.container.touches.services import build_suspect_finder, build_upgrade_planner
from bot.services.agents.kept_reports import KeptReports, KeptSummaryReader
from bot.services.agents.sources import AgentSources
from bot.services.agents.visible_profiles import VisibleProfiles
from bot.services.digest.builder import DigestBuilder, DigestDependencies
from bot.services.digest.overview_writer import skip_overview
from bot.services.touches.reports import TouchReports


def build_agent_sources(base: Foundation) -> AgentSources:
    """Build it; neither Slack nor a model is needed.

    Raises:
        ConfigurationError: there is no repository, or a setting of GitHub is missing.
        StoreUnavailable: the store can't be opened.
    """
    settings, digests = base.settings, build_digest_services(base)
    profiles = VisibleProfiles(build_profile_store(base), settings.prdigest_mcp_profiles)
    contracts, known = build_contract_reader(base, digests), build_known_profiles(profiles)
    touches = TouchReports(known, contracts, settings.prdigest_concurrency)
    lister = build_contract_lister(base, digests, contracts)
    return AgentSources(
        archive=build_archive(base, digests),
        repositories=build_allowed_repositories(settings),
        get_today=base.get_today,
        reports=_build_kept_reports(base, digests),
        list_digest_keys=RedisPostedDigestIndex(base.store, base.keyspace).list_between,
        contracts=lister,
        profiles=profiles,
        touches=touches,
        planner=build_upgrade_planner(base, lister, known, touches),
        suspects=build_suspect_finder(base, lister, profiles),
        name_of=partial(get_display_name, settings),
        limiter=RedisRateLimiter(base.expiring_store, settings.prdigest_mcp_calls, base.keyspace),
        has_profiles=bool(settings.prdigest_mcp_profiles),
    )


def _build_kept_reports(base: Foundation, digests: DigestServices) -> KeptReports:
    """Build the reports of summaries that exist; they record and fetch nothing for others."""
    classes_of = digests.paths.get_path_classes
    reader = KeptSummaryReader(digests.entries, digests.reader, classes_of)
    ongoing = OngoingDayCache(digests.pulls, base.cache, base.now)
    dependencies = DigestDependencies(
        load_context=build_merge_timeline(base, ongoing.list_merged, digests.paths).load_day_context,
        is_reduced=digests.history.track_record.is_reduced,
        review_entries=build_kept_reviews(digests),
    )
    builder = DigestBuilder(
        digests.day_lists,
        reader.read_pull_request,
        skip_overview,
        digests.reader.load_files,
        base.settings.prdigest_concurrency,
        classes_of,
        dependencies,
    )
    return KeptReports(digests.day_lists, reader, builder)
