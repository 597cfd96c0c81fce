"""Pull requests from GitHub: GraphQL for the facts of a day, one REST call per pull request for patches.

A recent day of N pull requests takes N calls for files (one more for each further hundred files of one of them)
and at most three for the list and its count.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from bot.adapters.github.client import GitHubClient
from bot.adapters.github.day_lists import MergeFinder, MergeSearchResult
from bot.adapters.github.errors import translate_github_errors
from bot.adapters.github.queries import SINGLE_QUERY, parse_pull_request
from bot.adapters.records.cleaning import parse_files, parse_node
from bot.domain.digest.models import CountCheck
from bot.domain.errors import PullRequestNotFound
from bot.domain.pull_requests.models import PullRequest, Repository, sort_newest_first
from bot.domain.pull_requests.reference import Reference
from bot.domain.time.day import LocalDay
from bot.ports import DayMerges

log = logging.getLogger(__name__)

# recent merges are listed by their last update; for a day before that, a search takes fewer calls
RECENT_AGE = timedelta(days=3)
_MAX_EXTRA_FETCHES = 20


class GitHubPullRequests:
    """``PullRequests`` with PyGithub."""

    def __init__(self, client: GitHubClient, now: Callable[[], datetime]) -> None:
        self._client = client
        self._now = now

    def list_merged(self, repository: Repository, day: LocalDay) -> DayMerges:
        """List all pull requests merged in the day, with an independent count from the default branch."""
        with translate_github_errors(repository):
            result = self._find_merges(repository, day)
        listed = {pull.number: pull for pull in result.pulls}
        listed |= self._fetch_unlisted(repository, day, result, set(listed))
        pulls = (replace(pull, web=self._client.web) for pull in listed.values())
        return DayMerges(sort_newest_first(tuple(pulls)), _build_count_check(result, listed))

    def fetch_pull_request(self, repository: Repository, number: int) -> PullRequest:
        """Fetch one pull request, without files."""
        with translate_github_errors(repository, number):
            data = self._client.run_query(SINGLE_QUERY, repository, {"number": number})
            node = parse_node(parse_node(data["repository"]).get("pullRequest"))
        if not node:
            raise Reference(repository, number).build_missing_error()
        return replace(parse_pull_request(repository, node, number), web=self._client.web)

    def load_files(self, pull: PullRequest) -> PullRequest:
        """Return the pull request with its files. One without changed files costs no call."""
        if not pull.changed_files:
            return replace(pull, files=())
        with translate_github_errors(pull.repository, pull.number):
            # one by one: the whole answer would be many times larger than the part that is kept
            files = tuple(parse_files(self._client.list_files(pull.repository, pull.number)))
        return replace(pull, files=files)

    def _find_merges(self, repository: Repository, day: LocalDay) -> MergeSearchResult:
        """List the day's merges by update for a recent day, by search for an older one."""
        merges = MergeFinder(self._client.run_query, repository, day)
        is_recent = day.end > self._now() - RECENT_AGE
        return merges.list_by_update() if is_recent else merges.list_by_search()

    def _fetch_unlisted(
        self, repository: Repository, day: LocalDay, result: MergeSearchResult, listed: set[int]
    ) -> dict[int, PullRequest]:
        """Fetch, one by one, the merges that the branch's commits name and the list lacks, at most 20.

        A walk loses a pull request that is updated between two pages, and a search one that its index lacks yet.
        """
        missing = sorted((result.branch.numbers or frozenset()) - listed)[:_MAX_EXTRA_FETCHES]
        pulls = [pull for number in missing if (pull := self._fetch_if_present(repository, number))]
        return {pull.number: pull for pull in pulls if pull.merged_at and pull.merged_at in day}

    def _fetch_if_present(self, repository: Repository, number: int) -> PullRequest | None:
        """Fetch one pull request, or return None if it does not exist.

        In that case the count of the day shows that something is missing.
        """
        try:
            return self.fetch_pull_request(repository, number)
        except PullRequestNotFound as error:
            log.warning("a commit names what is not there: %s", error)
            return None


def _build_count_check(result: MergeSearchResult, listed: Mapping[int, PullRequest]) -> CountCheck:
    """Return the count to compare with the list. Merges into other branches count as they were listed.

    The commits of the default branch do not show those.
    """
    branch = result.branch
    if branch.numbers is None:
        return CountCheck(None, "the default branch", result.unreadable)
    elsewhere = {number for number, pull in listed.items() if pull.base != branch.name}
    return CountCheck(len(branch.numbers | elsewhere), f"the commits of {branch.name}", result.unreadable)
