"""Reads one pull request: its files, its summary, and what the rules say of it.

Each is worked on by itself: what can't be processed is shown by its facts, and the others as ever.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

from bot.domain.digest.models import Entry
from bot.domain.errors import (
    GitHubAccessDenied,
    GitHubUnavailable,
    PrdigestError,
    PullRequestNotFound,
    RateLimited,
)
from bot.domain.history.file_history import FileHistory
from bot.domain.pull_requests.areas import OTHER_AREA, determine_area
from bot.domain.pull_requests.models import PullRequest
from bot.domain.pull_requests.path_classes import PathClasses, PathClassesLookup, get_default_classes
from bot.domain.risk.assessment import Risk, assess_pull_request
from bot.domain.summaries.diff_packing import Coverage
from bot.domain.summaries.models import UNREADABLE, build_fallback_summary
from bot.domain.text.strings import collapse_lines, truncate_text
from bot.ports import PullRequests
from bot.services.summaries.summarizer import SummaryResult

log = logging.getLogger(__name__)


class EntryBuilder:
    """Makes entries of pull requests."""

    def __init__(
        self,
        pulls: PullRequests,
        summarise: Callable[[PullRequest], SummaryResult],
        classes_of: PathClassesLookup = get_default_classes,
    ) -> None:
        self._pulls = pulls
        self._summarise = summarise
        self._classes_of = classes_of

    def build_entry(self, pull: PullRequest) -> Entry:
        """A pull request with its files, its summary and what the rules say of it, or its facts alone."""
        return build_isolated_entry(pull, self._build_full_entry)

    def _build_full_entry(self, pull: PullRequest) -> Entry:
        loaded = self.load_files(pull)
        done = self._summarise(loaded)
        classes = self._classes_of(loaded.repository)
        return Entry(
            pull=loaded,
            summary=done.summary,
            risk=assess_pull_request(loaded, classes),
            area=determine_area(loaded, classes),
            from_cache=done.from_cache,
            cost=done.cost,
        )

    def load_files(self, pull: PullRequest) -> PullRequest:
        """The pull request with its files; without them where they can't be had."""
        if pull.files is not None:
            return pull
        try:
            return self._pulls.load_files(pull)
        except (GitHubAccessDenied, GitHubUnavailable, PullRequestNotFound, RateLimited) as error:
            log.info("no files of %s#%d: %s", pull.repository, pull.number, error)
            return pull


def build_isolated_entry(pull: PullRequest, read: Callable[[PullRequest], Entry]) -> Entry:
    """The entry that ``read`` makes of a pull request; its facts where that meets a defect, which the log tells.

    Raises:
        PrdigestError: what ``read`` raises; trying again, or a person, may help there.
    """
    try:
        return read(pull)
    except PrdigestError:
        raise
    except Exception as error:
        _log_defect(pull, error)
        bare = replace(pull, files=None)
        # no classes are needed without files
        return Entry(bare, build_fallback_summary(bare, UNREADABLE, Coverage.NONE), Risk(0.0, ()), OTHER_AREA)


def assess_isolated(pull: PullRequest, classes: PathClasses, past: FileHistory | None = None) -> Risk:
    """What the rules say of a pull request; nothing where that meets a defect, which the log tells."""
    try:
        return assess_pull_request(pull, classes, past)
    except Exception as error:
        _log_defect(pull, error)
        return Risk(0.0, (), without_history=True)


def _log_defect(pull: PullRequest, error: Exception) -> None:
    """A line for each; where it came from is for whoever looks for it."""
    said = truncate_text(collapse_lines(f"{type(error).__name__}: {error}"), 200)
    log.warning("%s#%d could not be read (%s)", pull.repository, pull.number, said)
    log.debug("where #%d could not be read", pull.number, exc_info=error)
