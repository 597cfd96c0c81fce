"""The sentences of pages and feeds."""

from __future__ import annotations

import datetime as dt

from bot.domain.archive.models import (
    ArchivedChange,
    ArchivedDay,
    ArchivedMerge,
    ArchivedOutcome,
    ArchiveHeading,
    RemovalDeadline,
)
from bot.domain.text.strings import format_count

ACTION_TITLE = "What to do"
FEEDS_ARE_READ = "Feeds can only be read."
FEED_IS_AWAY = "The feed is not available now."
NO_SUMMARY = "No summary is kept; the facts stand here alone."


def format_date(date: dt.date) -> str:
    """Format a date with its weekday."""
    return f"{date:%A} {date.day} {date:%B %Y}"


def format_day_title(day: ArchivedDay, heading: ArchiveHeading) -> str:
    """Format the title of a day in a list of days of several repositories, as in a feed reader."""
    return f"{heading.name}: {format_count(len(day.merges), 'merge')} on {format_date(day.date)}"


def describe_day(day: ArchivedDay) -> str:
    """Describe a day by its counts."""
    parts = [format_count(len(day.merges), "merge")]
    if day.change_count:
        parts.append(format_count(day.change_count, "contract change"))
    taken_back = sum(bool(merge.outcomes) for merge in day.merges)
    if taken_back:
        parts.append(f"{taken_back:,} reverted or repaired since")
    return ", ".join(parts)


def describe_unread(day: ArchivedDay) -> str:
    """Describe of how many merges it is not known what they change for others; empty if there are none."""
    unread = sum(merge.changes is None for merge in day.merges)
    return f"Contract changes of {format_count(unread, 'merge')} were not read." if unread else ""


def describe_unread_files(merge: ArchivedMerge) -> str:
    """Describe of how many changed files it is not known what they change; empty if there are none."""
    count = merge.unread_files
    return f"{format_count(count, 'changed file')} could not be read for this list." if count else ""


def describe_outcome(outcome: ArchivedOutcome) -> str:
    """Describe what became of a merge."""
    return f"{outcome.kind} by #{outcome.by} on {outcome.at:%Y-%m-%d}".capitalize()


def describe_files(merge: ArchivedMerge) -> str:
    """Describe how many files a merge changed, and how many of them are not listed."""
    hidden = merge.file_count - len(merge.files)
    more = f", the first {len(merge.files)} of them here" if merge.files and hidden > 0 else ""
    return f"{format_count(merge.file_count, 'changed file')}{more}"


def describe_change(change: ArchivedChange) -> str:
    """Describe what happened to a name, in the words of contract tables."""
    return f"{change.subject} {change.kind}"


def format_hidden_changes(count: int) -> str:
    """Format how many contract changes are left out."""
    return f"and {format_count(count, 'more change')}"


def format_deadline_title(deadline: RemovalDeadline, heading: ArchiveHeading) -> str:
    """Format the title of a deadline in a calendar."""
    return f"{heading.name}: {deadline.subject} {deadline.name} may be removed"


def describe_deadline(deadline: RemovalDeadline, heading: ArchiveHeading) -> str:
    """Describe where the day of a deadline is from, and what takes the place of what goes."""
    if deadline.release:
        source = (
            f"Its removal was announced for {deadline.removal}, and {deadline.release} was released on this day."
        )
    else:
        source = "Its removal was announced for this day."
    instead = f" Use {deadline.replacement} instead." if deadline.replacement else ""
    return f"{source}{instead} Announced by {heading.repository_url}/pull/{deadline.number}"
