"""Interface to pull requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from bot.domain.digest.models import CountCheck
from bot.domain.pull_requests.discussion import Discussion
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.domain.time.day import LocalDay


@dataclass(frozen=True, slots=True)
class DayMerges:
    """The pull requests merged in a day, newest first, without files, and an independent count of them."""

    pulls: tuple[PullRequest, ...]
    count: CountCheck

    @property
    def caveat(self) -> str:
        """What may be missing from the list, as a clause; empty if nothing is."""
        return self.count.describe_caveats(len(self.pulls))


class PullRequests(Protocol):
    """Source of pull requests.

    Every method may raise RepositoryNotFound, GitHubAccessDenied, RateLimited, GitHubUnavailable, or
    ConfigurationError (a setting is wrong).
    """

    def list_merged(self, repository: Repository, day: LocalDay) -> DayMerges:
        """List all pull requests merged in the local day, without files. Raise DayUnavailable."""

    def fetch_pull_request(self, repository: Repository, number: int) -> PullRequest:
        """Fetch one pull request, without files. Raise PullRequestNotFound."""

    def load_files(self, pull: PullRequest) -> PullRequest:
        """Return the same pull request with its files and patches, in GitHub's order."""


class PullRequestBackground(Protocol):
    """Source of what stands around pull requests: what people wrote, and which one a commit came from.

    Both methods may raise what those of :class:`PullRequests` raise.
    """

    def fetch_discussion(self, repository: Repository, number: int) -> Discussion:
        """Fetch what people wrote about a pull request.

        Raises:
            PullRequestNotFound: there is none.
            DiscussionUnavailable: this source has no discussions.
        """

    def find_merges(self, repository: Repository, commits: Sequence[str]) -> Mapping[str, PullRequest]:
        """Return the merged pull request of each commit, without files. One that is unknown is left out.

        ``commits`` are hashes or their beginnings, of at least seven digits.
        """
