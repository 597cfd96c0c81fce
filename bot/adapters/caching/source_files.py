"""Cache for whole files at a commit: a day is read once, however many channels have it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from pydantic import TypeAdapter

from bot.domain.keyspace.keys import SOURCE_FILES
from bot.domain.pull_requests.diff import DiffSide
from bot.domain.pull_requests.models import Repository
from bot.domain.source.models import SourceFile, SourceProblem
from bot.ports import Cache, SourceFiles
from bot.ports.cached_json import load_or_none

_FILES = TypeAdapter(dict[str, SourceFile])


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
        if cached is not None and set(cached) == set(paths):
            return cached
        files = dict(self._source.read_files(repository, commit, paths, side))
        if all(file.problem is not SourceProblem.UNAVAILABLE for file in files.values()):
            self._cache.put(key, _FILES.dump_json(files).decode(), SOURCE_FILES.lifetime)
        return files


def _hash_request(paths: Sequence[str], side: DiffSide) -> str:
    return hashlib.sha256("\0".join([side, *sorted(paths)]).encode()).hexdigest()[:16]
