"""The backfill whose summaries come from message batches."""

from __future__ import annotations

from bot.adapters.redis import RedisBatchStore
from bot.container.connections.providers import get_model_access
from bot.container.digests.history import build_backfill_for
from bot.container.digests.services import build_digest_services, build_entries_for
from bot.container.foundation import Foundation
from bot.domain.errors import UsageError
from bot.ports import ModelBatches
from bot.services.history.backfill import CostLimit, SummaryService
from bot.services.history.batch_backfill import BatchBackfill
from bot.services.history.batch_collector import BatchCollector
from bot.services.history.batch_runner import BatchClock, BatchRunner
from bot.services.summaries.schemas import SummaryAnswer
from bot.services.summaries.structured_completion import StructuredCompletion


def build_batch_backfill(base: Foundation, limit: CostLimit) -> BatchBackfill:
    """Build it. Raises StoreUnavailable, and UsageError if the provider has no message batches."""
    prices, model = base.provider.prices, base.settings.prdigest_summary_model
    batches = _open_batches(base)
    digests, collector = build_digest_services(base), BatchCollector(prices, limit)
    completion = StructuredCompletion(collector, base.cache, base.sleep, prices)
    entries = build_entries_for(base, digests, completion)
    summaries = SummaryService(entries.refresh_summary, model, 0.0, counts_failures=False)
    runner = BatchRunner(
        batches,
        RedisBatchStore(base.expiring_store, base.keyspace),
        lambda fingerprint, text: completion.keep_answer(fingerprint, text, SummaryAnswer),
        prices,
        BatchClock(base.now, lambda: base.get_today().date, base.sleep),
    )
    return BatchBackfill(build_backfill_for(base, digests.pulls, summaries), collector, runner, limit)


def _open_batches(base: Foundation) -> ModelBatches:
    access = get_model_access(base.settings, base.provider)
    if access is None or base.provider.connect_batches is None:
        raise UsageError(f"{base.provider.name} takes no message batches here: leave out --batch.")
    batches = base.provider.connect_batches(access)
    base.closing.callback(batches.close)
    return batches
