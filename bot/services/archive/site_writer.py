"""Writer of the static site: it plans the files of the days, and writes those that differ."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from bot.domain.archive.models import ArchivedDay, ArchiveHeading, RemovalDeadline
from bot.domain.errors import UsageError
from bot.domain.keyspace.keys import MERGE_CONTRACT
from bot.ports import SiteFolder
from bot.ports.codecs.versioned_json import VersionedJson
from bot.render.archive.atom import render_atom
from bot.render.archive.calendar import render_calendar
from bot.render.archive.pages import get_month, render_day, render_index
from bot.render.archive.resources import ASSETS, compute_rendering_version, read_asset
from bot.render.archive.search_index import render_search_month
from bot.services.archive.contract_selection import render_contract_changes

log = logging.getLogger(__name__)

MARKER = ".prdigest-site.json"
_ATOM = "feed.atom"
# days of contract changes: as long as the store keeps them
SITE_CONTRACT_DAYS = MERGE_CONTRACT.lifetime.days
_DAY_JSON = VersionedJson(ArchivedDay, 1)


@dataclass(frozen=True, slots=True)
class SiteState:
    """What the marker says: whose site it is, and what each page was made of, by its date."""

    repository: str
    zone: str
    pages: Mapping[str, str] = field(default_factory=dict)


_STATE_JSON = VersionedJson(SiteState, 1)


@dataclass(frozen=True, slots=True)
class SiteResult:
    """What a run wrote: how many days the site has, and the paths of the files that were written."""

    days: int
    written: tuple[str, ...]


def write_site(
    folder: SiteFolder,
    heading: ArchiveHeading,
    fresh: Sequence[ArchivedDay],
    deadlines: Sequence[RemovalDeadline],
) -> SiteResult:
    """Write what differs for ``fresh`` days, beside the days that the site has.

    A page is there before anything links to it, and the state is written last. So a run that was killed leaves a
    site that works, and the next one does the rest. What a fresh day lacks, since it expired in the store, stays
    as it was on the site.

    Raises:
        UsageError: the folder is the site of something else, or can't be written.
    """
    return _SiteWriting(folder, heading).write(fresh, deadlines)


class _SiteWriting:
    """One run."""

    def __init__(self, folder: SiteFolder, heading: ArchiveHeading) -> None:
        self._folder = folder
        self._heading = heading
        self._written: list[str] = []

    def write(self, fresh: Sequence[ArchivedDay], deadlines: Sequence[RemovalDeadline]) -> SiteResult:
        """Write all files."""
        state = self._claim()
        days = self._merge_days(fresh)
        for name in ASSETS:
            self._put(f"assets/{name}", read_asset(name))
        pages = self._write_pages(days, state.pages)
        for month, of_month in groupby(days, get_month):
            self._put(f"search/{month}.js", render_search_month(month, of_month).encode())
        self._put("index.html", render_index(days, self._heading).encode())
        self._put(_ATOM, render_atom(days, self._heading, _ATOM))
        self._put("contract.json", render_contract_changes(days[-SITE_CONTRACT_DAYS:], self._heading))
        self._put("deprecations.ics", render_calendar(deadlines, self._heading))
        self._put_state(SiteState(state.repository, state.zone, pages))
        return SiteResult(len(days), tuple(self._written))

    def _claim(self) -> SiteState:
        """Return the state of the site; write the marker of a new one. Raises UsageError."""
        content = self._folder.read_file(MARKER)
        ours = SiteState(self._heading.repository, self._heading.zone)
        if content is None:
            self._put_state(ours)
            return ours
        state = _load_state(content)
        if (state.repository.lower(), state.zone) != (ours.repository.lower(), ours.zone):
            raise UsageError(
                f"The folder is the site of {state.repository} with days in {state.zone}: choose another folder."
            )
        return state

    def _merge_days(self, fresh: Sequence[ArchivedDay]) -> tuple[ArchivedDay, ...]:
        """Return all days, oldest first, and write the data of those that differ."""
        days = self._load_days()
        for day in fresh:
            earlier = days.get(day.date)
            merged = day.keep_earlier_work(earlier) if earlier else day
            days[day.date] = merged
            if merged != earlier:
                self._put(f"data/{day.date}.json", _dump_day(merged))
        return tuple(days[date] for date in sorted(days))

    def _load_days(self) -> dict[dt.date, ArchivedDay]:
        days = {}
        for name in self._folder.list_names("data"):
            stem = name.removesuffix(".json")
            day = self._load_day(f"data/{name}") if _is_date(stem) and stem != name else None
            if day and str(day.date) == stem:
                days[day.date] = day
        return days

    def _load_day(self, path: str) -> ArchivedDay | None:
        content = self._folder.read_file(path)
        try:
            return _DAY_JSON.load(json.loads(content or b""))
        except (ValueError, UsageError, AttributeError):
            log.warning("%s can't be read: its day is left out until it is written again by --since", path)
            return None

    def _write_pages(self, days: Sequence[ArchivedDay], known: Mapping[str, str]) -> dict[str, str]:
        """Write the pages of days whose data or neighbours changed; return what each page is made of.

        New pages come first, as their neighbours link to them.
        """
        pages, changed = {}, []
        for place, day in enumerate(days):
            before = days[place - 1].date if place else None
            after = days[place + 1].date if place + 1 < len(days) else None
            path, name = f"days/{day.date}.html", str(day.date)
            pages[name] = self._compute_page_version(day, before, after)
            is_new = self._folder.read_file(path) is None
            if is_new or known.get(name) != pages[name]:
                changed.append((not is_new, path, day, before, after))
        for _, path, day, before, after in sorted(changed, key=lambda each: each[0]):
            self._put(path, render_day(day, self._heading, before, after).encode())
        return pages

    def _compute_page_version(self, day: ArchivedDay, before: dt.date | None, after: dt.date | None) -> str:
        texts = (compute_rendering_version(), repr(self._heading), str(before), str(after))
        return hashlib.sha256("\0".join(texts).encode() + _dump_day(day)).hexdigest()[:16]

    def _put_state(self, state: SiteState) -> None:
        self._put(MARKER, json.dumps(_STATE_JSON.dump(state), indent=0, sort_keys=True).encode())

    def _put(self, path: str, content: bytes) -> None:
        if self._folder.write_file(path, content):
            self._written.append(path)


def _load_state(content: bytes) -> SiteState:
    """Load the state. Raises UsageError if it is none, or a later version wrote it."""
    try:
        return _STATE_JSON.load(json.loads(content))
    except (ValueError, AttributeError) as error:
        raise UsageError(
            f"{MARKER} can't be read: it is damaged, or a later version wrote it. Choose another folder."
        ) from error


def _dump_day(day: ArchivedDay) -> bytes:
    return json.dumps(_DAY_JSON.dump(day), ensure_ascii=False, separators=(",", ":")).encode()


def _is_date(text: str) -> bool:
    try:
        return dt.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
