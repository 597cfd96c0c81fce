"""Lists of risky merges in some days of a repository. The rules rank; a model reads only what is listed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

from bot.domain.conversations.commands import USUAL_RISKS, RisksRequest
from bot.domain.digest.models import Entry
from bot.domain.digest.risk_list import Assessed, RiskList
from bot.domain.history.file_history import Past
from bot.domain.history.outcomes import outcomes_among
from bot.domain.history.relands import relands_among
from bot.domain.history.reverts import WATCHED, is_revert
from bot.domain.pull_requests.models import PullRequest, Repository, each_once
from bot.domain.pull_requests.path_classes import ClassesOf, default_classes
from bot.domain.pull_requests.reference import Reference
from bot.domain.risk.assessment import rank_by_risk, worth_a_look
from bot.domain.time.day import LocalDay
from bot.ports import PullRequests
from bot.services.history.merge_lists import Merges, list_day, merges_of
from bot.services.history.merge_timeline import BACK, ON
from bot.services.operations.worker_threads import Crew
from bot.services.summaries.entry_cache import Entries
from bot.services.summaries.reader import Reader, assess_alone

# returns the recorded merges of a repository between two instants
Recorded = Callable[[Repository, datetime, datetime], Iterable[PullRequest]]
T = TypeVar("T")
U = TypeVar("U")


class RiskLister:
    """Builder of risk lists. ``workers`` calls to GitHub or the model run at a time."""

    def __init__(
        self,
        pulls: PullRequests,
        reader: Reader,
        entries: Entries,
        workers: int,
        classes_of: ClassesOf = default_classes,
        recorded: Recorded = lambda repository, since, until: (),
        is_sparing: Callable[[Repository], bool] = lambda repository: False,
    ) -> None:
        self._pulls = pulls
        self._reader = reader
        self._entries = entries
        self._workers = workers
        self._classes_of = classes_of
        self._recorded = recorded
        self._is_sparing = is_sparing

    def build(self, request: RisksRequest, name: str, today: LocalDay) -> RiskList:
        """Build the list. Merges of the week after the days count if they revert something.

        The merges recorded before the days serve as history for the rules.

        Raises:
            PrdigestError: the merges of a day can't be listed.
        """
        span = request.span
        until = min(today.date, span.last + WATCHED)
        days = [*span.days, *replace(span, first=span.last + timedelta(days=1), last=until).days]
        lists = self._together(partial(list_day, self._pulls.merged_on, request.repository), days)
        merged = merges_of(lists[: len(span)])
        recorded = self._recorded(request.repository, span.days[0].start - BACK, span.days[-1].end + ON)
        merges = _Found(request, merged, each_once([*merges_of(lists).pulls, *recorded]))
        loaded = self._together(self._loaded, merges.candidates)
        classes = self._classes_of(request.repository)
        past = Past(each_once([*loaded, *merges.known]), merges.outcomes, classes, relands_among(merges.known))
        assessed = [Assessed(pull, assess_alone(pull, classes, past)) for pull in loaded]
        matching = tuple(each for each in assessed if request.filters.admit(each.pull))
        unread = tuple(each.pull.number for each in assessed if each.pull.files is None)
        is_sparing = self._is_sparing(request.repository)
        ranked = rank_by_risk(each for each in matching if each.pull.number not in merges.gone)
        above = worth_a_look(ranked, request.top or USUAL_RISKS, is_sparing=is_sparing)
        # a request for a number of entries gets that many, because the rules rank all of them
        read = self._together(self._read, ranked[: max(len(above), request.top or 0)])
        whole = merges.listed(name, matching, tuple(read[: len(above)]), unread)
        return replace(
            whole, below=tuple(read[len(above) :]), ranked=len(ranked), top=request.top, is_sparing=is_sparing
        )

    def _loaded(self, pull: PullRequest) -> PullRequest:
        """Return a pull request with its files but without their patches."""
        # the patches of a month need not stay in memory
        return self._reader.with_files(pull).without_patches()

    def _read(self, assessed: Assessed) -> Entry:
        """Return the summary of a pull request together with its assessed risk."""
        pull = assessed.pull
        cached = self._entries.known(Reference(pull.repository, pull.number))
        # the summary needs the patches, which the cache of files still has
        return replace(cached or self._entries.read(replace(pull, files=None)), risk=assessed.risk)

    def _together(self, work: Callable[[T], U], items: Iterable[T]) -> list[U]:
        """Run the work for all items in parallel, and return the results in their order."""
        with Crew(self._workers, "risks") as crew:
            return crew.each(work, items)


class _Found:
    """The merges of the days and of the week after, newest first."""

    def __init__(self, request: RisksRequest, merged: Merges, all_merges: tuple[PullRequest, ...]) -> None:
        self._request = request
        self._doubts = merged.doubts
        self.known = all_merges
        self._numbers = {pull.number for pull in merged.pulls}
        self.outcomes = outcomes_among(all_merges)
        self.gone = frozenset(pair.pull.number for pair in self.outcomes if pair.stands)

    @property
    def candidates(self) -> tuple[PullRequest, ...]:
        """The merges of the days that may pass the filters, as far as that is known without their files."""
        own = (pull for pull in self.known if pull.number in self._numbers)
        return tuple(pull for pull in own if self._request.filters.admit_facts(pull))

    def listed(
        self, name: str, matching: tuple[Assessed, ...], riskiest: tuple[Entry, ...], unread: tuple[int, ...]
    ) -> RiskList:
        """Return the risk list of the assessed merges."""
        numbers = {assessed.pull.number for assessed in matching}
        return RiskList(
            name=name,
            span=self._request.span,
            filters=str(self._request.filters),
            merged=len(self._numbers),
            matching=len(matching),
            taken_back=tuple(
                pair
                for pair in self.outcomes
                if pair.stands and not numbers.isdisjoint((pair.pull.number, pair.by.number))
            ),
            older=tuple(assessed.pull for assessed in matching if self._is_older_revert(assessed.pull)),
            riskiest=riskiest,
            unread=unread,
            doubts=self._doubts,
        )

    def _is_older_revert(self, pull: PullRequest) -> bool:
        """Return whether a pull request reverts something from before the days."""
        return is_revert(pull) and pull.number not in {pair.by.number for pair in self.outcomes}
