"""The services that keep profiles: their store, their scans, and what people said about their hits."""

from __future__ import annotations

from functools import partial

from bot.adapters.redis import RedisDueQueue, RedisProfileStore, RedisTouchStore
from bot.container.digests.history import build_merge_history
from bot.container.foundation import Foundation
from bot.container.touches.contracts import build_kept_reader
from bot.ports import ProfileStore
from bot.services.profile.known_profiles import KnownProfiles
from bot.services.profile.refresher import ProfileRefresher, ProfileSources
from bot.services.profile.registry import ProfileRegistry
from bot.services.touches.decisions import TouchDecisions
from bot.services.touches.kept_contracts import KeptContracts


def build_profile_store(base: Foundation) -> ProfileStore:
    """Build the store of profiles. Raises StoreUnavailable."""
    return RedisProfileStore(base.store, base.keyspace)


def build_known_profiles(profiles: ProfileStore) -> KnownProfiles:
    """Build the look-up of what people and agents name."""
    return KnownProfiles(profiles.list_entries, profiles.get_profile)


def build_touch_decisions(base: Foundation) -> TouchDecisions:
    """Build the record of hits and of what people said about them. Raises StoreUnavailable."""
    return TouchDecisions(RedisTouchStore(base.store, base.keyspace), base.now)


def build_profile_refresher(base: Foundation, profiles: ProfileStore) -> ProfileRefresher:
    """Build what scans the trees of profiles. Raises ConfigurationError if a setting of GitHub is missing."""
    sources = ProfileSources(base.sources.source_trees, base.sources.source_files, base.sources.source_mirror)
    contracts = KeptContracts(partial(build_merge_history, base), build_kept_reader(base).get_cached, base.now)
    return ProfileRefresher(
        profiles, sources, base.cache, base.now, base.settings.prdigest_concurrency, contracts.list_recent
    )


def build_profile_registry(base: Foundation) -> ProfileRegistry:
    """Build what adds and removes profiles. Raises as ``build_touch_services`` does."""
    profiles = build_profile_store(base)
    due_queue = RedisDueQueue(base.store, base.keyspace)
    refresher = build_profile_refresher(base, profiles)
    return ProfileRegistry(profiles, refresher, build_touch_decisions(base), due_queue, base.now)
