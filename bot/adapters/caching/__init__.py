"""Sources with a cache in front of them, for any vendor."""

from __future__ import annotations

from bot.adapters.caching.changed_files import CachedFiles
from bot.adapters.caching.day_lists import CachedDays

__all__ = [
    "CachedDays",
    "CachedFiles",
]
