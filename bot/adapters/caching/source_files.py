"""Cache for whole files at a commit: a day is read once, however many channels have it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from pydantic import TypeAdapter

from bot.domain.errors import SourceUnavailable
from bot.domain.keyspace.keys import SOURCE_FILES
from bot.domain.pull_requests.diff import DiffSide
from bot.domain.pull_requests.models import Repository
from bot.ports import Cache, SourceFiles
from bot.ports.codecs.cached_json import load_or_none
from impact.source.models import SourceFile, SourceProblem

_FILES = TypeAdapter(dict[str, SourceFile])
# what is kept of a commit that is not there; each other request has files
_NO_COMMIT: dict[str, SourceFile] = {}


class SourceFileCache:
    """``SourceFiles`` that asks the source only once for the same files of a commit."""

    def __init__(self, source: SourceFiles, cache: Cache) -> None:
        self._source = source
        self._cache = cache

    def read_files(
        self, repository: Repository, commit: str, paths: Sequence[str], side: DiffSide = DiffSide.NEW
    ) -> Mapping[str, SourceFile]:
        """Return each file of ``paths`` at a commit, or at its first parent, from the cache if it has them."""
        key = SOURCE_FILES.build_key(repository, commit, _hash_request(paths, side))
        cached = load_or_none(_FILES, self._cache.get(key))
        if cached == _NO_COMMIT:
            raise SourceUnavailable(f"{repository} had no commit {commit!r} when it was last asked for.")
        if cached is not None and set(cached) == set(paths):
            return cached
        try:
            files = dict(self._source.read_files(repository, commit, paths, side))
        except SourceUnavailable:
            self._put_files(key, _NO_COMMIT)
            raise
        if all(file.problem is not SourceProblem.UNAVAILABLE for file in files.values()):
            self._put_files(key, files)
        return files

    def _put_files(self, key: str, files: dict[str, SourceFile]) -> None:
        self._cache.put(key, _FILES.dump_json(files).decode(), SOURCE_FILES.lifetime)


def _hash_request(paths: Sequence[str], side: DiffSide) -> str:
    return hashlib.sha256("\0".join([side, *sorted(paths)]).encode()).hexdigest()[:16]
