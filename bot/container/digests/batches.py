"""The backfill whose summaries come from message batches."""

from __future__ import annotations

from dataclasses import replace

from bot.adapters.redis import RedisBatchStore
from bot.app import App
from bot.connections.providers import get_model_access
from bot.domain.errors import UsageError
from bot.ports import ModelBatches
from bot.services.history.backfill import CostLimit, SummaryService
from bot.services.history.batch_backfill import BatchBackfill
from bot.services.history.batch_collector import BatchCollector
from bot.services.history.batch_runner import BatchClock, BatchRunner
from bot.services.summaries.schemas import SummaryAnswer
from bot.services.summaries.structured_completion import StructuredCompletion


def build_batch_backfill(app: App, limit: CostLimit) -> BatchBackfill:
    """Build it. Raises StoreUnavailable, and UsageError if the provider has no message batches."""
    prices, model = app.provider.prices, app.settings.prdigest_summary_model
    batches = _open_batches(app)
    collector = BatchCollector(prices, limit)
    completion = StructuredCompletion(collector, app.cache, app.sleep, prices)
    app = replace(app)
    # summaries come from the batches, without reviews
    app.__dict__.update(completion=completion, reviews=None)
    entries = app.entries
    summaries = SummaryService(entries.refresh_summary, model, 0.0, counts_failures=False)
    runner = BatchRunner(
        batches,
        RedisBatchStore(app.expiring_store, app.keyspace),
        lambda fingerprint, text: completion.keep_answer(fingerprint, text, SummaryAnswer),
        prices,
        BatchClock(app.now, lambda: app.get_today().date, app.sleep),
    )
    return BatchBackfill(app.build_backfill(summaries), collector, runner, limit)


def _open_batches(app: App) -> ModelBatches:
    access = get_model_access(app.settings, app.provider)
    if access is None or app.provider.connect_batches is None:
        raise UsageError(f"{app.provider.name} takes no message batches here: leave out --batch.")
    batches = app.provider.connect_batches(access)
    app.closing.callback(batches.close)
    return batches
