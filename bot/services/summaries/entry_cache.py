"""Entries of pull requests, kept: what was read once is answered from the store, without GitHub or a model."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace

from pydantic import TypeAdapter

from bot.domain.digest.models import Entry
from bot.domain.errors import UsageError
from bot.domain.keyspace.keys import SUMMARY_ENTRY
from bot.domain.pull_requests.models import PullRequest
from bot.domain.pull_requests.path_classes import PathClassesLookup, get_default_classes
from bot.domain.pull_requests.reference import Reference
from bot.domain.risk.assessment import Risk, assess_pull_request
from bot.ports import Cache, PullRequests
from bot.ports.cached_json import load_or_none
from bot.services.summaries.reader import EntryBuilder

_ENTRY_ADAPTER = TypeAdapter(Entry)


class EntryCache:
    """Makes and keeps entries.

    ``version`` names all that an entry depends on besides its pull request and the classes of its paths. The
    rating in a kept entry is not used: ``rate`` makes it each time that the entry is shown.
    """

    def __init__(
        self,
        pulls: PullRequests,
        reader: EntryBuilder,
        cache: Cache,
        version: str,
        rate: Callable[[PullRequest], Risk] = assess_pull_request,
        classes_of: PathClassesLookup = get_default_classes,
    ) -> None:
        self._pulls = pulls
        self._reader = reader
        self._cache = cache
        self._rate = rate
        self._version = version
        self._classes_of = classes_of

    def refresh_entry(self, pull: PullRequest) -> Entry:
        """Read a pull request anew, whatever the store holds of it; a summary that exists is not made again."""
        entry = self._reader.build_entry(pull)
        # an open pull request will change, and a model that was away may be back
        if pull.is_merged and not entry.summary.is_fallback:
            key = self._build_key(Reference(pull.repository, pull.number))
            self._cache.put(key, _ENTRY_ADAPTER.dump_json(_remove_patches(entry)).decode(), SUMMARY_ENTRY.lifetime)
        return entry

    def refresh_and_rate(self, pull: PullRequest) -> Entry:
        """Read a pull request anew, as ``read`` does, and rate it with what is known of the past by now."""
        entry = self.refresh_entry(pull)
        return replace(entry, risk=self.rate_pull_request(entry.pull))

    def rate_pull_request(self, pull: PullRequest) -> Risk:
        """Rate a pull request whose files are loaded, with what is known of the past by now.

        Whoever shows a rating outside a digest or a list gets it from here, so that it does not depend on what is
        in the store.
        """
        return self._rate(pull)

    def get_entry(self, reference: Reference) -> Entry:
        """The pull request that someone named, without patches: from the store if it is there.

        Raises:
            UsageError: it was closed without being merged.
            PrdigestError: what :class:`bot.ports.PullRequests` raises.
        """
        return self.get_cached(reference) or self._refresh_under_lease(
            self._fetch_pull_request(reference), reference
        )

    def get_cached(self, reference: Reference) -> Entry | None:
        """The entry in the store, if there is one, without patches."""
        found = load_or_none(_ENTRY_ADAPTER, self._cache.get(self._build_key(reference)))
        if found is None:
            return None
        return replace(found, from_cache=True, cost=0.0, risk=self.rate_pull_request(found.pull))

    def _refresh_under_lease(self, pull: PullRequest, reference: Reference) -> Entry:
        """One at a time: whoever was before has most likely read the same, and kept it if it is merged."""
        if not pull.is_merged:
            return _remove_patches(self.refresh_and_rate(pull))
        with self._cache.acquire_lease(self._build_key(reference)):
            return self.get_cached(reference) or _remove_patches(self.refresh_and_rate(pull))

    def _fetch_pull_request(self, reference: Reference) -> PullRequest:
        pull = self._pulls.fetch_pull_request(reference.repository, reference.number)
        if not pull.is_merged and pull.state == "CLOSED":
            raise UsageError(f"#{pull.number} was closed without being merged: there is nothing to summarise.")
        return pull

    def _build_key(self, reference: Reference) -> str:
        made_with = f"{self._version} {self._classes_of(reference.repository).fingerprint}"
        version = hashlib.sha256(made_with.encode()).hexdigest()[:12]
        return SUMMARY_ENTRY.build_key(version, reference)


def _remove_patches(entry: Entry) -> Entry:
    """Patches are kept with the files, and would be by far the largest part."""
    return replace(entry, pull=entry.pull.remove_patches())
