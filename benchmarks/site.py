"""How long a site takes to write: a whole year, and a day more of it."""

from __future__ import annotations

import datetime as dt
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.table import Table
from bot.adapters.files.site_folder import open_site_folder
from bot.domain.archive.models import ArchivedChange, ArchivedDay, ArchivedMerge, ArchiveHeading
from bot.services.archive.site_writer import MARKER, write_site

DAYS = 365
MERGES = 31
# seconds of one processor: a scheduled job of a code host may take minutes, and a year is written once
MAX_YEAR = 120.0
# of the time of the year: a day is 1/365 of it; the rest is reading the data of all days, and listing them, again
MAX_DAY_SHARE = 0.25
# data, the page, that of the day before, its month of the search, index, two feeds, and the state
MAX_FILES = 8
_HEADING = ArchiveHeading("Engine", "octo/engine", "UTC", "https://github.com")
_FIRST = dt.date(2025, 1, 1)
# as long as those of the real days of the data pack: 380 characters in the median
_TEXT = "The **scheduler** counts each request once, in `engine/core.py`, since two callers counted it twice. " * 4


def time_site(table: Table) -> None:
    """Time a site of a year with 31 merges a day, one more day, and a run that changes nothing."""
    days = [_make_day(place) for place in range(DAYS + 1)]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        year, _ = _time_writing(root, days[:DAYS])
        # what a run a day reads again: the last 90 days
        day, written = _time_writing(root, days[-90:])
        same, nothing = _time_writing(root, days[-90:])
        size = sum(path.stat().st_size for path in root.rglob("*") if path.is_file()) / 1_000_000
    print(f"a site of {DAYS} days with {MERGES} merges each, {size:.0f} MB")
    table.print_row("a year is written", year, MAX_YEAR, "s")
    table.print_row("a day more, beside the year", day / year, MAX_DAY_SHARE, "times")
    table.print_row("files written for a day more", written, MAX_FILES, "files")
    table.print_row("the same again, beside the year", same / year, MAX_DAY_SHARE, "times")
    table.print_row("files written for the same again", nothing, 0, "files")


def _time_writing(root: Path, days: Sequence[ArchivedDay]) -> tuple[float, int]:
    """Return the seconds that it takes to write days, and how many files are written."""
    begin = time.process_time()
    with open_site_folder(root, MARKER) as folder:
        written = write_site(folder, _HEADING, days, []).written
    return time.process_time() - begin, len(written)


def _make_day(place: int) -> ArchivedDay:
    date = _FIRST + timedelta(days=place)
    end = datetime.combine(date, dt.time(), UTC) + timedelta(days=1)
    numbers = range(place * MERGES + MERGES, place * MERGES, -1)
    return ArchivedDay(date, end, tuple(_make_merge(number, end) for number in numbers))


def _make_merge(number: int, end: datetime) -> ArchivedMerge:
    url = f"https://github.com/octo/engine/pull/{number}"
    return ArchivedMerge(
        number,
        f"Count the requests of scheduler {number} once",
        url,
        "ada-dev",
        end - timedelta(minutes=MERGES - (number - 1) % MERGES),
        f"{number:040x}",
        f"Area {number % 7}",
        headline=f"Requests of {number} are counted once",
        type="SUBSTANTIAL",
        sections=tuple((name, _TEXT) for name in ("What changed and why", "Technical impact", "Potential risks")),
        files=tuple(f"engine/part_{part}.py" for part in range(5)),
        file_count=5,
        changes=tuple(
            ArchivedChange(
                "function", "signature", f"engine.f{n}", before="def f(a)", after="def f(a, b)", url=url
            )
            for n in range(number % 3)
        ),
    )
