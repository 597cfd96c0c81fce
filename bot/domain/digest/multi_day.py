"""Several days of a repository at once, for someone who was away."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from functools import cached_property

from bot.domain.digest.models import CountCheck, Digest, Overview
from bot.domain.history.outcomes import outcomes_among
from bot.domain.pull_requests.models import PullRequest, each_once
from bot.domain.time.date_range import Span


@dataclass(frozen=True, slots=True)
class Unknown:
    """A day of which it is not known what was merged; ``reason`` says why in a few words."""

    date: dt.date
    reason: str


@dataclass(frozen=True)
class CatchUp:
    """The digests of the days of a span, oldest first, at least one; ``unknown`` are those that have none."""

    span: Span
    digests: tuple[Digest, ...]
    unknown: tuple[Unknown, ...] = ()

    @property
    def name(self) -> str:
        return self.digests[0].name

    @property
    def merged(self) -> int:
        return sum(digest.merged for digest in self.digests)

    @property
    def gaps(self) -> tuple[str, ...]:
        """What is missing of any day; see :attr:`bot.domain.digest.models.Digest.gaps`."""
        return tuple(f"{digest.day.date}: {gap}" for digest in self.digests for gap in digest.gaps)

    @property
    def unpriced(self) -> CatchUp:
        """See :attr:`bot.domain.digest.models.Digest.unpriced`."""
        return replace(self, digests=tuple(digest.unpriced for digest in self.digests))

    @cached_property
    def whole(self) -> Digest:
        """All days as one, newest first: what was merged on one day may have been taken back on another."""
        newest = self.digests[-1]
        entries = tuple(entry for digest in reversed(self.digests) for entry in digest.entries)
        return Digest(
            repository=newest.repository,
            name=newest.name,
            day=newest.day,
            entries=entries,
            overview=Overview("", cost=self._overviews_cost),
            # what is doubtful is said of each day
            count=CountCheck(self.merged, newest.count.source),
            outcomes=outcomes_among(self._known),
            view=newest.view,
            hidden=self.merged - len(entries),
            is_sparing=newest.is_sparing,
            names_zone=newest.names_zone,
        )

    @property
    def _known(self) -> tuple[PullRequest, ...]:
        """The pull requests of all days, and those that have to do with what became of them."""
        outcomes = [found for digest in self.digests for found in digest.outcomes]
        pulls = [entry.pull for digest in self.digests for entry in digest.entries]
        pulls += [half for found in outcomes for half in (found.pull, found.by)]
        # the first of a number: what was read has its whole description, what was recorded the beginning of it
        return each_once(pulls)

    @property
    def _overviews_cost(self) -> float | None:
        known = [digest.overview.cost for digest in self.digests if digest.overview.cost is not None]
        return sum(known) if len(known) == len(self.digests) else None
