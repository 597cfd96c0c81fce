"""Archived days: the public facts of merges, their summaries, what they change for others and what became of them.

Nothing of a profile, of a channel or of a conversation has a field here, so none of it can reach a page or a feed.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from datetime import datetime


@dataclass(frozen=True, slots=True)
class ArchivedChange:
    """A contract change. Its fields are those of ``ContractChange``; ``url`` is the address of its line."""

    subject: str
    kind: str
    name: str
    new_name: str = ""
    before: str = ""
    after: str = ""
    path: str = ""
    line: int = 0
    url: str = ""
    is_importable: bool = False
    removal: str = ""
    replacement: str = ""


@dataclass(frozen=True, slots=True)
class ArchivedOutcome:
    """What became of a merge: ``kind`` as in ``OutcomeKind``, ``by`` which merge, and ``at`` what time (UTC)."""

    kind: str
    by: int
    at: datetime


@dataclass(frozen=True, slots=True)
class ArchivedMerge:
    """A merge as the archive shows it. ``merged_at`` is in UTC.

    ``type`` and ``sections`` (headings and Markdown texts) are empty without a summary by the model. ``files`` are
    the first paths of ``file_count``. ``changes`` is None as long as nobody read what it changes for others;
    ``hidden_changes`` are left out of it, and ``unread_files`` are changed files that could not be read for it.
    """

    number: int
    title: str
    url: str
    author: str
    merged_at: datetime
    commit: str
    area: str
    headline: str = ""
    type: str = ""
    sections: tuple[tuple[str, str], ...] = ()
    files: tuple[str, ...] = ()
    file_count: int = 0
    changes: tuple[ArchivedChange, ...] | None = None
    hidden_changes: int = 0
    unread_files: int = 0
    outcomes: tuple[ArchivedOutcome, ...] = ()

    @property
    def is_summarised(self) -> bool:
        """Whether it has a summary by the model."""
        return bool(self.sections)

    def keep_earlier_work(self, earlier: ArchivedMerge) -> ArchivedMerge:
        """Return the merge with the summary and the changes that it lacks and had earlier.

        Both expire in the store. What became of the merge is always that of now.
        """
        merge = self
        if earlier.is_summarised and not merge.is_summarised:
            merge = replace(
                merge,
                area=earlier.area,
                headline=earlier.headline,
                type=earlier.type,
                sections=earlier.sections,
            )
        if earlier.changes is not None and merge.changes is None:
            merge = replace(
                merge,
                changes=earlier.changes,
                hidden_changes=earlier.hidden_changes,
                unread_files=earlier.unread_files,
            )
        if earlier.files and not merge.files:
            merge = replace(merge, files=earlier.files, file_count=earlier.file_count)
        return merge


@dataclass(frozen=True, slots=True)
class ArchivedDay:
    """The merges of a local day, newest first. ``end`` is the first instant after the day (UTC)."""

    date: dt.date
    end: datetime
    merges: tuple[ArchivedMerge, ...]

    @property
    def updated_at(self) -> datetime:
        """When it last changed, by the facts: its end, or the last thing that became of one of its merges."""
        return max([self.end, *(outcome.at for merge in self.merges for outcome in merge.outcomes)])

    @property
    def change_count(self) -> int:
        """The number of contract changes that were read."""
        return sum(len(merge.changes or ()) + merge.hidden_changes for merge in self.merges)

    def keep_earlier_work(self, earlier: ArchivedDay) -> ArchivedDay:
        """Return the day with what it lacks and had earlier."""
        before = {merge.number: merge for merge in earlier.merges}
        known = {merge.number for merge in self.merges}
        merges = [
            merge.keep_earlier_work(before[merge.number]) if merge.number in before else merge
            for merge in self.merges
        ]
        merges += [merge for merge in earlier.merges if merge.number not in known]
        merges.sort(key=lambda merge: (merge.merged_at, merge.number), reverse=True)
        return replace(self, merges=tuple(merges))


@dataclass(frozen=True, slots=True)
class ArchiveHeading:
    """What all pages and feeds of an archive say of themselves.

    ``web`` is the address of the GitHub's pages. ``site`` is the public address of the pages, with a slash at its
    end; empty if it is not known.
    """

    name: str
    repository: str
    zone: str
    web: str
    site: str = ""

    @property
    def repository_url(self) -> str:
        """The address of the repository."""
        return f"{self.web}/{self.repository}"


@dataclass(frozen=True, slots=True)
class RemovalDeadline:
    """A day on which something deprecated may go: the announcement names it, or the release that it names was cut.

    ``release`` is empty where the announcement names the day. ``announced_at`` is in UTC.
    """

    date: dt.date
    subject: str
    name: str
    number: int
    announced_at: datetime
    removal: str
    replacement: str = ""
    release: str = ""
