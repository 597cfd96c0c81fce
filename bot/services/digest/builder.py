"""Builder of the digest of one local day: list, read, summarise and rate its pull requests, then sum them up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from bot.domain.digest.models import Entry
from bot.domain.digest.view import FULL_VIEW, DigestView, ViewLevel
from bot.domain.history.pull_outcomes import MergeOutcome
from bot.domain.pull_requests.models import PullRequest, Repository, remove_duplicates
from bot.domain.pull_requests.path_classes import PathClasses, PathClassesLookup, get_default_classes
from bot.domain.review.models import NO_REVIEWS, ReviewCoverage
from bot.domain.summaries.models import SummarisedPullRequest
from bot.domain.time.day import LocalDay
from bot.features.digest.rules import Digest, Overview, select_entries
from bot.platform.models.slots import limit_model_calls
from bot.ports import PullRequests
from bot.services.digest.touched_day import (
    MoveLister,
    StepLister,
    TouchReader,
    skip_moves,
    skip_steps,
    skip_touches,
)
from bot.services.history.day_context import DayContext
from bot.services.operations.worker_threads import DeadlineExecutor, iterate_results
from bot.services.summaries.reader import read_isolated
from impact.history.reverts import Revert, expand_pairs

# pull requests that are loaded before the model has time for them. Two digests of a worker then make fewer than
# the 100 calls at a time that GitHub allows (docs.github.com, "Rate limits for the REST API")
_MAX_AHEAD = 8

ProgressCallback = Callable[[int, int], None]
EntryReviewer = Callable[[Repository, tuple[Entry, ...], PathClasses], tuple[tuple[Entry, ...], ReviewCoverage]]
OverviewBuilder = Callable[[Repository, LocalDay, tuple[Entry, ...]], Overview]


def ignore_progress(_done: int, _all: int) -> None:
    """Do nothing with the progress."""


def skip_reviews(
    _repository: Repository, entries: tuple[Entry, ...], _classes: PathClasses
) -> tuple[tuple[Entry, ...], ReviewCoverage]:
    """Return the entries as they are: nothing is reviewed."""
    return entries, NO_REVIEWS


def build_isolated_context(_repository: Repository, _day: LocalDay, merged: Sequence[PullRequest]) -> DayContext:
    """Return a context that has only the merges of the day."""
    return DayContext.from_pulls(merged)


@dataclass(frozen=True, slots=True)
class DigestDependencies:
    """What a digest needs besides its day: the merges around it, a record of merges, and the quality of lists.

    ``update_mirror`` is called before files are read, and raises nothing. ``review_entries`` adds the reviews to
    entries with patches, riskiest first within its budget, and says how many it read; it raises nothing that a
    digest can do without. ``read_touches`` says what merges mean for the profile of a name, and ``list_steps``
    what became of the deprecations that it uses; ``list_moves`` returns its moves to another commit. None of these
    raises PrdigestError.
    """

    load_context: Callable[[Repository, LocalDay, Sequence[PullRequest]], DayContext] = build_isolated_context
    record_merges: Callable[[Sequence[PullRequest]], None] = lambda pulls: None
    is_reduced: Callable[[Repository], bool] = lambda repository: False
    update_mirror: Callable[[Repository], None] = lambda repository: None
    review_entries: EntryReviewer = skip_reviews
    read_touches: TouchReader = skip_touches
    list_steps: StepLister = skip_steps
    list_moves: MoveLister = skip_moves


class DigestBuilder:
    """Builder of digests. ``workers`` pull requests are summarised at a time, and as many more, at most 8, loaded.

    ``read`` reads and summarises a pull request. ``with_files`` loads the files of one, or returns it without
    them if they are unavailable. ``dependencies`` record all merges of a day, with the files of those that were
    read.
    """

    def __init__(
        self,
        pulls: PullRequests,
        read: Callable[[PullRequest], SummarisedPullRequest],
        overview: OverviewBuilder,
        with_files: Callable[[PullRequest], PullRequest],
        workers: int,
        classes_of: PathClassesLookup = get_default_classes,
        dependencies: DigestDependencies = DigestDependencies(),
    ) -> None:
        self._pulls = pulls
        self._read = read
        self._overview = overview
        self._with_files = with_files
        self._workers = workers
        self._classes_of = classes_of
        self._dependencies = dependencies

    def build(
        self,
        repository: Repository,
        day: LocalDay,
        name: str,
        progress: ProgressCallback = ignore_progress,
        view: DigestView = FULL_VIEW,
    ) -> Digest:
        """Build the digest of a day. ``progress`` is called with (done, all) as pull requests are finished.

        Pull requests that ``view`` leaves out by their facts and files are not read.

        Raises:
            PrdigestError: the list of the day is unavailable. A single pull request that can't be read does not
                end a digest; it is shown by its facts and counted as not read.
        """
        merged = self._pulls.list_merged(repository, day)
        if merged.pulls:
            # after the list, so that it has all that was merged
            self._dependencies.update_mirror(repository)
        around = self._dependencies.load_context(repository, day, merged.pulls)
        selected = self._select_pulls(merged.pulls, around.day_reverts, view)
        touched = self._dependencies.read_touches(view.profile, selected)
        if view.only is ViewLevel.TOUCHING:
            # before they are read: what nobody sees needs no model
            shown = expand_pairs(touched.numbers, around.day_reverts)
            selected = tuple(pull for pull in selected if pull.number in shown)
        read = self._read_pulls(selected, progress)
        of_day = remove_duplicates([*(each.pull for each in read), *merged.pulls])
        self._dependencies.record_merges(of_day)
        classes = self._classes_of(repository)
        risks = around.assess_pulls((each.pull for each in read), of_day, classes)
        rated = tuple(map(Entry.from_summarised, read, risks))
        # before the selection, since what a review finds may make an entry one that is shown
        reviewed, review_coverage = self._dependencies.review_entries(repository, rated, classes)
        entries = select_entries(view, reviewed, around.day_reverts, around.outcomes, touched.numbers)
        outcomes = tuple(_select_outcomes(entries, around.outcomes))
        return Digest(
            repository=repository,
            name=name,
            day=day,
            entries=entries,
            overview=self._overview(repository, day, entries),
            count=merged.count,
            outcomes=outcomes,
            view=view,
            hidden=len(merged.pulls) - len(entries),
            missing=touched.add_missing((around.caveat,) if around.caveat else ()),
            is_reduced=self._dependencies.is_reduced(repository),
            path_classes=classes,
            review_coverage=review_coverage,
            touches=touched.report,
            contracts=touched.select_contracts(entry.number for entry in entries),
            # after the contracts, which say what was announced and removed
            deprecations=self._dependencies.list_steps(view.profile, repository, day),
            moves=self._dependencies.list_moves(view.profile, day),
            claims=around.select_claims(_list_numbers(entries, outcomes)),
        )

    def _select_pulls(
        self, pulls: tuple[PullRequest, ...], reverts: tuple[Revert, ...], view: DigestView
    ) -> tuple[PullRequest, ...]:
        """Return those that match the filters, with those that reverted one of them or that it reverted.

        One whose files are unavailable may match: it is shown rather than lost.
        """
        if not view.filters:
            return pulls
        candidates = [pull for pull in pulls if view.filters.may_match(pull)]
        if view.filters.paths:
            with DeadlineExecutor(self._workers, "files") as crew:
                loaded = crew.map_items(self._with_files, candidates)
            candidates = [pull for pull in loaded if pull.files is None or view.filters.is_match(pull)]
        fitting = {pull.number: pull for pull in candidates}
        shown = expand_pairs(fitting, reverts)
        return tuple(fitting.get(pull.number, pull) for pull in pulls if pull.number in shown)

    def _read_pulls(
        self, pulls: tuple[PullRequest, ...], progress: ProgressCallback
    ) -> tuple[SummarisedPullRequest, ...]:
        progress(0, len(pulls))
        done: dict[int, SummarisedPullRequest] = {}
        # those beyond the workers load their files while the model is busy
        threads = self._workers + min(self._workers, _MAX_AHEAD)
        with limit_model_calls(self._workers), DeadlineExecutor(threads, "digest") as crew:
            for read in iterate_results([crew.submit(read_isolated, pull, self._read) for pull in pulls]):
                done[read.number] = read
                progress(len(done), len(pulls))
        return tuple(done[pull.number] for pull in pulls)


def _select_outcomes(entries: Iterable[Entry], outcomes: Iterable[MergeOutcome]) -> Iterator[MergeOutcome]:
    """Yield the outcomes that concern one of the entries."""
    shown = {entry.number for entry in entries}
    return (each for each in outcomes if not shown.isdisjoint((each.pull.number, each.by.number)))


def _list_numbers(entries: Iterable[Entry], outcomes: Iterable[MergeOutcome]) -> Iterator[int]:
    """Yield the numbers of entries, and of both pull requests of outcomes."""
    yield from (entry.number for entry in entries)
    for outcome in outcomes:
        yield from (outcome.pull.number, outcome.by.number)
