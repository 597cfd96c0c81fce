"""The digest of one local day: list, read and summarise every pull request, then look at the whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from bot.domain.digest.models import Digest, Entry, Overview, select_entries
from bot.domain.digest.view import FULL_VIEW, DigestView
from bot.domain.history.file_history import FileHistory
from bot.domain.history.outcomes import MergeOutcome
from bot.domain.history.reverts import Revert, expand_pairs, find_reverts
from bot.domain.pull_requests.models import PullRequest, Repository, remove_duplicates
from bot.domain.pull_requests.path_classes import PathClassesLookup, get_default_classes
from bot.domain.time.day import LocalDay
from bot.ports import PullRequests
from bot.services.history.merge_timeline import DayContext
from bot.services.operations.worker_threads import DeadlineExecutor, iterate_results
from bot.services.summaries.reader import assess_isolated, build_isolated_entry

ProgressCallback = Callable[[int, int], None]
OverviewBuilder = Callable[[Repository, LocalDay, tuple[Entry, ...]], Overview]


def ignore_progress(_done: int, _all: int) -> None:
    """Progress that nobody watches."""


def build_isolated_context(_repository: Repository, _day: LocalDay, merged: Sequence[PullRequest]) -> DayContext:
    """A day of which nothing is known but what was merged."""
    return DayContext.from_pulls(merged)


@dataclass(frozen=True, slots=True)
class DigestDependencies:
    """What a day is seen in: what came before it and since, who keeps what was merged, and how good lists were."""

    load_context: Callable[[Repository, LocalDay, Sequence[PullRequest]], DayContext] = build_isolated_context
    record_merges: Callable[[Sequence[PullRequest]], None] = lambda pulls: None
    is_reduced: Callable[[Repository], bool] = lambda repository: False


class DigestBuilder:
    """Builds digests. ``workers`` pull requests are read and summarised at a time.

    ``with_files`` loads the files of a pull request, or gives it back without where they can't be had. The
    surroundings are told of all that was merged; what was read comes with its files.
    """

    def __init__(
        self,
        pulls: PullRequests,
        entry: Callable[[PullRequest], Entry],
        overview: OverviewBuilder,
        with_files: Callable[[PullRequest], PullRequest],
        workers: int,
        classes_of: PathClassesLookup = get_default_classes,
        surroundings: DigestDependencies = DigestDependencies(),
    ) -> None:
        self._pulls = pulls
        self._entry = entry
        self._overview = overview
        self._with_files = with_files
        self._workers = workers
        self._classes_of = classes_of
        self._surroundings = surroundings

    def build(
        self,
        repository: Repository,
        day: LocalDay,
        name: str,
        progress: ProgressCallback = ignore_progress,
        view: DigestView = FULL_VIEW,
    ) -> Digest:
        """The digest of a day. ``progress`` is told (done, all) as pull requests are finished.

        What ``view`` does not show is not read, as far as its facts and files say so.

        Raises:
            PrdigestError: the list of the day can't be had. A single pull request that can't be read does not
                end a digest; it is shown with what is known and counted as not read.
        """
        merged = self._pulls.list_merged(repository, day)
        around = self._surroundings.load_context(repository, day, merged.pulls)
        reverts = find_reverts(merged.pulls)
        read = self._read_entries(self._select_pulls(merged.pulls, reverts, view), progress)
        of_day = remove_duplicates([*(entry.pull for entry in read), *merged.pulls])
        self._surroundings.record_merges(of_day)
        past = around.build_past(of_day, self._classes_of(repository))
        entries = select_entries(view, self._assess_entries(read, past), reverts, around.outcomes)
        return Digest(
            repository=repository,
            name=name,
            day=day,
            entries=entries,
            overview=self._overview(repository, day, entries),
            count=merged.count,
            outcomes=tuple(_select_outcomes(entries, around.outcomes)),
            view=view,
            hidden=len(merged.pulls) - len(entries),
            missing=(around.caveat,) if around.caveat else (),
            is_reduced=self._surroundings.is_reduced(repository),
        )

    def _assess_entries(self, entries: Iterable[Entry], past: FileHistory) -> list[Entry]:
        """What was merged earlier on the same day counts too: no entry by itself could know of it."""
        return [
            replace(entry, risk=assess_isolated(entry.pull, self._classes_of(entry.pull.repository), past))
            for entry in entries
        ]

    def _select_pulls(
        self, pulls: tuple[PullRequest, ...], reverts: tuple[Revert, ...], view: DigestView
    ) -> tuple[PullRequest, ...]:
        """Those that fit the filters, and all that took one of them back or brought it back again.

        One whose files can't be had may fit: it is shown rather than lost.
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

    def _read_entries(self, pulls: tuple[PullRequest, ...], progress: ProgressCallback) -> tuple[Entry, ...]:
        progress(0, len(pulls))
        done: dict[int, Entry] = {}
        with DeadlineExecutor(self._workers, "digest") as crew:
            for entry in iterate_results([crew.submit(build_isolated_entry, pull, self._entry) for pull in pulls]):
                done[entry.number] = entry
                progress(len(done), len(pulls))
        return tuple(done[pull.number] for pull in pulls)


def _select_outcomes(entries: Iterable[Entry], outcomes: Iterable[MergeOutcome]) -> Iterator[MergeOutcome]:
    """What has to do with these entries."""
    shown = {entry.number for entry in entries}
    return (found for found in outcomes if not shown.isdisjoint((found.pull.number, found.by.number)))
