"""Deprecations: what a text says of one, the releases that bring it about, and the ledger of a repository.

The ledger has what the repository has said that it will remove, when, and what takes its place.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time
from enum import StrEnum

from impact.contract.models import LOST, ChangeKind, ContractChange, ContractClass, Deadline, MergeContract
from impact.errors import attempt_all

_DEPRECATED = re.compile(r"\bdeprecat|\b(?:will|to) be removed (?:in|after|from|by|on) ", re.I)
_VERSION_TEXT = r"v?\d{1,4}\.\d{1,4}(?:\.\d{1,4})?(?:\.x)?"
_DATE_TEXT = r"20\d\d-[01]\d-[0-3]\d"
# what may stand between the verb and the version is bounded: time stays linear
_WHEN = re.compile(
    r"\b(?:remov\w{0,4}|delet\w{0,4}|dropp?\w{0,4}|unsupported|disappear\w{0,3}|an error)\b[^.;]{0,80}?"
    rf"\b(?P<when>{_DATE_TEXT}|{_VERSION_TEXT})(?!\w)",
    re.I,
)
_UNTIL = re.compile(
    rf"\b(?:until|before|by|starting)\s(?:version\s|release\s)?(?P<when>{_DATE_TEXT}|{_VERSION_TEXT})(?!\w)", re.I
)
# no version is named yet
_LATER = re.compile(
    r"\bremov\w{0,4}\b[^.;]{0,60}?\b(?P<when>(?:next|future|upcoming|later)\s(?:minor\s|major\s)?(?:release|version)s?)\b",
    re.I,
)
_REPLACEMENT = re.compile(
    r"\b(?:use|switch to|replaced by|replaced with|in favou?r of|renamed to|moved to|migrate to|import from)\s"
    r"(?:the\s|new\s){0,2}[`'\"]{0,2}(?P<name>[\w.\-:/]{1,100})",
    re.I,
)
_NAME = r"[`'\"]{0,2}(?P<%s>(?:--)?[A-Za-z_][\w.:/-]{1,80})(?:\(\))?[`'\"]{0,2}"
_PASSED = re.compile(
    rf"\b(?:pass|set|give)\s{_NAME % 'name'}\s(?:to|via|in|through)\s(?:the\s)?{_NAME % 'owner'}",
    re.I,
)
_PLEASE = re.compile(rf"\bplease\s(?:use|set|pass|see)\s(?:it\s(?:to|via|in)\s)?(?:the\s)?{_NAME % 'name'}", re.I)
_PLAIN_WORDS = frozenset("it this that them instead the a an of in to for is be and or will with new your".split())
# characters of a text that are read: a message has a few hundred
_MAX_LENGTH = 2000


def is_deprecation(text: str) -> bool:
    return bool(_DEPRECATED.search(text[:_MAX_LENGTH]))


def read_deadline(text: str) -> Deadline | None:
    """Return when the subject of a deprecation goes and what replaces it, or None if the text says neither."""
    text = " ".join(text[:_MAX_LENGTH].replace("%%", "%").split())
    point = _WHEN.search(text) or _UNTIL.search(text)
    later = _LATER.search(text)
    when = point["when"].rstrip(".") if point else later["when"].lower() if later else ""
    passed = _PASSED.search(text)
    if passed and passed["name"].lower() not in _PLAIN_WORDS:
        return Deadline(when, f"{passed['owner'].strip('.:/-')}.{passed['name'].strip('.:/-')}")
    names = [match["name"].strip(".:/").rstrip("-") for match in _REPLACEMENT.finditer(text)]
    names += [match["name"].strip(".:/-") for match in _PLEASE.finditer(text)][:1]
    replacement = next((name for name in names if name and name.lower() not in _PLAIN_WORDS), "")
    return Deadline(when, replacement) if when or replacement else None


# --- releases

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


# --- the ledger

# vLLM announced some 60 in its last year; a ledger with more than this has no use for a reader
MAX_DEPRECATIONS = 1_000
# what is gone stays in the list for a quarter
_KEPT_AFTER_REMOVAL = dt.timedelta(days=90)


class DeprecationState(StrEnum):
    """How far a deprecation is. DUE: the release before its deadline is cut. OVERDUE: that of the deadline too."""

    ANNOUNCED = "announced"
    DUE = "due"
    OVERDUE = "overdue"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Deprecation:
    """What will be removed: who said so, at which line, when (UTC), and how the announcement reads.

    ``removed_by`` is the number of the merge that removed it, 0 if none did.
    """

    subject: ContractClass
    name: str
    number: int
    commit: str
    announced_at: datetime
    text: str = ""
    path: str = ""
    line: int = 0
    when: str = ""
    replacement: str = ""
    removed_by: int = 0
    removed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class DeprecationLedger:
    """The deprecations of a repository as they were announced, in merges up to ``read_until`` (UTC), if any."""

    entries: tuple[Deprecation, ...] = ()
    read_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class DeprecationNews:
    """A step of a deprecation, when it came (UTC), and the release that brought it, if one did."""

    state: DeprecationState
    entry: Deprecation
    at: datetime
    release: Release | None = None


_Entries = dict[tuple[ContractClass, str], Deprecation]


def update_ledger(
    ledger: DeprecationLedger, merges: Sequence[MergeContract], reverted: Collection[int] = ()
) -> DeprecationLedger:
    """Return a ledger with what merges announced and removed; merges that it has count once.

    Announcements and removals by merges whose numbers are ``reverted`` don't count. A merge with which a defect
    is met announces nothing.
    """

    def apply_all(chosen: Sequence[MergeContract]) -> DeprecationLedger:
        entries: _Entries = {
            (each.subject, each.name): each for each in ledger.entries if each.number not in reverted
        }
        for key, each in entries.items():
            if each.removed_by in reverted:
                entries[key] = replace(each, removed_by=0, removed_at=None)
        ordered = sorted(chosen, key=lambda merge: (merge.merged_at, merge.number))
        for merge in ordered:
            for row in merge.changes if merge.number not in reverted else ():
                _apply_row(entries, merge, row)
        instants = [merge.merged_at for merge in ordered] + ([ledger.read_until] if ledger.read_until else [])
        until = max(instants, default=None)
        oldest = until - _KEPT_AFTER_REMOVAL if until else None
        kept = [each for each in entries.values() if not (each.removed_at and oldest and each.removed_at < oldest)]
        kept.sort(key=lambda each: (each.announced_at, each.number, each.name))
        return DeprecationLedger(tuple(kept[-MAX_DEPRECATIONS:]), until)

    return attempt_all(apply_all, merges, lambda merge: f"#{merge.number}")[0]


def get_state(entry: Deprecation, releases: Sequence[Release], now: datetime) -> DeprecationState:
    steps = [news for news in list_steps(entry, releases) if news.at <= now]
    return steps[-1].state if steps else DeprecationState.ANNOUNCED


def list_steps(entry: Deprecation, releases: Sequence[Release]) -> tuple[DeprecationNews, ...]:
    """Return the steps of a deprecation, in order. Those of releases before its announcement are no steps."""
    points: list[tuple[DeprecationState, datetime, Release | None]] = []
    if version := parse_version(entry.when):
        due = find_due_release(version, releases)
        points += [(DeprecationState.DUE, due.released_at, due)] if due else []
        late = next((each for each in releases if each.version >= version), None)
        points += [(DeprecationState.OVERDUE, late.released_at, late)] if late else []
    elif date := parse_deadline_date(entry.when):
        day = datetime.combine(date, time.min, UTC)
        points += [(DeprecationState.DUE, day - DUE_BEFORE_DATE, None), (DeprecationState.OVERDUE, day, None)]
    first = entry.announced_at
    steps = [DeprecationNews(DeprecationState.ANNOUNCED, entry, first)]
    steps += [DeprecationNews(state, entry, max(at, first), release) for state, at, release in points]
    if entry.removed_at:
        steps = [each for each in steps if each.at < entry.removed_at]
        steps.append(DeprecationNews(DeprecationState.REMOVED, entry, entry.removed_at))
    return tuple(sorted(steps, key=lambda each: each.at))


def list_news(
    ledger: DeprecationLedger, releases: Sequence[Release], since: datetime, until: datetime
) -> tuple[DeprecationNews, ...]:
    """Return the steps of all deprecations from ``since`` to before ``until``, in order."""
    steps = (step for entry in ledger.entries for step in list_steps(entry, releases))
    return tuple(sorted((each for each in steps if since <= each.at < until), key=lambda each: each.at))


def _apply_row(entries: _Entries, merge: MergeContract, row: ContractChange) -> None:
    key = row.subject, row.name
    earlier, is_gone = entries.get(key), row.kind in LOST and not row.is_importable
    if row.kind is ChangeKind.DEPRECATED:
        if earlier is None or earlier.removed_by or earlier.number == merge.number:
            at = merge.number, merge.commit, merge.merged_at
            earlier = Deprecation(row.subject, row.name, *at, row.after, row.path, row.line)
        deadline = row.deadline or Deadline()
        when, replacement = deadline.when or earlier.when, deadline.replacement or earlier.replacement
        entries[key] = replace(earlier, when=when, replacement=replacement)
    elif is_gone and earlier and not earlier.removed_by and earlier.announced_at < merge.merged_at:
        entries[key] = replace(earlier, removed_by=merge.number, removed_at=merge.merged_at)
