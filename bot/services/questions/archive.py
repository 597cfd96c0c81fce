"""The pull requests that answers are based on, with their patches and the existing summaries.

No model is asked here: a pull request without a summary has only its facts.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace

from bot.domain.digest.models import Entry
from bot.domain.pull_requests.areas import determine_area
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.domain.pull_requests.path_classes import PathClasses, PathClassesLookup, get_default_classes
from bot.domain.pull_requests.reference import Reference
from bot.domain.summaries.diff_packing import Coverage
from bot.domain.summaries.fallback import Fallback, FallbackReason
from bot.domain.summaries.models import SummarisedPullRequest, build_fallback_summary
from bot.domain.text.redaction import redact_patch
from bot.domain.time.date_range import Span
from bot.ports import PullRequests
from bot.services.history.merge_lists import MergeList, MergeLister
from bot.services.operations.worker_threads import DeadlineExecutor
from bot.services.questions.background import NO_BACKGROUND, BackgroundSources
from bot.services.source.code_sources import NO_CODE, CodeSources
from bot.services.summaries.entry_cache import EntryCache
from bot.services.summaries.reader import PullRequestReader

_NO_SUMMARY = Fallback(FallbackReason.NOT_REQUESTED)


@dataclass(frozen=True, slots=True)
class DayEntries:
    """The pull requests merged in some days, newest first, and caveats on what may be missing.

    ``unloaded`` are the days of the span of which nothing is known.
    """

    repository: Repository
    span: Span
    entries: tuple[Entry, ...]
    caveats: tuple[str, ...] = ()
    unloaded: tuple[dt.date, ...] = ()


class PullRequestArchive:
    """Archive of days and single pull requests. ``workers`` is the number of simultaneous calls to GitHub.

    ``code`` is where files are read as they are after a pull request, ``background`` where discussions are.
    """

    def __init__(
        self,
        pulls: PullRequests,
        reader: PullRequestReader,
        entry_cache: EntryCache,
        workers: int,
        classes_of: PathClassesLookup = get_default_classes,
        code: CodeSources = NO_CODE,
        background: BackgroundSources = NO_BACKGROUND,
    ) -> None:
        self.code = code
        self.background = background
        self._pulls = pulls
        self._merges = MergeLister(pulls.list_merged, workers)
        self._reader = reader
        self._entry_cache = entry_cache
        self._workers = workers
        self._classes_of = classes_of

    def read_days(self, repository: Repository, span: Span) -> DayEntries:
        """Return all pull requests merged in some days.

        Raises what :meth:`bot.ports.PullRequests.list_merged` raises.
        """
        merged = self.list_merges(repository, span)
        with DeadlineExecutor(self._workers, "archive") as executor:
            return DayEntries(
                repository,
                span,
                tuple(executor.map_items(self.build_entry, merged.pulls)),
                merged.caveats,
                merged.unavailable,
            )

    def list_merges(self, repository: Repository, span: Span) -> MergeList:
        """Return the pull requests merged in some days, without files. Raises what ``read_days`` raises."""
        return self._merges.list_merges(repository, span)

    def fetch_facts(self, reference: Reference) -> PullRequest:
        """Return one pull request without its files. Raises what ``read_pull_request`` raises."""
        return self._pulls.fetch_pull_request(reference.repository, reference.number)

    def read_pull_request(self, reference: Reference) -> Entry:
        """Return one pull request, open or merged.

        Raises what :meth:`bot.ports.PullRequests.fetch_pull_request` raises.
        """
        return self.build_entry(self._pulls.fetch_pull_request(reference.repository, reference.number))

    def get_path_classes(self, repository: Repository) -> PathClasses:
        """Return the path classes of a repository."""
        return self._classes_of(repository)

    def get_cached_summary(self, reference: Reference) -> SummarisedPullRequest | None:
        """Return what is cached of a pull request, without patches, a rating, and any call."""
        return self._entry_cache.get_cached_summary(reference)

    def build_entry(self, pull: PullRequest) -> Entry:
        """Return the entry of a pull request with its files and patches, as far as they are available."""
        loaded = _redact_patches(self._reader.load_files(pull))
        cached = self._entry_cache.get_cached(Reference(pull.repository, pull.number)) if pull.is_merged else None
        if cached:
            return replace(cached, pull=loaded)
        classes = self._classes_of(loaded.repository)
        summary = build_fallback_summary(loaded, _NO_SUMMARY, Coverage.NONE, classes)
        return Entry(loaded, summary, self._entry_cache.rate_pull_request(loaded), determine_area(loaded, classes))


def _redact_patches(pull: PullRequest) -> PullRequest:
    """Return a copy without credentials in patches; in single lines, the middle of a key could not be detected."""
    if pull.files is None:
        return pull
    files = (replace(file, patch=redact_patch(file.patch)) if file.patch else file for file in pull.files)
    return replace(pull, files=tuple(files))
