"""What became of merges, by what the texts of later ones say."""

from __future__ import annotations

import threading
from collections.abc import Iterable

from bot.platform.pulls.models import PullRequest
from impact.history import outcomes, revert_index
from impact.history.revert_claims import RevertClaim, parse_claim

RevertIndex = revert_index.RevertIndex[PullRequest]
MergeOutcome = outcomes.MergeOutcome[PullRequest]
# texts: two years of a busy repository, in some megabytes
_MAX_TEXTS = 20_000


class ClaimMemory:
    """Claims of pull requests by the texts that they were parsed from. The oldest ones are dropped.

    Another text of the same pull request is parsed, such as its recorded copy, which may be cut.
    """

    def __init__(self, most: int = _MAX_TEXTS) -> None:
        self._most = most
        self._claims: dict[int, RevertClaim] = {}
        self._lock = threading.Lock()

    def get_claim(self, pull: PullRequest) -> RevertClaim:
        """Return the claim of a pull request, which is parsed if its texts are new."""
        # the texts of months would take most of the memory
        repository = pull.repository
        key = hash((pull.web, repository.owner, repository.name, pull.title, pull.body, pull.commit_message))
        with self._lock:
            claim = self._claims.get(key)
            if claim is None:
                claim = self._claims[key] = parse_claim(pull)
                if len(self._claims) > self._most:
                    del self._claims[next(iter(self._claims))]
        return claim

    def index_pulls(self, pulls: Iterable[PullRequest]) -> RevertIndex:
        merges = tuple(pulls)
        return RevertIndex(merges, {pull.number: self.get_claim(pull) for pull in merges})
