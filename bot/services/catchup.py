"""The digests of several days as one overview."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from bot.domain.catchup import CatchUp
from bot.domain.days import LocalDay
from bot.domain.digest import Digest
from bot.domain.pulls import Repository
from bot.domain.spans import Span


def catch_up(
    build: Callable[[Repository, LocalDay, str], Digest], repository: Repository, span: Span, name: str
) -> CatchUp:
    """Build the digest of every day, one after the other. Raises what building one raises."""
    return CatchUp(span, tuple(_light(build(repository, day, name)) for day in span.days))


def _light(digest: Digest) -> Digest:
    """Two weeks of patches would take hundreds of megabytes, and nothing shows one: reports name paths alone."""
    entries = (replace(entry, pull=entry.pull.without_patches()) for entry in digest.entries)
    return replace(digest, entries=tuple(entries))
