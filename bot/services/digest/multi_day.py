"""The digests of several days as one overview."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from bot.domain.errors import DayUnavailable
from bot.domain.pull_requests.models import Repository
from bot.domain.time.date_range import Span
from bot.domain.time.day import LocalDay
from bot.features.digest.rules import Digest, MultiDayDigest, UnknownDay


def build_multi_day_digest(
    build: Callable[[Repository, LocalDay, str], Digest], repository: Repository, span: Span, name: str
) -> MultiDayDigest:
    """Build the digest of every day, one after the other. Raises what ``build`` raises.

    A day without a list is returned as unknown. If no day has one, DayUnavailable is raised.
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
    """Return a copy without patches: two weeks of them take hundreds of megabytes, and reports show only paths."""
    entries = (replace(entry, pull=entry.pull.remove_patches()) for entry in digest.entries)
    return replace(digest, entries=tuple(entries))
