"""Quotes of what people wrote about a pull request."""

from __future__ import annotations

import re

from bot.domain.pull_requests.discussion import Remark
from bot.domain.summaries.models import is_evidence

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
