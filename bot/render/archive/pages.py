"""The pages of the archive: one for each day, and the index by month."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from bot.domain.archive.models import ArchivedDay, ArchivedMerge, ArchiveHeading
from bot.domain.pull_requests.areas import build_area_sort_key
from bot.render.archive.resources import get_environment


@dataclass(frozen=True, slots=True)
class _Area:
    """The merges of an area."""

    name: str
    merges: tuple[ArchivedMerge, ...]


@dataclass(frozen=True, slots=True)
class _Month:
    """The days of a month, newest first. ``name`` is as in ``2026-02``, ``title`` as in ``February 2026``."""

    name: str
    title: str
    days: tuple[ArchivedDay, ...]


def render_day(
    day: ArchivedDay, heading: ArchiveHeading, before: dt.date | None = None, after: dt.date | None = None
) -> str:
    """Render the page of a day, with links to the days ``before`` and ``after`` it."""
    return _render("day.html", heading, root="../", day=day, areas=_group_areas(day), before=before, after=after)


def render_index(days: Sequence[ArchivedDay], heading: ArchiveHeading) -> str:
    """Render the index: all days by month, newest first."""
    newest = sorted(days, key=lambda day: day.date, reverse=True)
    months = [
        _Month(name, f"{group[0].date:%B %Y}", tuple(group))
        for name, group in ((name, list(of_month)) for name, of_month in groupby(newest, get_month))
    ]
    merged = sum(len(day.merges) for day in days)
    return _render("index.html", heading, root="", months=months, merged=merged)


def render_entry(day: ArchivedDay) -> str:
    """Render a day as the content of a feed's entry: what was merged, in a line each."""
    return get_environment().get_template("entry.html").render(day=day, areas=_group_areas(day))


def get_month(day: ArchivedDay) -> str:
    """Return the month of a day, as in ``2026-02``."""
    return f"{day.date:%Y-%m}"


def _render(template: str, heading: ArchiveHeading, **values: object) -> str:
    return get_environment().get_template(template).render(heading=heading, **values)


def _group_areas(day: ArchivedDay) -> list[_Area]:
    """Return the merges by area, in the order of a digest."""
    grouped: dict[str, list[ArchivedMerge]] = {}
    for merge in day.merges:
        grouped.setdefault(merge.area, []).append(merge)
    names = sorted(grouped, key=lambda name: build_area_sort_key(name, len(grouped[name])))
    return [_Area(name, tuple(grouped[name])) for name in names]
