"""Results of reading files that are kept by the content of each file, so that a day reads only what changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar

from bot.domain.errors import UsageError
from bot.domain.keyspace.family import ExpiringFamily
from bot.domain.pull_requests.models import Repository
from bot.domain.source.listing import TreeFile
from bot.ports import Cache, SourceFiles
from bot.ports.codecs.versioned_json import VersionedJson
from bot.services.operations.worker_threads import DeadlineExecutor
from impact.source.models import SourceFile

T = TypeVar("T")
# files that GitHub gives in one call
_BATCH = 50


class ContentCache(Generic[T]):
    """A cache of what ``read`` makes of files. ``version`` names the rules of ``read`` and what else it takes."""

    def __init__(
        self,
        cache: Cache,
        family: ExpiringFamily,
        codec: VersionedJson[T],
        version: str,
        read: Callable[[SourceFile], T],
    ) -> None:
        self._cache = cache
        self._family = family
        self._codec = codec
        self._version = version
        self._read = read

    def read_files(
        self, source: SourceFiles, repository: Repository, commit: str, files: Sequence[TreeFile], workers: int
    ) -> Iterator[T]:
        """Yield the result for each file, in no order. Fifty files that are not kept take one call.

        Raises:
            PrdigestError: the files can't be read, or the store does not answer.
        """
        missing = []
        for file in files:
            kept = self.get_kept(file)
            if kept is None:
                missing.append(file)
            else:
                yield kept

        def read_batch(batch: Sequence[TreeFile]) -> list[T]:
            read = source.read_files(repository, commit, [file.path for file in batch])
            return [self._store(file, read[file.path]) for file in batch]

        with DeadlineExecutor(workers, "files") as crew:
            for results in crew.map_items(read_batch, _divide(missing)):
                yield from results

    def get_kept(self, file: TreeFile) -> T | None:
        """Return what is kept of a file, None if it has to be read. Raises StoreUnavailable."""
        text = self._cache.get(self._build_key(file))
        try:
            return None if text is None else self._codec.load(json.loads(text))
        except (ValueError, UsageError, AttributeError):
            return None

    def _store(self, file: TreeFile, source: SourceFile) -> T:
        value = self._read(source)
        if not source.problem:
            self._cache.put(self._build_key(file), json.dumps(self._codec.dump(value)), self._family.lifetime)
        return value

    def _build_key(self, file: TreeFile) -> str:
        """Return the key of a file: the same content at another path is another module."""
        name = hashlib.sha256(f"{file.content} {file.path}".encode(errors="replace")).hexdigest()[:32]
        return self._family.build_key(self._version, name)


def _divide(files: Sequence[TreeFile]) -> Iterable[Sequence[TreeFile]]:
    return (files[start : start + _BATCH] for start in range(0, len(files), _BATCH))
