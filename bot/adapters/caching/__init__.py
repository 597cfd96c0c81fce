"""Caches in front of sources of any vendor."""

from __future__ import annotations

from bot.adapters.caching.background import BackgroundCache
from bot.adapters.caching.changed_files import FileCache
from bot.adapters.caching.day_lists import DayListCache, OngoingDayCache
from bot.adapters.caching.releases import ReleaseCache
from bot.adapters.caching.source_files import SourceFileCache

__all__ = [
    "BackgroundCache",
    "DayListCache",
    "FileCache",
    "OngoingDayCache",
    "ReleaseCache",
    "SourceFileCache",
]
