"""Quotes of an answer: found in what the model has read, or dropped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from bot.features.merges.summary import Evidence, Quote, is_evidence, locate_quotes
from bot.platform.pulls.diff import find_quote
from bot.platform.pulls.discussion import Remark
from bot.platform.pulls.models import PullRequest
from bot.platform.source.excerpts import SourceExcerpt
from impact.source.models import DiffSide


@dataclass(frozen=True, slots=True)
class Citation:
    """A quoted line of a file in a pull request, as the model gives it; not verified.

    ``line`` and ``is_removed`` say which one is meant if the quote stands there more than once; 0: any line.
    """

    pull: str
    path: str
    quote: str
    line: int = 0
    is_removed: bool = False


def verify_citation(
    citation: Citation, pull: PullRequest, excerpts: Iterable[SourceExcerpt] = ()
) -> Evidence | None:
    """Return the quote with its position in the file that the citation names, or None if it proves nothing.

    Unlike in summaries, the quote may be of unchanged lines; the evidence says so. ``excerpts`` are the lines that
    were read of files at the pull request's commit.
    """
    side = DiffSide.OLD if citation.is_removed else DiffSide.NEW
    quote = Quote(citation.path.strip(), citation.quote, citation.line, side)
    in_diff = next(locate_quotes([quote], pull), None)
    if in_diff and in_diff.is_change and citation.line in (0, in_diff.line):
        return in_diff
    # the numbers of a diff are those of the pull request's own branch: the file at the commit has the right ones
    read = list(_locate_in_excerpts(quote, excerpts))
    return min(read, key=lambda evidence: evidence.line != citation.line, default=in_diff)


def _locate_in_excerpts(quote: Quote, excerpts: Iterable[SourceExcerpt]) -> Iterator[Evidence]:
    if not is_evidence(quote.quote):
        return
    for excerpt in excerpts:
        place = find_quote(excerpt.patch, quote.quote, quote.line) if excerpt.path == quote.path else None
        if place and place.side is DiffSide.NEW:
            evidence = Evidence(quote.path, quote.quote.strip(), place.side, place.line, place.is_change)
            yield evidence if excerpt.has_marks else replace(evidence, is_change=True)


_MIN_QUOTE_LENGTH = 8
_INSIDE_WORD = re.compile(r"\w\w")


def has_quote(remark: Remark, quote: str) -> bool:
    """Return whether somebody wrote a quote: whole words of one line that does not quote somebody else."""
    needle = " ".join(quote.split())
    if len(needle) < _MIN_QUOTE_LENGTH or not is_evidence(needle):
        return False
    own = (line for line in (remark.title, *remark.text.split("\n")) if not line.lstrip().startswith(">"))
    return any(_has_words(" ".join(line.split()), needle) for line in own)


def _has_words(line: str, needle: str) -> bool:
    """Return whether a line has a text that begins and ends with whole words."""
    start = line.find(needle)
    while start >= 0:
        end = start + len(needle)
        before, after = line[start - 1 : start + 1], line[end - 1 : end + 1]
        if not (start and _INSIDE_WORD.fullmatch(before)) and not _INSIDE_WORD.fullmatch(after):
            return True
        start = line.find(needle, start + 1)
    return False
