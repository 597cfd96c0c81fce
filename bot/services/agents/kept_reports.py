"""Reports of days, made of summaries that exist: no model is asked for them."""

from __future__ import annotations

from bot.domain.errors import UsageError
from bot.domain.pull_requests.areas import determine_area
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.domain.pull_requests.path_classes import PathClassesLookup
from bot.domain.pull_requests.reference import Reference
from bot.domain.summaries.diff_packing import Coverage
from bot.domain.summaries.fallback import Fallback, FallbackReason
from bot.domain.summaries.models import SummarisedPullRequest, build_fallback_summary
from bot.domain.time.day import LocalDay
from bot.features.digest.markdown import render_report
from bot.ports import PullRequests
from bot.services.digest.builder import DigestBuilder
from bot.services.summaries.entry_cache import EntryCache
from bot.services.summaries.reader import PullRequestReader

_NO_SUMMARY = Fallback(FallbackReason.NOT_SUMMARISED)


class KeptSummaryReader:
    """Reader of pull requests with the summary that exists, or with facts in its place."""

    def __init__(self, entries: EntryCache, reader: PullRequestReader, classes_of: PathClassesLookup) -> None:
        self._entries = entries
        self._reader = reader
        self._classes_of = classes_of

    def has_summary(self, pull: PullRequest) -> bool:
        """Return whether a summary exists. Raises StoreUnavailable."""
        return self._entries.get_cached_summary(Reference(pull.repository, pull.number)) is not None

    def read_pull_request(self, pull: PullRequest) -> SummarisedPullRequest:
        """Return a pull request as it was summarized. Raises StoreUnavailable."""
        kept = self._entries.get_cached_summary(Reference(pull.repository, pull.number))
        if kept:
            return kept
        loaded, classes = self._reader.load_files(pull), self._classes_of(pull.repository)
        summary = build_fallback_summary(loaded, _NO_SUMMARY, Coverage.NONE, classes)
        return SummarisedPullRequest(loaded, summary, determine_area(loaded, classes))


class KeptReports:
    """The reports of days whose digest was made. ``builder`` reads pull requests with ``reader``."""

    def __init__(self, pulls: PullRequests, reader: KeptSummaryReader, builder: DigestBuilder) -> None:
        self._pulls = pulls
        self._reader = reader
        self._builder = builder

    def render_day(self, repository: Repository, day: LocalDay, name: str) -> str:
        """Return the report of a day; ``name`` is that of the repository in its heading.

        Raises:
            UsageError: the day has no report yet.
            PrdigestError: the merges of the day can't be listed, or the store does not answer.
        """
        pulls = self._pulls.list_merged(repository, day).pulls
        if pulls and not any(map(self._reader.has_summary, pulls)):
            raise UsageError(
                f"There is no report of {repository} on {day.date} yet: it comes with the digest of that day; "
                "list_pull_requests has the facts."
            )
        return render_report(self._builder.build(repository, day, name))
