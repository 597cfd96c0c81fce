"""Quotes with which an answer proves what it says of code. One that is not in the diff is never shown as proof."""

from __future__ import annotations

from dataclasses import dataclass

from bot.domain.pull_requests.models import PullRequest
from bot.domain.summaries.models import Evidence, Quote, locate


@dataclass(frozen=True, slots=True)
class Citation:
    """A line that a model says it read: of which pull request, in which file; not yet checked."""

    pull: str
    path: str
    quote: str


def proven(citation: Citation, pull: PullRequest) -> Evidence | None:
    """The quote with its place in the file that the citation names, or None where it does not prove anything.

    An answer may also speak of what was not changed; its link says so.
    """
    return next(iter(locate([Quote(citation.path.strip(), citation.quote)], pull)), None)
