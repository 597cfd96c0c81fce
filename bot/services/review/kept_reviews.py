"""Reviews that are kept: each pull request is reviewed once, for all channels and commands."""

from __future__ import annotations

import hashlib
import json

from bot.domain.errors import UsageError
from bot.domain.keyspace.keys import BUG_REVIEW
from bot.domain.pull_requests.models import PullRequest
from bot.domain.pull_requests.path_classes import PathClassesLookup, get_default_classes
from bot.domain.pull_requests.reference import Reference
from bot.domain.review.models import BugReview
from bot.ports import Cache
from bot.ports.codecs.versioned_json import VersionedJson
from bot.services.review.conversation import ReviewCost
from bot.services.review.reviewer import BugReviewer, ReviewResult

_CODEC = VersionedJson(ReviewResult, 1)


class BugReviews:
    """The reviews of pull requests: from the cache, or by ``reviewer``.

    ``version`` names all that a review depends on besides its pull request, its commit and the classes of its
    paths.
    """

    def __init__(
        self,
        reviewer: BugReviewer,
        cache: Cache,
        version: str,
        classes_of: PathClassesLookup = get_default_classes,
    ) -> None:
        self.reviewer = reviewer
        self._cache = cache
        self._version = version
        self._classes_of = classes_of

    def get_cached_review(self, pull: PullRequest) -> BugReview | None:
        """Return the review that is kept of a pull request, or None. Nothing is asked for."""
        kept = self._load_result(self._build_key(pull))
        return kept.review if kept else None

    def review_pull_request(self, pull: PullRequest, cost: ReviewCost) -> ReviewResult:
        """Return the kept review of a merged pull request whose files are loaded, or review it now.

        One process reviews it at a time: the next one takes what the first one kept.

        Raises:
            ModelError, StoreUnavailable: what :meth:`BugReviewer.review_pull_request` raises.
        """
        key = self._build_key(pull)
        with self._cache.acquire_lease(key):
            kept = self._load_result(key)
            if kept:
                return kept
            result = self.reviewer.review_pull_request(pull, cost)
            self._cache.put(key, json.dumps(_CODEC.dump(result)), BUG_REVIEW.lifetime)
        return result

    def _load_result(self, key: str) -> ReviewResult | None:
        """Return a kept review; None if there is none, or if another version kept it in another shape."""
        text = self._cache.get(key)
        try:
            return None if text is None else _CODEC.load(json.loads(text))
        except (ValueError, UsageError, AttributeError):
            return None

    def _build_key(self, pull: PullRequest) -> str:
        made_with = f"{self._version} {self._classes_of(pull.repository).fingerprint}"
        version = hashlib.sha256(made_with.encode()).hexdigest()[:12]
        return BUG_REVIEW.build_key(version, Reference(pull.repository, pull.number), pull.commit)
