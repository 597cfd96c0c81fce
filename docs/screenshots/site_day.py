"""A made-up day for the picture of the site."""

from __future__ import annotations

import datetime as dt
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bot.adapters.files.site_folder import open_site_folder
from bot.domain.archive.models import (
    ArchivedChange,
    ArchivedDay,
    ArchivedMerge,
    ArchivedOutcome,
    ArchiveHeading,
)
from bot.services.archive.site_writer import MARKER, write_site

_DATE = dt.date(2026, 2, 28)
_END = datetime(2026, 3, 1, tzinfo=UTC)
_WEB = "https://github.com/octo/engine"
_HEADING = ArchiveHeading("Engine", "octo/engine", "UTC", "https://github.com")
_CHANGES = (
    ArchivedChange(
        "flag",
        "renamed",
        "--retry-limit",
        "--max-retries",
        before="--retry-limit (default 3)",
        after="--max-retries (default 5)",
        url=f"{_WEB}/pull/412/files",
    ),
    ArchivedChange(
        "function",
        "signature",
        "engine.queue.put",
        before="def put(job, limit=3)",
        after="def put(job, *, retries: int)",
        url=f"{_WEB}/pull/412/files",
    ),
)
_WHAT = "What changed and why"
_IDLE = "A connection that nobody uses is closed after a minute, so that a proxy doesn't close it first."
_BATCHES = "The queue is read a hundred jobs at a time, which takes a tenth of the calls."
_SECTIONS = (
    (
        _WHAT,
        "A job that fails is tried **five** times, and no longer three. `queue.put` now counts them in one place.",
    ),
    ("Technical impact", "Jobs that never succeed stay in the queue for about two minutes longer."),
    ("Potential risks", "Callers that pass the limit by position fail with a `TypeError`."),
)


def write_sample_site(folder: Path) -> Path:
    """Write a site with that day into an empty folder, and return its page."""
    merges = (
        _make_merge(412, "Count retries in one place", _SECTIONS, _CHANGES, (_revert(418),)),
        _make_merge(409, "Close idle connections after a minute", ((_WHAT, _IDLE),)),
        _make_merge(405, "Read the queue in batches", ((_WHAT, _BATCHES),)),
    )
    with open_site_folder(folder, MARKER) as opened:
        write_site(opened, _HEADING, [ArchivedDay(_DATE, _END, merges)], [])
    return folder / "days" / f"{_DATE}.html"


def _make_merge(
    number: int,
    title: str,
    sections: tuple[tuple[str, str], ...],
    changes: tuple[ArchivedChange, ...] = (),
    outcomes: tuple[ArchivedOutcome, ...] = (),
) -> ArchivedMerge:
    return ArchivedMerge(
        number,
        title,
        f"{_WEB}/pull/{number}",
        "ada-dev",
        _END - timedelta(minutes=500 - number),
        f"{number:040x}",
        "Engine and scheduling",
        headline=title,
        type="SUBSTANTIAL",
        sections=sections,
        files=("engine/queue.py", "tests/test_queue.py"),
        file_count=2,
        changes=changes,
        outcomes=outcomes,
    )


def _revert(by: int) -> ArchivedOutcome:
    return ArchivedOutcome("reverted", by, _END + timedelta(days=1))
