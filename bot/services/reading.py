"""Reads one pull request: its files, its summary, and what the rules say of it."""

from __future__ import annotations

import logging
from collections.abc import Callable

from bot.domain.areas import area_of
from bot.domain.digest import Entry
from bot.domain.errors import GitHubRefused, GitHubUnavailable, PullRequestNotFound, RateLimited
from bot.domain.paths import ClassesOf, default_classes
from bot.domain.pulls import PullRequest
from bot.domain.risk import assess
from bot.ports import PullRequests
from bot.services.summarise import Summarised

log = logging.getLogger(__name__)


class Reader:
    """Makes entries of pull requests."""

    def __init__(
        self,
        pulls: PullRequests,
        summarise: Callable[[PullRequest], Summarised],
        classes_of: ClassesOf = default_classes,
    ) -> None:
        self._pulls = pulls
        self._summarise = summarise
        self._classes_of = classes_of

    def read(self, pull: PullRequest) -> Entry:
        """A pull request with its files, its summary and what the rules say of it."""
        loaded = self.with_files(pull)
        done = self._summarise(loaded)
        classes = self._classes_of(loaded.repository)
        return Entry(
            pull=loaded,
            summary=done.summary,
            risk=assess(loaded, classes),
            area=area_of(loaded, classes),
            from_cache=done.from_cache,
            cost=done.cost,
        )

    def with_files(self, pull: PullRequest) -> PullRequest:
        """The pull request with its files; without them where they can't be had."""
        if pull.files is not None:
            return pull
        try:
            return self._pulls.with_files(pull)
        except (GitHubRefused, GitHubUnavailable, PullRequestNotFound, RateLimited) as error:
            log.info("no files of %s#%d: %s", pull.repository, pull.number, error)
            return pull
