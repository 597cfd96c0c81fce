"""What looks back: history and what fills it, what is known around a day, and how good past lists were."""

from __future__ import annotations

from functools import cached_property

from bot.adapters.redis import RedisBackfillLog, RedisHistoryStore, RedisPostedDigestIndex
from bot.container.part import WiringPart
from bot.domain.operations.usage import Usage
from bot.ports import HistoryStore, PullRequests
from bot.services.history.backfill import Backfill, SummaryService
from bot.services.history.merge_timeline import MergeTimeline
from bot.services.history.throttle import Throttle
from bot.services.risk.track_record import TrackRecordScorer, TrackRecordStores

# pull requests read at a time: nobody waits for it, and the running bot uses the same token
_MAX_PARALLEL_READS = 2


class HistoryWiring(WiringPart):
    """Builds each service when it is first asked for."""

    @cached_property
    def merge_history(self) -> HistoryStore:
        """What is known of merged pull requests. Needs a store that drops nothing by itself."""
        return RedisHistoryStore(self._root.store, self._root.keyspace)

    @cached_property
    def merge_timeline(self) -> MergeTimeline:
        """What is known besides the days that are asked about."""
        return self.create_merge_timeline(self._root.pulls)

    def create_merge_timeline(self, pulls: PullRequests) -> MergeTimeline:
        """The same with the lists from there."""
        return MergeTimeline(
            lambda: self.merge_history, pulls.list_merged, self._now, self._root.paths.get_path_classes
        )

    @cached_property
    def track_record(self) -> TrackRecordScorer:
        """How good the lists were."""
        return TrackRecordScorer(self._create_track_record_stores, self._root.cache, self._now)

    def _create_track_record_stores(self) -> TrackRecordStores:
        """What was posted and merged. Needs a store that drops nothing by itself."""
        index = RedisPostedDigestIndex(self._root.store, self._root.keyspace)
        return TrackRecordStores(index, self._root.subscriptions.digest_records, self.merge_history)

    @cached_property
    def backfill(self) -> Backfill:
        """Fills history and caches for past days."""
        root, settings, model = self._root, self._settings, self._settings.prdigest_summary_model
        # a diff and an answer of full length
        dearest = root.provider.prices.cautious_cost(
            model, Usage(input=settings.prdigest_diff_tokens, output=6_000)
        )
        return Backfill(
            root.pulls,
            SummaryService(root.entries.refresh_summary, model, dearest) if root.has_model else None,
            self.merge_history,
            RedisBackfillLog(root.store, root.keyspace),
            Throttle(root.sources.list_allowances, self._now, self._sleep),
            self._now,
            min(settings.prdigest_concurrency, _MAX_PARALLEL_READS),
        )
