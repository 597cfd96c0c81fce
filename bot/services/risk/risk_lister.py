"""Lists of risky merges in some days of a repository.

The rules and the reviews that exist rank; a model reads only what is listed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, TypeVar

from bot.domain.conversations.commands import DEFAULT_RISKS, RisksRequest
from bot.domain.digest.models import Entry
from bot.domain.digest.risk_list import AssessedPullRequest, RiskList
from bot.domain.pull_requests.models import PullRequest, Repository, remove_duplicates
from bot.domain.pull_requests.path_classes import PathClassesLookup, get_default_classes
from bot.domain.pull_requests.reference import Reference
from bot.domain.review.ranking import rank_reviewed, select_riskiest
from bot.domain.risk.assessment import Risk
from bot.domain.time.day import LocalDay
from bot.ports import PullRequests
from bot.services.history.day_context import DayContext
from bot.services.history.merge_lists import MergeList, MergeLister, combine_lists
from bot.services.history.merge_timeline import LOOK_AHEAD, LOOK_BACK
from bot.services.operations.worker_threads import DeadlineExecutor
from bot.services.summaries.entry_cache import EntryCache, ReviewLookup
from bot.services.summaries.reader import PullRequestReader
from impact.history.reverts import WATCH_WINDOW

if TYPE_CHECKING:
    # a feature, which stands above
    from bot.features.digest.service import TouchedDay

# returns the recorded merges of a repository between two instants
MergeReader = Callable[[Repository, datetime, datetime], Iterable[PullRequest]]
T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True, slots=True)
class RiskLookups:
    """What a list takes from elsewhere.

    ``recorded`` returns the merges around the days. ``get_review`` returns the review of a pull request if one
    exists; none is made for a list. ``read_touches`` says what merges mean for the profile of a name.
    """

    recorded: MergeReader = lambda repository, since, until: ()
    is_reduced: Callable[[Repository], bool] = lambda repository: False
    get_review: ReviewLookup = lambda pull: None
    read_touches: Callable[[str, Sequence[PullRequest]], TouchedDay] | None = None


class RiskLister:
    """Builder of risk lists. ``workers`` calls to GitHub or the model run at a time."""

    def __init__(
        self,
        pulls: PullRequests,
        reader: PullRequestReader,
        entries: EntryCache,
        workers: int,
        classes_of: PathClassesLookup = get_default_classes,
        lookups: RiskLookups = RiskLookups(),
    ) -> None:
        self._merges = MergeLister(pulls.list_merged, workers)
        self._reader = reader
        self._entries = entries
        self._workers = workers
        self._classes_of = classes_of
        self._lookups = lookups

    def build_list(self, request: RisksRequest, name: str, today: LocalDay) -> RiskList:
        """Build the list. Merges of the week after the days count if they revert something.

        The merges recorded before the days serve as history for the rules.

        Raises:
            PrdigestError: the merges of a day can't be listed.
        """
        span = request.span
        until = min(today.date, span.last + WATCH_WINDOW)
        days = [*span.days, *replace(span, first=span.last + timedelta(days=1), last=until).days]
        lists = self._merges.list_days(request.repository, days)
        merged = combine_lists(lists[: len(span)])
        recorded = self._lookups.recorded(
            request.repository, span.days[0].start - LOOK_BACK, span.days[-1].end + LOOK_AHEAD
        )
        merges = _CandidateMerges(request, merged, remove_duplicates([*combine_lists(lists).pulls, *recorded]))
        loaded = self._run_parallel(self._load_facts, merges.candidates)
        risks = merges.context.assess_pulls(loaded, loaded, self._classes_of(request.repository))
        assessed = self._run_parallel(self._add_review, zip(loaded, risks, strict=True))
        matching = tuple(each for each in assessed if request.filters.is_match(each.pull))
        read_touches = self._lookups.read_touches
        touched = read_touches(request.profile, [each.pull for each in matching]) if read_touches else None
        report = touched.report if touched else None
        if touched and report:
            matching = tuple(each for each in matching if each.pull.number in touched.numbers)
        unread = tuple(each.pull.number for each in assessed if each.pull.files is None)
        is_reduced = self._lookups.is_reduced(request.repository)
        ranked = rank_reviewed(each for each in matching if each.pull.number not in merges.reverted)
        above = select_riskiest(ranked, request.top or DEFAULT_RISKS, is_reduced=is_reduced)
        # a request for a number of entries gets that many, because all of them are ranked
        read = self._run_parallel(self._read_entry, ranked[: max(len(above), request.top or 0)])
        whole = merges.build_list(name, matching, tuple(read[: len(above)]), unread)
        return replace(
            whole,
            below=tuple(read[len(above) :]),
            ranked=len(ranked),
            top=request.top,
            is_reduced=is_reduced,
            caveats=touched.add_missing(whole.caveats) if touched else whole.caveats,
            touches=report,
            touching=tuple(each.pull for each in matching) if report else (),
        )

    def _load_facts(self, pull: PullRequest) -> PullRequest:
        """Return a pull request with its files but without their patches."""
        # the patches of a month need not stay in memory
        return self._reader.load_files(pull).remove_patches()

    def _add_review(self, rated: tuple[PullRequest, Risk]) -> AssessedPullRequest:
        """Return a rated pull request with its review, if one exists."""
        pull, risk = rated
        return AssessedPullRequest(pull, risk, self._lookups.get_review(pull))

    def _read_entry(self, assessed: AssessedPullRequest) -> Entry:
        """Return the summary of a pull request together with its assessed risk."""
        pull = assessed.pull
        cached = self._entries.get_cached_summary(Reference(pull.repository, pull.number))
        # the summary needs the patches, which the cache of files still has
        read = cached or self._entries.refresh_summary(replace(pull, files=None))
        return Entry.from_summarised(read, assessed.risk, assessed.review)

    def _run_parallel(self, work: Callable[[T], U], items: Iterable[T]) -> list[U]:
        """Run the work for all items in parallel, and return the results in their order."""
        with DeadlineExecutor(self._workers, "risks") as crew:
            return crew.map_items(work, items)


class _CandidateMerges:
    """The merges of the days and of the week after, newest first."""

    def __init__(self, request: RisksRequest, merged: MergeList, all_merges: tuple[PullRequest, ...]) -> None:
        self._request = request
        self._caveats = merged.caveats
        self._all = all_merges
        self._numbers = {pull.number for pull in merged.pulls}
        self.context = DayContext.from_pulls((), all_merges)
        self._outcomes = self.context.outcomes
        self.reverted = frozenset(pair.pull.number for pair in self._outcomes if pair.stands)

    @property
    def candidates(self) -> tuple[PullRequest, ...]:
        """The merges of the days that may pass the filters, as far as that is known without their files."""
        own = (pull for pull in self._all if pull.number in self._numbers)
        return tuple(pull for pull in own if self._request.filters.may_match(pull))

    def build_list(
        self,
        name: str,
        matching: tuple[AssessedPullRequest, ...],
        riskiest: tuple[Entry, ...],
        unread: tuple[int, ...],
    ) -> RiskList:
        """Return the risk list of the assessed merges."""
        numbers = {assessed.pull.number for assessed in matching}
        return RiskList(
            name=name,
            span=self._request.span,
            filters=self._request.selection,
            merged=len(self._numbers),
            matching=len(matching),
            taken_back=tuple(
                pair
                for pair in self._outcomes
                if pair.stands and not numbers.isdisjoint((pair.pull.number, pair.by.number))
            ),
            older=tuple(assessed.pull for assessed in matching if self._is_older_revert(assessed.pull)),
            riskiest=riskiest,
            unread=unread,
            caveats=self._caveats,
        )

    def _is_older_revert(self, pull: PullRequest) -> bool:
        """Return whether a pull request reverts something from before the days."""
        is_paired = pull.number in {pair.by.number for pair in self._outcomes}
        return self.context.is_revert(pull.number) and not is_paired
