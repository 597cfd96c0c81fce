"""What shows operators how the bot is: the metrics that are read from the store."""

from __future__ import annotations

from bot.adapters.metrics import StoreStateCollector
from bot.adapters.redis import RedisCache, RedisDueQueue, RedisProbe, RedisRunLog, RedisSpendingStore
from bot.container.foundation import Foundation
from bot.services.operations.store_state import StoreStateReader


def build_state_collector(base: Foundation) -> StoreStateCollector:
    """Build the collector of the store's state, which fails early. Raises StoreUnavailable."""
    settings, store, keyspace = base.settings, base.hurried_store, base.keyspace
    reader = StoreStateReader(
        RedisCache(store, keyspace),
        RedisDueQueue(store, keyspace),
        RedisRunLog(store, keyspace),
        RedisSpendingStore(store, keyspace),
        settings.prdigest_daily_budget,
        RedisProbe(store, keyspace),
        base.get_today,
        base.now,
    )
    return StoreStateCollector(reader.read_state)
