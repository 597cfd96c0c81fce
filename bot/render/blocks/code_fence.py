"""External lines as a block of code in Markdown, which nothing in them can end."""

from __future__ import annotations

import re

from bot.domain.text.redaction import redact_patch
from bot.domain.text.strings import remove_invisible

_RUNS = re.compile("`+")
# what Python, or some other reader, treats as the end of a line
_BREAKS = re.compile("\r\n?|[\v\f\x1c-\x1e\x85\u2028\u2029]")
_SHORTEST = 3


def write_fence(content: str, language: str) -> str:
    """Write lines between fences that are longer than any run of backticks in them."""
    shown = redact_patch(remove_invisible(_BREAKS.sub(" ", content).replace("\t", "    ")))
    longest = max((len(run) for run in _RUNS.findall(shown)), default=0)
    fence = "`" * max(_SHORTEST, longest + 1)
    return f"{fence}{language}\n{shown}\n{fence}"
