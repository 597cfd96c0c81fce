"""The digests of several days as one overview."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from bot.domain.digest.models import Digest
from bot.domain.digest.multi_day import MultiDayDigest, UnknownDay
from bot.domain.errors import DayUnavailable
from bot.domain.pull_requests.models import Repository
from bot.domain.time.date_range import Span
from bot.domain.time.day import LocalDay


def build_multi_day_digest(
    build: Callable[[Repository, LocalDay, str], Digest], repository: Repository, span: Span, name: str
) -> MultiDayDigest:
    """Build the digest of every day, one after the other. Raises what building one raises.

    A day of which nothing is known is named as such, unless it is so of all.
    """
    digests, unknown = [], []
    for day in span.days:
        try:
            digests.append(_remove_patches(build(repository, day, name)))
        except DayUnavailable as error:
            if day == span.days[-1] and not digests:
                raise
            unknown.append(UnknownDay(day.date, error.short))
    return MultiDayDigest(span, tuple(digests), tuple(unknown))


def _remove_patches(digest: Digest) -> Digest:
    """Two weeks of patches would take hundreds of megabytes, and nothing shows one: reports name paths alone."""
    entries = (replace(entry, pull=entry.pull.remove_patches()) for entry in digest.entries)
    return replace(digest, entries=tuple(entries))
