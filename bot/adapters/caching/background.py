"""Cache for discussions, for minutes, and for the pull requests of commits, for a month."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import TypeAdapter

from bot.domain.keyspace.keys import COMMIT_MERGE, DISCUSSION
from bot.domain.pull_requests.discussion import Discussion
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.ports import Cache, PullRequestBackground
from bot.ports.codecs.cached_json import load_or_none

_DISCUSSION = TypeAdapter(Discussion)
_PULL_REQUEST = TypeAdapter(PullRequest)


class BackgroundCache:
    """``PullRequestBackground`` that asks the source once for several questions."""

    def __init__(self, source: PullRequestBackground, cache: Cache) -> None:
        self._source = source
        self._cache = cache

    def fetch_discussion(self, repository: Repository, number: int) -> Discussion:
        """Return a discussion, from the cache if it has one. Failures and parts are not kept."""
        key = DISCUSSION.build_key(repository, number)
        cached = load_or_none(_DISCUSSION, self._cache.get(key))
        if cached is not None:
            return cached
        discussion = self._source.fetch_discussion(repository, number)
        if not discussion.is_partial:
            self._cache.put(key, _DISCUSSION.dump_json(discussion).decode(), DISCUSSION.lifetime)
        return discussion

    def find_merges(self, repository: Repository, commits: Sequence[str]) -> Mapping[str, PullRequest]:
        """Return the merged pull request of each commit. Only what is not cached is asked for, in one request.

        That a commit is unknown is not kept: the pull request may be merged, or the commit pushed.
        """
        keys = {commit: COMMIT_MERGE.build_key(repository, commit) for commit in commits}
        cached = {commit: load_or_none(_PULL_REQUEST, self._cache.get(key)) for commit, key in keys.items()}
        merges = {commit: pull for commit, pull in cached.items() if pull is not None}
        unknown = [commit for commit in keys if commit not in merges]
        fresh = self._source.find_merges(repository, unknown) if unknown else {}
        for commit, pull in fresh.items():
            key = COMMIT_MERGE.build_key(repository, commit)
            self._cache.put(key, _PULL_REQUEST.dump_json(pull).decode(), COMMIT_MERGE.lifetime)
        return merges | dict(fresh)
