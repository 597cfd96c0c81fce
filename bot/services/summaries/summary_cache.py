"""Cache of summarised pull requests, without what reads or rates them."""

from __future__ import annotations

import hashlib

from pydantic import TypeAdapter

from bot.domain.keyspace.keys import SUMMARY_ENTRY
from bot.domain.pull_requests.path_classes import PathClassesLookup, get_default_classes
from bot.domain.pull_requests.reference import Reference
from bot.domain.summaries.models import SummarisedPullRequest
from bot.ports import Cache
from bot.ports.codecs.cached_json import load_or_none

_SUMMARISED_ADAPTER = TypeAdapter(SummarisedPullRequest)


class SummaryCache:
    """The cache. ``version`` names all that a summary depends on besides its pull request and its path classes."""

    def __init__(self, cache: Cache, version: str, classes_of: PathClassesLookup = get_default_classes) -> None:
        self._cache = cache
        self._version = version
        self._classes_of = classes_of

    def get(self, reference: Reference) -> SummarisedPullRequest | None:
        """Return what is cached of a pull request, or None; without patches. Raises StoreUnavailable."""
        return load_or_none(_SUMMARISED_ADAPTER, self._cache.get(self.build_key(reference)))

    def put(self, reference: Reference, read: SummarisedPullRequest) -> None:
        """Keep a summarised pull request. Raises StoreUnavailable."""
        self._cache.put(
            self.build_key(reference), _SUMMARISED_ADAPTER.dump_json(read).decode(), SUMMARY_ENTRY.lifetime
        )

    def build_key(self, reference: Reference) -> str:
        """Build the key of a pull request."""
        made_with = f"{self._version} {self._classes_of(reference.repository).fingerprint}"
        version = hashlib.sha256(made_with.encode()).hexdigest()[:12]
        return SUMMARY_ENTRY.build_key(version, reference)
