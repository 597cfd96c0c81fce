"""Caches in front of GitHub: channels and questions ask about the same days and pull requests many times.

Who lists a day or loads files holds a lease meanwhile, so that a hundred channels at one moment cost one call.
Failures are not kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from pydantic import TypeAdapter

from bot.domain.errors import SourceUnavailable
from bot.domain.keyspace.keys import (
    CHANGED_FILES,
    COMMIT_MERGE,
    DAY_LIST,
    DISCUSSION,
    RELEASES,
    SOURCE_FILES,
    TAG_COMMIT,
    UNSETTLED_DAY_LIST,
)
from bot.domain.pull_requests.diff import DiffSide
from bot.domain.pull_requests.discussion import Discussion
from bot.domain.pull_requests.models import ChangedFile, PullRequest, Repository
from bot.domain.time.day import LocalDay
from bot.ports import Cache, DayMerges, PullRequestBackground, PullRequests, Releases, SourceFiles
from bot.ports.codecs.cached_json import load_or_none
from impact.contract.releases import Release
from impact.source.models import SourceFile, SourceProblem

# GitHub's search index lags behind by minutes
_INDEX_DELAY = timedelta(hours=1)
# shorter than the pause before a digest with gaps is repaired
UNSETTLED_MINUTES = 2
# as long as a process remembers what it read around a day
ONGOING_MINUTES = 10
_CHANGED = TypeAdapter(tuple[ChangedFile, ...])
_DAY = TypeAdapter(DayMerges)
_DISCUSSION = TypeAdapter(Discussion)
_PULL = TypeAdapter(PullRequest)
_SOURCES = TypeAdapter(dict[str, SourceFile])
# what is kept of a commit that is not there; each other request has files
_NO_COMMIT: dict[str, SourceFile] = {}


class FileCache:
    """``PullRequests`` that asks the source only once for the files of a commit, which do not change any more."""

    def __init__(self, source: PullRequests, cache: Cache) -> None:
        self._source = source
        self._cache = cache
        self.list_merged = source.list_merged
        self.fetch_pull_request = source.fetch_pull_request

    def load_files(self, pull: PullRequest) -> PullRequest:
        """Return the pull request with its files, from the cache if it has them."""
        key = CHANGED_FILES.build_key(pull.repository, pull.number, pull.commit)
        files = load_or_none(_CHANGED, self._cache.get(key))
        if files is not None:
            return replace(pull, files=files)
        with self._cache.acquire_lease(key):
            # the previous holder of the lease has most likely loaded the same
            files = load_or_none(_CHANGED, self._cache.get(key))
            if files is not None:
                return replace(pull, files=files)
            loaded = self._source.load_files(pull)
            if loaded.files:
                self._cache.put(key, _CHANGED.dump_json(loaded.files).decode(), CHANGED_FILES.lifetime)
            return loaded


class DayListCache:
    """``PullRequests`` that keeps the lists of past days: for twelve hours, or two minutes if they may change.

    The list of a day that is not over is not stored. With ``is_for_ongoing`` it alone is, and what was merged in
    the last ten minutes may be missing from it. That is for what was reverted since a digest's day.
    """

    def __init__(
        self,
        source: PullRequests,
        cache: Cache,
        now: Callable[[], datetime],
        *,
        is_for_ongoing: bool = False,
    ) -> None:
        self._source = source
        self._cache = cache
        self._now = now
        self._is_for_ongoing = is_for_ongoing
        self.fetch_pull_request = source.fetch_pull_request
        self.load_files = source.load_files

    def list_merged(self, repository: Repository, day: LocalDay) -> DayMerges:
        """List a day's merges. A list may change if it is empty or incomplete, or if the day has hardly ended."""
        now = self._now()
        is_over = now >= day.end
        if is_over == self._is_for_ongoing:
            return self._source.list_merged(repository, day)
        minutes = UNSETTLED_MINUTES if is_over else ONGOING_MINUTES
        first = int(now.timestamp()) // 60 // minutes * minutes
        settled = DAY_LIST.build_key(repository, day.date, day.zone)
        unsettled = UNSETTLED_DAY_LIST.build_key(repository, day.date, day.zone, first)
        keys = (settled, unsettled) if is_over else (unsettled,)
        if (cached := self._load(keys)) is not None:
            return cached
        with self._cache.acquire_lease(keys[0]):
            # the previous holder of the lease has most likely listed the same
            if (cached := self._load(keys)) is not None:
                return cached
            listed = self._source.list_merged(repository, day)
            is_settled = is_over and listed.pulls and not listed.caveat and now >= day.end + _INDEX_DELAY
            key, family = (settled, DAY_LIST) if is_settled else (unsettled, UNSETTLED_DAY_LIST)
            self._cache.put(key, _DAY.dump_json(listed).decode(), family.lifetime)
            return listed

    def _load(self, keys: Sequence[str]) -> DayMerges | None:
        return next((day for key in keys if (day := load_or_none(_DAY, self._cache.get(key))) is not None), None)


class BackgroundCache:
    """``PullRequestBackground`` that asks the source once for several questions."""

    def __init__(self, source: PullRequestBackground, cache: Cache) -> None:
        self._source = source
        self._cache = cache

    def fetch_discussion(self, repository: Repository, number: int) -> Discussion:
        """Return a discussion, from the cache if it has one. Parts are not kept."""
        key = DISCUSSION.build_key(repository, number)
        discussion = load_or_none(_DISCUSSION, self._cache.get(key))
        if discussion is None:
            discussion = self._source.fetch_discussion(repository, number)
            if not discussion.is_partial:
                self._cache.put(key, _DISCUSSION.dump_json(discussion).decode(), DISCUSSION.lifetime)
        return discussion

    def find_merges(self, repository: Repository, commits: Sequence[str]) -> Mapping[str, PullRequest]:
        """Return the merged pull request of each commit. Only what is not cached is asked for, in one request.

        That a commit is unknown is not kept: the pull request may be merged, or the commit pushed.
        """
        keys = {commit: COMMIT_MERGE.build_key(repository, commit) for commit in commits}
        cached = {commit: load_or_none(_PULL, self._cache.get(key)) for commit, key in keys.items()}
        merges = {commit: pull for commit, pull in cached.items() if pull is not None}
        unknown = [commit for commit in keys if commit not in merges]
        fresh = self._source.find_merges(repository, unknown) if unknown else {}
        for commit, pull in fresh.items():
            self._cache.put(keys[commit], _PULL.dump_json(pull).decode(), COMMIT_MERGE.lifetime)
        return merges | dict(fresh)


@dataclass(frozen=True, slots=True)
class _ReleaseList:
    """Releases, and when they were asked for (UTC)."""

    read_at: datetime
    releases: tuple[Release, ...]


_RELEASES = TypeAdapter(_ReleaseList)


class ReleaseCache:
    """Releases that the source is asked for once a day, or when a later time is asked about."""

    def __init__(self, source: Releases, cache: Cache, now: Callable[[], datetime]) -> None:
        self._source = source
        self._cache = cache
        self._now = now

    def list_releases(self, repository: Repository, until: datetime) -> Sequence[Release]:
        """Return the releases, oldest first, with all that were cut before ``until`` (aware)."""
        key = RELEASES.build_key(str(repository).lower())
        cached = load_or_none(_RELEASES, self._cache.get(key))
        if cached and cached.read_at >= until:
            return cached.releases
        fresh = _ReleaseList(self._now(), tuple(self._source.list_releases(repository)))
        self._cache.put(key, _RELEASES.dump_json(fresh).decode(), RELEASES.lifetime)
        return fresh.releases

    def find_commit(self, repository: Repository, tag: str) -> str:
        """Return the last merge that a tag holds, empty without one. That there is none is not kept."""
        key = TAG_COMMIT.build_key(str(repository).lower(), tag)
        commit = self._cache.get(key) or self._source.find_commit(repository, tag)
        if commit:
            self._cache.put(key, commit, TAG_COMMIT.lifetime)
        return commit


class SourceFileCache:
    """``SourceFiles`` that asks the source only once for the same files of a commit."""

    def __init__(self, source: SourceFiles, cache: Cache) -> None:
        self._source = source
        self._cache = cache

    def read_files(
        self, repository: Repository, commit: str, paths: Sequence[str], side: DiffSide = DiffSide.NEW
    ) -> Mapping[str, SourceFile]:
        """Return each file of ``paths`` at a commit, or at its first parent, from the cache if it has them."""
        request = hashlib.sha256("\0".join([side, *sorted(paths)]).encode()).hexdigest()[:16]
        key = SOURCE_FILES.build_key(repository, commit, request)
        cached = load_or_none(_SOURCES, self._cache.get(key))
        if cached == _NO_COMMIT:
            raise SourceUnavailable(f"{repository} had no commit {commit!r} when it was last asked for.")
        if cached is not None and set(cached) == set(paths):
            return cached
        try:
            files = dict(self._source.read_files(repository, commit, paths, side))
        except SourceUnavailable:
            self._cache.put(key, _SOURCES.dump_json(_NO_COMMIT).decode(), SOURCE_FILES.lifetime)
            raise
        if all(file.problem is not SourceProblem.UNAVAILABLE for file in files.values()):
            self._cache.put(key, _SOURCES.dump_json(files).decode(), SOURCE_FILES.lifetime)
        return files
