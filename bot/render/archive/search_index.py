"""The search index: a file for each month. It is a script, as pages that are opened as files can't fetch JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable

from bot.domain.archive.models import ArchivedDay, ArchivedMerge
from bot.domain.text.strings import collapse_lines, truncate_text

SEARCH_VERSION = 1
# characters of the text beside the title: a month of 31 merges a day takes half a megabyte
_MAX_TEXT = 400


def render_search_month(month: str, days: Iterable[ArchivedDay]) -> str:
    """Render the index of a month, newest first: JSON as the argument of one call."""
    newest = sorted(days, key=lambda day: day.date, reverse=True)
    rows = [_build_row(day, merge) for day in newest for merge in day.merges]
    fields = {"version": SEARCH_VERSION, "month": month, "rows": rows}
    return f"prdigestSearch({json.dumps(fields, separators=(',', ':'))});\n"


def _build_row(day: ArchivedDay, merge: ArchivedMerge) -> list[str | int]:
    """Return the date, the number, the title, the author, the area and the text of a merge."""
    names = " ".join(change.name for change in merge.changes or ())
    summary = merge.sections[0][1] if merge.sections else ""
    text = truncate_text(collapse_lines(f"{merge.headline} {names} {summary}"), _MAX_TEXT)
    return [str(day.date), merge.number, merge.title, merge.author, merge.area, text]
