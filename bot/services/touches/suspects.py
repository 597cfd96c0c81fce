"""Suspects for an error among the merges of a repository since a day or a commit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from bot.domain.conversations.requests.broke_request import MAX_BROKE_DAYS, BrokeRequest
from bot.domain.errors import UsageError
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.domain.text.strings import quote_input
from bot.domain.time.date_range import Span, parse_span
from bot.domain.time.day import LocalDay
from bot.ports import PullRequestBackground
from bot.services.contract.lister import ContractLister
from impact.profile.models import Profile
from impact.touches.breakage.kinship import Kinship
from impact.touches.breakage.suspects import SuspectRange, SuspectReport, build_report
from impact.touches.breakage.traceback_names import parse_trace

if TYPE_CHECKING:
    from bot.features.profiles.service import Profiles

MAX_SUSPECTS = 5


@dataclass(frozen=True, slots=True)
class _Start:
    """The days of a range, and the instant after which merges count; None for all of the days."""

    span: Span
    after: datetime | None = None


class SuspectFinder:
    """Finder of suspects. ``background`` returns the source that knows commits, None if there is none.

    A profile of the repository tells which classes a team derives from its own.
    """

    def __init__(
        self,
        lister: ContractLister,
        profiles: Profiles,
        background: Callable[[], PullRequestBackground | None],
        today: Callable[[], LocalDay],
    ) -> None:
        self._lister = lister
        self._profiles = profiles
        self._background = background
        self._today = today

    def find_suspects(self, request: BrokeRequest) -> SuspectReport:
        """Return the suspects for an error.

        Raises:
            UsageError: the commit isn't known, or is too old.
            PrdigestError: the merges of no day can be listed, or the store does not answer.
        """
        start = self._find_start(request)
        merged = self._lister.list_merges(request.repository, start.span)
        pulls = [pull for pull in merged.pulls if start.after is None or pull.merge_time > start.after]
        contracts = self._lister.read_contracts(pulls)
        merges = SuspectRange.build(contracts, pulls)
        trace, kinship = parse_trace(request.error), Kinship(self._list_profiles(request.repository))
        return build_report(trace, merges, request.since, str(start.span.last), MAX_SUSPECTS, kinship)

    def _list_profiles(self, repository: Repository) -> Iterator[Profile]:
        """Yield the profiles of teams that build on a repository."""
        for entry in self._profiles.list_entries():
            profile = self._profiles.get_profile(entry.name) if entry.upstream == repository else None
            if profile:
                yield profile

    def _find_start(self, request: BrokeRequest) -> _Start:
        """Return the days to look at. Raises UsageError."""
        if request.span:
            return _Start(request.span)
        pull = self._find_merge(request)
        today = self._today()
        first = pull.merge_time.astimezone(today.zone).date()
        span = replace(parse_span("today", today, 1), first=min(first, today.date))
        if len(span) > MAX_BROKE_DAYS:
            raise UsageError(
                f"{request.since} was merged {len(span)} days ago: name one of the last {MAX_BROKE_DAYS} days."
            )
        return _Start(span, pull.merge_time)

    def _find_merge(self, request: BrokeRequest) -> PullRequest:
        """Return the merge that a commit came from. Raises UsageError."""
        background = self._background()
        known = background.find_merges(request.repository, [request.commit]) if background else {}
        pull = known.get(request.commit)
        if pull is None or pull.merged_at is None:
            raise UsageError(
                f"I don't know the merge of {quote_input(request.commit)} in {request.repository}: name a day."
            )
        return pull
