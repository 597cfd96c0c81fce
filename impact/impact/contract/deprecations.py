"""The ledger of deprecations: what a repository has said that it will remove, when, and what takes its place."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time
from enum import StrEnum

from impact.contract.models import ChangeKind, ContractChange, ContractClass, Deadline, MergeContract
from impact.contract.releases import (
    DUE_BEFORE_DATE,
    Release,
    Version,
    find_deadline_release,
    find_due_release,
    parse_deadline_date,
    parse_version,
)
from impact.errors import attempt_all

# vLLM announced some 60 in its last year; a ledger with more than this has no use for a reader
MAX_DEPRECATIONS = 1_000
# what is gone stays in the list for a quarter
_KEPT_AFTER_REMOVAL = dt.timedelta(days=90)
_GONE = frozenset((ChangeKind.REMOVED, ChangeKind.MOVED, ChangeKind.RENAMED))


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

    @property
    def key(self) -> tuple[str, str]:
        return self.subject.value, self.name

    @property
    def version(self) -> Version | None:
        """The version in which it goes, if the announcement names one."""
        return parse_version(self.when)

    @property
    def date(self) -> dt.date | None:
        return parse_deadline_date(self.when)


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


def update_ledger(
    ledger: DeprecationLedger, merges: Sequence[MergeContract], reverted: Collection[int] = ()
) -> DeprecationLedger:
    """Return a ledger with what merges announced and removed; merges that it has count once.

    Announcements and removals by merges whose numbers are ``reverted`` don't count. A merge with which a defect
    is met announces nothing.
    """

    def apply_all(chosen: Sequence[MergeContract]) -> DeprecationLedger:
        entries = {
            each.key: _forget_removal(each, reverted) for each in ledger.entries if each.number not in reverted
        }
        ordered = sorted(chosen, key=lambda merge: (merge.merged_at, merge.number))
        for merge in ordered:
            if merge.number in reverted:
                continue
            for row in merge.changes:
                _apply_row(entries, merge, row)
        instants = [merge.merged_at for merge in ordered] + ([ledger.read_until] if ledger.read_until else [])
        until = max(instants, default=None)
        kept = [each for each in entries.values() if not _is_forgotten(each, until)]
        kept.sort(key=lambda each: (each.announced_at, each.number, each.name))
        return DeprecationLedger(tuple(kept[-MAX_DEPRECATIONS:]), until)

    return attempt_all(apply_all, merges, lambda merge: f"#{merge.number}")[0]


def get_state(entry: Deprecation, releases: Sequence[Release], now: datetime) -> DeprecationState:
    steps = [news for news in list_steps(entry, releases) if news.at <= now]
    return steps[-1].state if steps else DeprecationState.ANNOUNCED


def list_steps(entry: Deprecation, releases: Sequence[Release]) -> tuple[DeprecationNews, ...]:
    """Return the steps of a deprecation, in order. Those of releases before its announcement are no steps."""
    steps = [DeprecationNews(DeprecationState.ANNOUNCED, entry, entry.announced_at)]
    steps += _list_deadline_steps(entry, releases)
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


def _list_deadline_steps(entry: Deprecation, releases: Sequence[Release]) -> Iterator[DeprecationNews]:
    if (version := entry.version) is not None:
        if due := find_due_release(version, releases):
            yield DeprecationNews(DeprecationState.DUE, entry, max(due.released_at, entry.announced_at), due)
        if late := find_deadline_release(version, releases):
            yield DeprecationNews(DeprecationState.OVERDUE, entry, max(late.released_at, entry.announced_at), late)
    elif (date := entry.date) is not None:
        day = datetime.combine(date, time.min, UTC)
        yield DeprecationNews(DeprecationState.DUE, entry, max(day - DUE_BEFORE_DATE, entry.announced_at))
        yield DeprecationNews(DeprecationState.OVERDUE, entry, max(day, entry.announced_at))


def _apply_row(entries: dict[tuple[str, str], Deprecation], merge: MergeContract, row: ContractChange) -> None:
    key = (row.subject.value, row.name)
    if row.kind is ChangeKind.DEPRECATED:
        earlier = entries.get(key)
        if earlier is None or earlier.removed_by or earlier.number == merge.number:
            entries[key] = _build_entry(merge, row)
        else:
            entries[key] = _extend_deadline(earlier, row.deadline)
    elif row.kind in _GONE and not row.is_importable and _can_be_removed(entries.get(key), merge):
        entries[key] = replace(entries[key], removed_by=merge.number, removed_at=merge.merged_at)


def _can_be_removed(entry: Deprecation | None, merge: MergeContract) -> bool:
    return entry is not None and not entry.removed_by and entry.announced_at < merge.merged_at


def _build_entry(merge: MergeContract, row: ContractChange) -> Deprecation:
    deadline = row.deadline or Deadline()
    return Deprecation(
        row.subject,
        row.name,
        merge.number,
        merge.commit,
        merge.merged_at,
        row.after,
        row.path,
        row.line,
        deadline.when,
        deadline.replacement,
    )


def _extend_deadline(entry: Deprecation, deadline: Deadline | None) -> Deprecation:
    if deadline is None:
        return entry
    return replace(entry, when=deadline.when or entry.when, replacement=deadline.replacement or entry.replacement)


def _forget_removal(entry: Deprecation, reverted: Collection[int]) -> Deprecation:
    return replace(entry, removed_by=0, removed_at=None) if entry.removed_by in reverted else entry


def _is_forgotten(entry: Deprecation, until: datetime | None) -> bool:
    return bool(entry.removed_at and until and until - entry.removed_at > _KEPT_AFTER_REMOVAL)
