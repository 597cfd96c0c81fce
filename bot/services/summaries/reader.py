"""Reader of single pull requests: their files and their summaries.

Each is read by itself: one that can't be processed is shown by its facts, and the others as usual.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

from bot.domain.errors import (
    GitHubAccessDenied,
    GitHubUnavailable,
    PrdigestError,
    PullRequestNotFound,
    RateLimited,
)
from bot.domain.pull_requests.areas import OTHER_AREA, determine_area
from bot.domain.pull_requests.models import PullRequest
from bot.domain.pull_requests.path_classes import PathClassesLookup, get_default_classes
from bot.domain.summaries.diff_packing import Coverage
from bot.domain.summaries.fallback import Fallback, FallbackReason
from bot.domain.summaries.models import SummarisedPullRequest, build_fallback_summary
from bot.domain.text.strings import collapse_lines, truncate_text
from bot.ports import PullRequests
from bot.services.summaries.summarizer import SummaryResult

log = logging.getLogger(__name__)


class PullRequestReader:
    """Reader of pull requests. It rates none: the rules need the merges around a pull request."""

    def __init__(
        self,
        pulls: PullRequests,
        summarise: Callable[[PullRequest], SummaryResult],
        classes_of: PathClassesLookup = get_default_classes,
    ) -> None:
        self._pulls = pulls
        self._summarise = summarise
        self._classes_of = classes_of

    def read_pull_request(self, pull: PullRequest) -> SummarisedPullRequest:
        """Return a pull request with its files and its summary, or with its facts if that meets a defect."""
        return read_isolated(pull, self._read_whole)

    def _read_whole(self, pull: PullRequest) -> SummarisedPullRequest:
        loaded = self.load_files(pull)
        result = self._summarise(loaded)
        area = determine_area(loaded, self._classes_of(loaded.repository))
        return SummarisedPullRequest(loaded, result.summary, area, result.from_cache, result.cost)

    def load_files(self, pull: PullRequest) -> PullRequest:
        """Return the pull request with its files, or without them if they are unavailable."""
        if pull.files is not None:
            return pull
        try:
            return self._pulls.load_files(pull)
        except (GitHubAccessDenied, GitHubUnavailable, PullRequestNotFound, RateLimited) as error:
            log.info("no files of %s#%d: %s", pull.repository, pull.number, error)
            return pull


def read_isolated(
    pull: PullRequest, read: Callable[[PullRequest], SummarisedPullRequest]
) -> SummarisedPullRequest:
    """Read a pull request. If ``read`` meets a defect, log it and return the facts.

    Raises:
        PrdigestError: what ``read`` raises; another attempt, or a person, may help.
    """
    try:
        return read(pull)
    except PrdigestError:
        raise
    except Exception as error:
        log_defect(pull, error)
        bare = replace(pull, files=None)
        # no classes are needed without files
        summary = build_fallback_summary(bare, Fallback(FallbackReason.UNREADABLE), Coverage.NONE)
        return SummarisedPullRequest(bare, summary, OTHER_AREA)


def log_defect(pull: PullRequest, error: Exception) -> None:
    """Log one line about a pull request that can't be processed; the traceback is logged for debugging."""
    description = truncate_text(collapse_lines(f"{type(error).__name__}: {error}"), 200)
    log.warning("%s#%d could not be read (%s)", pull.repository, pull.number, description)
    log.debug("where #%d could not be read", pull.number, exc_info=error)
