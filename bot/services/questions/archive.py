"""The pull requests that questions are answered from: with their patches, and the summaries that exist already.

No model is asked here: what was not summarised before has its facts alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from bot.domain.digest.models import Entry
from bot.domain.pull_requests.areas import determine_area
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.domain.pull_requests.path_classes import PathClasses, PathClassesLookup, get_default_classes
from bot.domain.pull_requests.reference import Reference
from bot.domain.summaries.diff_packing import Coverage
from bot.domain.summaries.models import build_fallback_summary
from bot.domain.text.redaction import redact_patch
from bot.domain.time.date_range import Span
from bot.ports import PullRequests
from bot.services.history.merge_lists import MergeList, combine_lists, list_day
from bot.services.operations.worker_threads import DeadlineExecutor
from bot.services.summaries.entry_cache import EntryCache
from bot.services.summaries.reader import PullRequestReader

_NO_SUMMARY_REASON = "nobody asked for it before"


@dataclass(frozen=True, slots=True)
class DayEntries:
    """The pull requests merged in some days, newest first, and what may be missing from them."""

    repository: Repository
    span: Span
    entries: tuple[Entry, ...]
    caveats: tuple[str, ...] = ()


class PullRequestArchive:
    """Reads days and single pull requests; ``workers`` calls to GitHub run at a time."""

    def __init__(
        self,
        pulls: PullRequests,
        reader: PullRequestReader,
        entries: EntryCache,
        workers: int,
        classes_of: PathClassesLookup = get_default_classes,
    ) -> None:
        self._pulls = pulls
        self._reader = reader
        self._entries = entries
        self._workers = workers
        self._classes_of = classes_of

    def read_days(self, repository: Repository, span: Span) -> DayEntries:
        """All that was merged in some days. Raises what :meth:`bot.ports.PullRequests.merged_on` raises."""
        merged = self.list_merges(repository, span)
        with DeadlineExecutor(self._workers, "archive") as crew:
            return DayEntries(
                repository, span, tuple(crew.map_items(self.build_entry, merged.pulls)), merged.caveats
            )

    def list_merges(self, repository: Repository, span: Span) -> MergeList:
        """What was merged in some days, without files. Raises as :meth:`days`."""
        with DeadlineExecutor(self._workers, "archive") as crew:
            return combine_lists(crew.map_items(partial(list_day, self._pulls.list_merged, repository), span.days))

    def read_pull_request(self, reference: Reference) -> Entry:
        """One pull request, open or merged. Raises what :meth:`bot.ports.PullRequests.pull` raises."""
        return self.build_entry(self._pulls.fetch_pull_request(reference.repository, reference.number))

    def get_path_classes(self, repository: Repository) -> PathClasses:
        """The classes of a repository's paths."""
        return self._classes_of(repository)

    def get_cached(self, reference: Reference) -> Entry | None:
        """What is kept of a pull request, without asking anybody; without patches."""
        return self._entries.get_cached(reference)

    def build_entry(self, pull: PullRequest) -> Entry:
        """A pull request with its files and patches, as far as they can be had."""
        loaded = _redact_patches(self._reader.load_files(pull))
        known = self._entries.get_cached(Reference(pull.repository, pull.number)) if pull.is_merged else None
        if known:
            return replace(known, pull=loaded)
        classes = self._classes_of(loaded.repository)
        summary = build_fallback_summary(loaded, _NO_SUMMARY_REASON, Coverage.NONE, classes)
        return Entry(loaded, summary, self._entries.rate_pull_request(loaded), determine_area(loaded, classes))


def _redact_patches(pull: PullRequest) -> PullRequest:
    """Without credentials that were committed: line by line, nobody could tell the middle of a key any more."""
    if pull.files is None:
        return pull
    files = (replace(file, patch=redact_patch(file.patch)) if file.patch else file for file in pull.files)
    return replace(pull, files=tuple(files))
