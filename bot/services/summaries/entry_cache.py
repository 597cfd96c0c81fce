"""Cache of summarised pull requests: what was read once is shown again without GitHub or a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from bot.domain.digest.models import Entry
from bot.domain.errors import UsageError
from bot.domain.pull_requests.models import PullRequest
from bot.domain.pull_requests.path_classes import PathClassesLookup, get_default_classes
from bot.domain.pull_requests.reference import Reference
from bot.domain.review.models import BugReview
from bot.domain.risk.assessment import Risk
from bot.domain.summaries.models import SummarisedPullRequest
from bot.platform.costs import Expense, get_account
from bot.ports import Cache, PullRequests
from bot.services.summaries.reader import PullRequestReader
from bot.services.summaries.summary_cache import SummaryCache

# returns the review of a pull request if one exists
ReviewLookup = Callable[[PullRequest], BugReview | None]


class EntryCache:
    """Source of entries of single pull requests, with a cache of all but their ratings.

    ``version`` names all that a summary depends on besides its pull request and the classes of its paths.
    ``rate`` rates a pull request each time that it is shown, since its history changes. ``get_review`` returns its
    review if one exists.
    """

    def __init__(
        self,
        pulls: PullRequests,
        reader: PullRequestReader,
        cache: Cache,
        version: str,
        rate: Callable[[PullRequest], Risk],
        classes_of: PathClassesLookup = get_default_classes,
        get_review: ReviewLookup = lambda pull: None,
    ) -> None:
        self._pulls = pulls
        self._reader = reader
        self._cache = cache
        self._rate = rate
        self._summaries = SummaryCache(cache, version, classes_of)
        self._get_review = get_review

    def refresh_summary(self, pull: PullRequest) -> SummarisedPullRequest:
        """Read a pull request again, whatever is cached of it; a summary that exists is not made again."""
        read = self._reader.read_pull_request(pull)
        # an open pull request will change, and a model that was away may be back
        if pull.is_merged and not read.summary.is_fallback:
            self._summaries.put(Reference(pull.repository, pull.number), _remove_patches(read))
        return read

    def refresh_and_rate(self, pull: PullRequest) -> Entry:
        """Read a pull request again, as :meth:`refresh_summary` does, and rate it."""
        return self._rate_summarised(self.refresh_summary(pull))

    def rate_pull_request(self, pull: PullRequest) -> Risk:
        """Rate a pull request whose files are loaded, with the history as it is now.

        All ratings that are shown outside of a digest or a list come from here, so that they do not depend on
        what is cached.
        """
        return self._rate(pull)

    def get_review(self, pull: PullRequest) -> BugReview | None:
        """Return the review of a pull request if it is merged and has one; none is made here."""
        return self._get_review(pull) if pull.is_merged else None

    def get_entry(self, reference: Reference) -> Entry:
        """Return the pull request of a reference, without patches: from the cache if it is there.

        Raises:
            UsageError: it was closed without being merged.
            PrdigestError: what :class:`bot.ports.PullRequests` raises.
        """
        return self.get_cached(reference) or self._refresh_under_lease(
            self._fetch_pull_request(reference), reference
        )

    def get_cached(self, reference: Reference) -> Entry | None:
        """Return what is cached of a pull request, rated, or None; without patches."""
        read = self.get_cached_summary(reference)
        return self._rate_summarised(read) if read else None

    def get_cached_summary(self, reference: Reference) -> SummarisedPullRequest | None:
        """Return what is cached of a pull request, or None; without patches."""
        read = self._summaries.get(reference)
        if read is None:
            return None
        get_account().add_expense(Expense(cache_hits=1))
        return replace(read, from_cache=True, cost=0.0)

    def _rate_summarised(self, read: SummarisedPullRequest) -> Entry:
        review = self.get_review(read.pull)
        return Entry.from_summarised(read, self.rate_pull_request(read.pull), review)

    def _refresh_under_lease(self, pull: PullRequest, reference: Reference) -> Entry:
        """Read one at a time: the previous holder has most likely read the same, and cached it if it is merged."""
        if not pull.is_merged:
            return self._refresh_without_patches(pull)
        with self._cache.acquire_lease(self._summaries.build_key(reference)):
            return self.get_cached(reference) or self._refresh_without_patches(pull)

    def _refresh_without_patches(self, pull: PullRequest) -> Entry:
        return self._rate_summarised(_remove_patches(self.refresh_summary(pull)))

    def _fetch_pull_request(self, reference: Reference) -> PullRequest:
        pull = self._pulls.fetch_pull_request(reference.repository, reference.number)
        if not pull.is_merged and pull.state == "CLOSED":
            raise UsageError(f"#{pull.number} was closed without being merged: there is nothing to summarize.")
        return pull


def _remove_patches(read: SummarisedPullRequest) -> SummarisedPullRequest:
    """Return a copy without patches: they are cached with the files, and would be by far the largest part."""
    return replace(read, pull=read.pull.remove_patches())
