"""Caches in front of sources of any vendor."""

from __future__ import annotations

from bot.adapters.caching.changed_files import FileCache
from bot.adapters.caching.day_lists import DayListCache

__all__ = [
    "DayListCache",
    "FileCache",
]
