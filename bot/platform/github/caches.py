"""Caches in front of GitHub: channels and questions ask about the same days and pull requests many times.

Who lists a day or loads files holds a lease meanwhile, so that a hundred channels at one moment cost one call.
Failures are not kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.dates import LocalDay
from bot.errors import SourceUnavailable
from bot.platform.pulls.models import ChangedFile, PullRequest
from bot.platform.pulls.sources import DayMerges, Discussion, PullRequestBackground, PullRequests, Releases
from bot.platform.source.models import SourceFiles
from bot.platform.store.tables import Store, Table
from impact.contract.deprecations import Release
from impact.repository import Repository
from impact.source.models import DiffSide, SourceFile, SourceProblem

# GitHub's search index lags behind by minutes
_INDEX_DELAY = timedelta(hours=1)
# shorter than the pause before a digest with gaps is repaired
UNSETTLED_MINUTES = 2
# as long as a process remembers what it read around a day
ONGOING_MINUTES = 10


@dataclass(frozen=True, slots=True)
class _ChangedFiles:
    files: tuple[ChangedFile, ...]


@dataclass(frozen=True, slots=True)
class _FilesOfCommit:
    """Files by path; none for a commit that is not there: each other request has files."""

    files: dict[str, SourceFile]


@dataclass(frozen=True, slots=True)
class _ReleaseList:
    """Releases, and when they were asked for (UTC)."""

    read_at: datetime
    releases: tuple[Release, ...]


@dataclass(frozen=True, slots=True)
class _TagCommit:
    commit: str


# follow-up questions are about the last weeks; patches are the largest values in the store
CHANGED_FILES = Table(
    "files:{repository}:{number}:{commit}",
    _ChangedFiles,
    "the changed files of a commit",
    days=30,
    survives_reset=True,
    counted_as="changed_files",
)
# summaries of a day are made once; what reads more asks again
SOURCE_FILES = Table(
    "sources:{repository}:{commit}:{request}",
    _FilesOfCommit,
    "files at a commit",
    days=2,
    survives_reset=True,
    counted_as="source_files",
)
# titles, labels and descriptions may still change; the merges of a past day do not
DAY_LISTS = Table(
    "day:{repository}:{date}:{zone}",
    DayMerges,
    "the list of a day that is over",
    days=1 / 2,
    survives_reset=True,
    counted_as="day_lists",
)
# for channels that ask within the same minutes, which the key names: the clock of the store does not count
UNSETTLED_DAY_LISTS = Table(
    "unsettled:{repository}:{date}:{zone}:{minutes}",
    DayMerges,
    "the list of a day to which something may still be added",
    days=10 / 1_440,
    survives_reset=True,
    counted_as="day_lists",
)
# an open discussion goes on; one question reads it several times, and the next may come soon
DISCUSSIONS = Table(
    "discussion:{repository}:{number}",
    Discussion,
    "what people wrote about a pull request",
    days=10 / 1_440,
    survives_reset=True,
    counted_as="discussions",
)
# which pull request was merged as a commit does not change; its title and labels may
COMMIT_MERGES = Table(
    "merged:{repository}:{commit}",
    PullRequest,
    "the pull request of a commit",
    days=30,
    survives_reset=True,
    counted_as="commits",
)
RELEASES = Table(
    "releases:{repository}",
    _ReleaseList,
    "the releases of a repository",
    days=1,
    survives_reset=True,
    counted_as="releases",
)
# a tag is moved now and then
TAG_COMMITS = Table(
    "tag:{repository}:{tag}", _TagCommit, "the last merge that a tag holds", days=1, survives_reset=True
)


class FileCache:
    """``PullRequests`` that asks the source only once for the files of a commit, which do not change any more."""

    def __init__(self, source: PullRequests, store: Store) -> None:
        self._source = source
        self._store = store
        self.list_merged = source.list_merged
        self.fetch_pull_request = source.fetch_pull_request

    def load_files(self, pull: PullRequest) -> PullRequest:
        kept = self._store.remember(
            CHANGED_FILES,
            lambda: _ChangedFiles(self._source.load_files(pull).files or ()),
            *(pull.repository, pull.number, pull.commit),
            keeps=lambda loaded: loaded.files,
        )
        return replace(pull, files=kept.files)


class DayListCache:
    """``PullRequests`` that keeps the lists of past days: for twelve hours, or two minutes if they may change.

    The list of a day that is not over is only kept with ``keeps_ongoing``: then what was merged in the last ten
    minutes may be missing from it. That is for what was reverted since a digest's day.
    """

    def __init__(
        self, source: PullRequests, store: Store, now: Callable[[], datetime], *, keeps_ongoing: bool = False
    ) -> None:
        self._source = source
        self._store = store
        self._now = now
        self._keeps_ongoing = keeps_ongoing
        self.fetch_pull_request = source.fetch_pull_request
        self.load_files = source.load_files

    def list_merged(self, repository: Repository, day: LocalDay) -> DayMerges:
        """List a day's merges. A list may change if it is empty or incomplete, or if the day has hardly ended."""
        now, store = self._now(), self._store
        is_over = now >= day.end
        if not is_over and not self._keeps_ongoing:
            return self._source.list_merged(repository, day)
        minutes = UNSETTLED_MINUTES if is_over else ONGOING_MINUTES
        settled = (repository, day.date, day.zone)
        unsettled = (*settled, int(now.timestamp()) // 60 // minutes * minutes)

        def load() -> DayMerges | None:
            kept = store.get(DAY_LISTS, *settled) if is_over else None
            return kept or store.get(UNSETTLED_DAY_LISTS, *unsettled)

        if kept := load():
            return kept
        with (
            store.hold_lease(DAY_LISTS, *settled) if is_over else store.hold_lease(UNSETTLED_DAY_LISTS, *unsettled)
        ):
            # the previous holder of the lease has most likely listed the same
            if kept := load():
                return kept
            listed = self._source.list_merged(repository, day)
            if is_over and listed.pulls and not listed.caveat and now >= day.end + _INDEX_DELAY:
                store.put(DAY_LISTS, listed, *settled)
            else:
                store.put(UNSETTLED_DAY_LISTS, listed, *unsettled)
            return listed


@dataclass(frozen=True)
class BackgroundCache:
    """``PullRequestBackground`` that asks the source once for several questions."""

    source: PullRequestBackground
    store: Store

    def fetch_discussion(self, repository: Repository, number: int) -> Discussion:
        """Return a discussion, from the cache if it has one. Parts are not kept."""
        discussion = self.store.get(DISCUSSIONS, repository, number)
        if discussion is None:
            discussion = self.source.fetch_discussion(repository, number)
            if not discussion.is_partial:
                self.store.put(DISCUSSIONS, discussion, repository, number)
        return discussion

    def find_merges(self, repository: Repository, commits: Sequence[str]) -> Mapping[str, PullRequest]:
        """Return the merges of commits. Those that are not kept are asked for at once; unknown ones may come."""
        kept = self.store.get_each(COMMIT_MERGES, [(repository, commit) for commit in commits])
        merges = {commit: pull for commit, pull in zip(commits, kept, strict=True) if pull}
        unknown = [commit for commit in dict.fromkeys(commits) if commit not in merges]
        fresh = self.source.find_merges(repository, unknown) if unknown else {}
        for commit, pull in fresh.items():
            self.store.put(COMMIT_MERGES, pull, repository, commit)
        return merges | dict(fresh)


@dataclass(frozen=True)
class ReleaseCache:
    """Releases that the source is asked for once a day, or when a later time is asked about."""

    source: Releases
    store: Store
    now: Callable[[], datetime]

    def list_releases(self, repository: Repository, until: datetime) -> Sequence[Release]:
        """Return the releases, oldest first, with all that were cut before ``until`` (aware)."""
        name = str(repository).lower()
        kept = self.store.get(RELEASES, name)
        if kept is None or kept.read_at < until:
            kept = _ReleaseList(self.now(), tuple(self.source.list_releases(repository)))
            self.store.put(RELEASES, kept, name)
        return kept.releases

    def find_commit(self, repository: Repository, tag: str) -> str:
        """Return the last merge that a tag holds, empty without one. That there is none is not kept."""
        key = (str(repository).lower(), tag)
        if kept := self.store.get(TAG_COMMITS, *key):
            return kept.commit
        commit = self.source.find_commit(repository, tag)
        if commit:
            self.store.put(TAG_COMMITS, _TagCommit(commit), *key)
        return commit


@dataclass(frozen=True)
class SourceFileCache:
    """``SourceFiles`` that asks the source only once for the same files of a commit."""

    source: SourceFiles
    store: Store

    def read_files(
        self, repository: Repository, commit: str, paths: Sequence[str], side: DiffSide = DiffSide.NEW
    ) -> Mapping[str, SourceFile]:
        """Return each file of ``paths`` at a commit, or at its first parent, from the cache if it has them."""
        key = (repository, commit, hashlib.sha256("\0".join([side, *sorted(paths)]).encode()).hexdigest()[:16])
        kept = self.store.get(SOURCE_FILES, *key)
        if kept and not kept.files:
            raise SourceUnavailable(f"{repository} had no commit {commit!r} when it was last asked for.")
        if kept and set(kept.files) == set(paths):
            return kept.files
        try:
            files = dict(self.source.read_files(repository, commit, paths, side))
        except SourceUnavailable:
            self.store.put(SOURCE_FILES, _FilesOfCommit({}), *key)
            raise
        if all(file.problem is not SourceProblem.UNAVAILABLE for file in files.values()):
            self.store.put(SOURCE_FILES, _FilesOfCommit(files), *key)
        return files
