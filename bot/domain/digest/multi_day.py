"""The digests of several days of a repository together, for people who were away."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from bot.domain.digest.models import CountCheck, Digest, Overview
from bot.domain.digest.touches import combine_reports
from bot.domain.history.pull_outcomes import RevertIndex
from bot.domain.pull_requests.models import PullRequest, remove_duplicates
from bot.domain.review.models import ReviewCoverage
from bot.domain.time.date_range import Span
from impact.history.outcomes import find_outcomes
from impact.history.revert_claims import RevertClaim


@dataclass(frozen=True, slots=True)
class UnknownDay:
    """A day whose merges are unknown; ``reason`` says why in a few words."""

    date: dt.date
    reason: str


@dataclass(frozen=True)
class MultiDayDigest:
    """The digests of the days of a span, oldest first, at least one; ``unknown_days`` are those without one."""

    span: Span
    digests: tuple[Digest, ...]
    unknown_days: tuple[UnknownDay, ...] = ()

    @property
    def name(self) -> str:
        """The name of the repository for readers."""
        return self.digests[0].name

    @property
    def merged_count(self) -> int:
        """The number of merged pull requests, shown or not."""
        return sum(digest.merged_count for digest in self.digests)

    @property
    def gaps(self) -> tuple[str, ...]:
        """Missing parts of any day; see :attr:`bot.domain.digest.models.Digest.gaps`."""
        return tuple(f"{digest.day.date}: {gap}" for digest in self.digests for gap in digest.gaps)

    @cached_property
    def combined(self) -> Digest:
        """All days as one digest, newest first: merges of one day may have been reverted on another."""
        newest = self.digests[-1]
        entries = tuple(entry for digest in reversed(self.digests) for entry in digest.entries)
        return Digest(
            repository=newest.repository,
            name=newest.name,
            day=newest.day,
            entries=entries,
            overview=Overview("", cost=self._overviews_cost),
            # caveats are shown for each day
            count=CountCheck(self.merged_count, newest.count.source),
            outcomes=find_outcomes(RevertIndex(self._all_pulls, self._claims)),
            view=newest.view,
            hidden=self.merged_count - len(entries),
            is_reduced=newest.is_reduced,
            shows_zone=newest.shows_zone,
            path_classes=newest.path_classes,
            review_coverage=self._review_coverage,
            touches=combine_reports(digest.touches for digest in self.digests if digest.touches),
            contracts=tuple(contract for digest in self.digests for contract in digest.contracts),
            deprecations=tuple(step for digest in self.digests for step in digest.deprecations),
            moves=tuple(move for digest in self.digests for move in digest.moves),
        )

    @property
    def _all_pulls(self) -> tuple[PullRequest, ...]:
        """The pull requests of all days, and both pull requests of each outcome."""
        outcomes = [outcome for digest in self.digests for outcome in digest.outcomes]
        pulls = [entry.pull for digest in self.digests for entry in digest.entries]
        pulls += [pull for outcome in outcomes for pull in (outcome.pull, outcome.by)]
        # the first of each number is kept: entries have full descriptions, recorded ones only the beginning
        return remove_duplicates(pulls)

    @property
    def _claims(self) -> Mapping[int, RevertClaim]:
        """The claims of :attr:`_all_pulls` that are known, each of the texts that are kept there."""
        around = {number: claim for digest in reversed(self.digests) for number, claim in digest.claims.items()}
        own = {
            number: digest.claims[number]
            for digest in reversed(self.digests)
            for number in digest.numbers
            if number in digest.claims
        }
        return around | own

    @property
    def _review_coverage(self) -> ReviewCoverage:
        """The sums of all days, with the reason of the newest day whose reviews stopped."""
        parts = [digest.review_coverage for digest in self.digests]
        costs = [part.cost for part in parts if part.cost is not None]
        return ReviewCoverage(
            eligible=sum(part.eligible for part in parts),
            reviewed=sum(part.reviewed for part in parts),
            stop=next((part.stop for part in reversed(parts) if part.stop), ""),
            cost=sum(costs) if len(costs) == len(parts) else None,
        )

    @property
    def _overviews_cost(self) -> float | None:
        costs = [digest.overview.cost for digest in self.digests if digest.overview.cost is not None]
        return sum(costs) if len(costs) == len(self.digests) else None
