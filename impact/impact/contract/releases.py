"""Releases of a repository, and the deadlines that name them or a date."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

_VERSION = re.compile(
    r"(?<![\w.])v?(?P<numbers>\d{1,4}(?:\.\d{1,4}){1,3})(?P<pre>[-_.]?(?:rc|a|b|alpha|beta|dev|post)\.?\d{0,4})?(?!\w|\.\d)",
    re.I,
)
_DATE = re.compile(r"(?<!\d)(?P<date>\d{4}-\d{2}-\d{2})(?!\d)")
# characters of a text that are searched for a version or a date
_MAX_SEARCHED = 300
# a date has no release before it, so what goes by date is due this long before
DUE_BEFORE_DATE = dt.timedelta(days=30)

Version = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Release:
    """A release, by its tag, and when it was cut (UTC)."""

    name: str
    version: Version
    released_at: datetime


def parse_version(text: str) -> Version | None:
    """Return the first version that a text names; None if there is none, or for a release candidate."""
    match = _VERSION.search(text[:_MAX_SEARCHED])
    if not match or match["pre"]:
        return None
    major, minor, patch, *_ = [*(int(number) for number in match["numbers"].split(".")), 0, 0]
    return major, minor, patch


def parse_deadline_date(text: str) -> dt.date | None:
    """Return the first date that a text names, None if there is none."""
    match = _DATE.search(text[:_MAX_SEARCHED])
    if match:
        with suppress(ValueError):
            return dt.date.fromisoformat(match["date"])
    return None


def build_releases(tags: Iterable[tuple[str, datetime]]) -> tuple[Release, ...]:
    """Return the releases among tags, oldest first. Tags of release candidates and of other things are none."""
    releases = [Release(name, version, at) for name, at in tags if (version := parse_version(name))]
    return tuple(sorted(releases, key=lambda each: (each.released_at, each.version)))


def find_due_release(deadline: Version, releases: Iterable[Release]) -> Release | None:
    """Return the first release after which the next one may be the deadline; None if there is none yet.

    After v0.14.0 that is so for v0.14.1 and for all of v0.15; nothing says which one a new major version
    follows.
    """
    major, minor, _ = deadline
    for release in releases:
        is_before = release.version < deadline and release.version[0] == major
        if is_before and minor - release.version[1] <= 1:
            return release
    return None


def find_deadline_release(deadline: Version, releases: Iterable[Release]) -> Release | None:
    """Return the first release of the deadline or a later version; None if there is none yet."""
    return next((each for each in releases if each.version >= deadline), None)
