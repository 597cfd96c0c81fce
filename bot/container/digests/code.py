"""Where code is read: files through the cache, and the search over a mirror."""

from __future__ import annotations

from bot.adapters.caching import SourceFileCache
from bot.container.foundation import Foundation
from bot.ports import SourceFiles
from bot.services.source.code_sources import CodeSources


def build_source_files(base: Foundation) -> SourceFiles | None:
    """Build the source of whole files, which go through the cache; None where there is none."""
    source_files = base.sources.source_files
    return SourceFileCache(source_files, base.cache) if source_files else None


def build_code_sources(base: Foundation) -> CodeSources:
    """Build what tools read code with."""
    return CodeSources(build_source_files(base), base.sources.source_search)
