"""Sources whose answers are kept in the cache, whatever vendor stands behind them."""

from __future__ import annotations

from bot.adapters.caching.changed_files import CachedFiles
from bot.adapters.caching.day_lists import CachedDays

__all__ = [
    "CachedDays",
    "CachedFiles",
]
