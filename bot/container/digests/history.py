"""The services that look back: history, what is known around a day, and how good past lists were."""

from __future__ import annotations

from dataclasses import dataclass

from bot.adapters.redis import RedisBackfillLog, RedisHistoryStore, RedisPostedDigestIndex
from bot.container.foundation import Foundation
from bot.container.records import build_digest_records
from bot.domain.operations.usage import Usage
from bot.domain.pull_requests.path_classes import PathSettings
from bot.ports import HistoryStore, PullRequests
from bot.services.history.backfill import Backfill, SummaryService
from bot.services.history.merge_lists import DayLister
from bot.services.history.merge_timeline import MergeTimeline
from bot.services.history.throttle import Throttle
from bot.services.risk.track_record import TrackRecordScorer, TrackRecordStores
from bot.services.summaries.entry_cache import EntryCache

# pull requests read at a time: nobody waits for it, and the running bot uses the same token
_MAX_PARALLEL_READS = 2


@dataclass(frozen=True, slots=True)
class HistoryServices:
    """What is known besides the days that are asked about, and how good past lists were."""

    timeline: MergeTimeline
    track_record: TrackRecordScorer


def build_history_services(base: Foundation, pulls: PullRequests, paths: PathSettings) -> HistoryServices:
    """Build both. Raises StoreUnavailable."""
    return HistoryServices(build_merge_timeline(base, pulls.list_merged, paths), build_track_record(base))


def build_merge_timeline(base: Foundation, merged_on: DayLister, paths: PathSettings) -> MergeTimeline:
    """Build the timeline of the merges that ``merged_on`` lists.

    It opens the store for permanent records when it first reads history: a digest can do without.
    """
    return MergeTimeline(lambda: build_merge_history(base), merged_on, base.now, paths.get_path_classes)


def build_track_record(base: Foundation) -> TrackRecordScorer:
    """Build the scorer of past lists. It opens the store for permanent records when it first scores."""

    def open_stores() -> TrackRecordStores:
        index = RedisPostedDigestIndex(base.store, base.keyspace)
        return TrackRecordStores(index, build_digest_records(base), build_merge_history(base))

    return TrackRecordScorer(open_stores, base.cache, base.now)


def build_merge_history(base: Foundation) -> HistoryStore:
    """Build the store of merged pull requests. Raises StoreUnavailable."""
    return RedisHistoryStore(base.store, base.keyspace)


def build_backfill(base: Foundation, pulls: PullRequests, entries: EntryCache) -> Backfill:
    """Build what fills history and caches for past days. Raises StoreUnavailable."""
    settings, model = base.settings, base.settings.prdigest_summary_model
    # a diff and an answer of full length
    max_cost = base.provider.prices.cautious_cost(model, Usage(input=settings.prdigest_diff_tokens, output=6_000))
    summaries = SummaryService(entries.refresh_summary, model, max_cost) if base.sources.has_model else None
    return Backfill(
        pulls,
        summaries,
        build_merge_history(base),
        RedisBackfillLog(base.store, base.keyspace),
        Throttle(base.sources.list_allowances, base.now, base.sleep),
        base.now,
        min(settings.prdigest_concurrency, _MAX_PARALLEL_READS),
    )
