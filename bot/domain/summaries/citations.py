"""Citations in answers: quotes as evidence for statements about code.

A quote that is not in the diff is never shown as evidence.
"""

from __future__ import annotations

from dataclasses import dataclass

from bot.domain.pull_requests.models import PullRequest
from bot.domain.summaries.models import Evidence, Quote, locate_quotes


@dataclass(frozen=True, slots=True)
class Citation:
    """A quoted line of a file in a pull request, as the model gives it; not verified."""

    pull: str
    path: str
    quote: str


def verify_citation(citation: Citation, pull: PullRequest) -> Evidence | None:
    """Return the quote with its position in the file that the citation names, or None if it proves nothing.

    Unlike in summaries, the quote may be of unchanged lines; the evidence says so.
    """
    return next(iter(locate_quotes([Quote(citation.path.strip(), citation.quote)], pull)), None)
