"""The merges of a contract feed: all of some days, or those since a commit or a day."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.domain.archive.models import ArchivedDay, ArchivedMerge, ArchiveHeading
from bot.domain.errors import UsageError
from bot.domain.time.day import parse_date
from bot.render.archive.contract_feed import render_contract_feed

# the shortest that git itself prints
_COMMIT_PATTERN = re.compile(r"[0-9a-f]{7,40}")
_MAX_SINCE = 40


def render_contract_changes(days: Sequence[ArchivedDay], heading: ArchiveHeading, since: str = "") -> bytes:
    """Render the feed, of all merges or of those after a commit, or from a day on.

    Raises:
        UsageError: ``since`` is neither a commit of one of the days nor a day.
    """
    merges = [merge for day in days for merge in reversed(day.merges)]
    merges.sort(key=lambda merge: (merge.merged_at, merge.number))
    return render_contract_feed(days, _select_merges(days, merges, since) if since else merges, heading, since)


def _select_merges(
    days: Sequence[ArchivedDay], merges: Sequence[ArchivedMerge], since: str
) -> Sequence[ArchivedMerge]:
    if len(since) <= _MAX_SINCE and _COMMIT_PATTERN.fullmatch(since.lower()):
        places = [place for place, merge in enumerate(merges) if merge.commit.startswith(since.lower())]
        if len(places) != 1:
            raise UsageError(
                "since names no merge of the known days, or several: give the full hash of a merge, or a day."
            )
        return merges[places[0] + 1 :]
    first = parse_date(since)
    known = {merge.number for day in days if day.date >= first for merge in day.merges}
    return [merge for merge in merges if merge.number in known]
