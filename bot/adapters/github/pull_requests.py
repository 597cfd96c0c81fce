"""Pull requests from GitHub: GraphQL for the facts of a day, one REST call per pull request for patches.

A recent day of N pull requests takes N calls for files (one more for each further hundred files of one of
them) and at most three for the list and its count.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from bot.adapters.github.client import GitHubClient
from bot.adapters.github.day_lists import DayOfMerges, Found
from bot.adapters.github.errors import translate_github_errors
from bot.adapters.github.queries import ONE, pull_of
from bot.adapters.records.cleaning import files_of, node_of
from bot.domain.digest.models import CountCheck
from bot.domain.errors import PullRequestNotFound
from bot.domain.pull_requests.models import PullRequest, Repository, newest_first
from bot.domain.time.day import LocalDay
from bot.ports import Merged

log = logging.getLogger(__name__)

# merged pull requests are walked from the last update; for a day longer ago than this a search is shorter
RECENT = timedelta(days=3)
_MOST_REPAIRS = 20


class GitHubPullRequests:
    """``PullRequests`` over PyGithub."""

    def __init__(self, client: GitHubClient, now: Callable[[], datetime]) -> None:
        self._client = client
        self._now = now

    def merged_on(self, repository: Repository, day: LocalDay) -> Merged:
        """All pull requests merged in the day, and how many the default branch knows of."""
        with translate_github_errors(repository):
            found = self._found(repository, day)
        listed = {pull.number: pull for pull in found.pulls}
        listed |= self._named_by_branch_only(repository, day, found, set(listed))
        pulls = (replace(pull, web=self._client.web) for pull in listed.values())
        return Merged(newest_first(tuple(pulls)), _count(found, listed))

    def pull(self, repository: Repository, number: int) -> PullRequest:
        """One pull request, without files."""
        with translate_github_errors(repository, number):
            data = self._client.graphql(ONE, repository, {"number": number})
            node = node_of(node_of(data["repository"]).get("pullRequest"))
        if not node:
            raise PullRequestNotFound(f"{repository} has no pull request #{number}.")
        return replace(pull_of(repository, node, number), web=self._client.web)

    def with_files(self, pull: PullRequest) -> PullRequest:
        """The pull request with its files. One without changed files costs no call."""
        if not pull.changed_files:
            return replace(pull, files=())
        with translate_github_errors(pull.repository, pull.number):
            # one by one: all that was sent would be many times what is kept of it
            files = tuple(files_of(self._client.files(pull.repository, pull.number)))
        return replace(pull, files=files)

    def _found(self, repository: Repository, day: LocalDay) -> Found:
        merges = DayOfMerges(self._client.graphql, repository, day)
        is_recent = day.end > self._now() - RECENT
        return merges.by_walk() if is_recent else merges.by_search()

    def _named_by_branch_only(
        self, repository: Repository, day: LocalDay, found: Found, listed: set[int]
    ) -> dict[int, PullRequest]:
        """What a walk lost to an update between two pages, or a search to a late index, one by one."""
        missing = sorted((found.branch.numbers or frozenset()) - listed)[:_MOST_REPAIRS]
        pulls = [pull for number in missing if (pull := self._named(repository, number))]
        return {pull.number: pull for pull in pulls if pull.merged_at and pull.merged_at in day}

    def _named(self, repository: Repository, number: int) -> PullRequest | None:
        """None for one that is not there: the count of the day says then that something is missing."""
        try:
            return self.pull(repository, number)
        except PullRequestNotFound as error:
            log.warning("a commit names what is not there: %s", error)
            return None


def _count(found: Found, listed: Mapping[int, PullRequest]) -> CountCheck:
    """Merges into other branches can't be seen from the default one, so they count as they were found."""
    branch = found.branch
    if branch.numbers is None:
        return CountCheck(None, "the default branch", found.unread)
    elsewhere = {number for number, pull in listed.items() if pull.base != branch.name}
    return CountCheck(len(branch.numbers | elsewhere), f"the commits of {branch.name}", found.unread)
