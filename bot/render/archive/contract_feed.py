"""The feed of contract changes as JSON. ``docs/feeds/contract.schema.json`` has its schema."""

from __future__ import annotations

import json
from collections.abc import Sequence

from bot.domain.archive.models import ArchivedChange, ArchivedDay, ArchivedMerge, ArchiveHeading

CONTRACT_FEED_VERSION = 1


def render_contract_feed(
    days: Sequence[ArchivedDay], merges: Sequence[ArchivedMerge], heading: ArchiveHeading, since: str = ""
) -> bytes:
    """Render the feed: ``merges`` in the order in which they were merged, of the ``days`` that are known.

    ``since`` is what the reader asked for; empty if it asked for all.
    """
    fields = {
        "version": CONTRACT_FEED_VERSION,
        "repository": heading.repository,
        "time_zone": heading.zone,
        "first_day": str(min(day.date for day in days)) if days else None,
        "last_day": str(max(day.date for day in days)) if days else None,
        "since": since or None,
        "merges": [_serialize_merge(merge) for merge in merges],
    }
    return f"{json.dumps(fields, ensure_ascii=False, separators=(',', ':'))}\n".encode()


def _serialize_merge(merge: ArchivedMerge) -> dict[str, object]:
    return {
        "number": merge.number,
        "commit": merge.commit,
        "merged_at": f"{merge.merged_at:%Y-%m-%dT%H:%M:%SZ}",
        "title": merge.title,
        "url": merge.url,
        "is_read": merge.changes is not None,
        "hidden_changes": merge.hidden_changes,
        "unread_files": merge.unread_files,
        "changes": [_serialize_change(change) for change in merge.changes or ()],
        "outcomes": [
            {"kind": outcome.kind, "by": outcome.by, "at": f"{outcome.at:%Y-%m-%dT%H:%M:%SZ}"}
            for outcome in merge.outcomes
        ],
    }


def _serialize_change(change: ArchivedChange) -> dict[str, object]:
    return {
        "class": change.subject,
        "kind": change.kind,
        "name": change.name,
        "new_name": change.new_name,
        "before": change.before,
        "after": change.after,
        "path": change.path,
        "line": change.line,
        "url": change.url,
        "is_importable": change.is_importable,
        "removal": change.removal,
        "replacement": change.replacement,
    }
