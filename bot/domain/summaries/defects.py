"""Pull requests that can't be processed: each is shown by its facts, and the others as usual."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

from bot.domain.errors import PrdigestError
from bot.domain.pull_requests.areas import OTHER_AREA
from bot.domain.pull_requests.models import PullRequest
from bot.domain.summaries.diff_packing import Coverage
from bot.domain.summaries.models import Fallback, FallbackReason, SummarisedPullRequest, build_fallback_summary
from bot.domain.text.strings import collapse_lines, truncate_text

log = logging.getLogger(__name__)


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
