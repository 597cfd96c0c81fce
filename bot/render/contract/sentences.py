"""What people read about contract changes."""

from __future__ import annotations

from bot.domain.text.strings import collapse_lines, format_count, truncate_text
from impact.contract.models import UnreadFile

_MAX_UNREAD = 5
_MAX_NOTE_LENGTH = 600
NOTHING = "No merge of these days changes what others depend on."


def format_list_title(*, name: str, days: str, count: int) -> str:
    """Return the title of a list."""
    return f"{name} · {days} · {format_count(count, 'contract change')}"


def format_merges(*, merged: int, matching: int, filters: str) -> str:
    """Return which merges were looked at."""
    of = f"{matching:,} of {format_count(merged, 'merge')}" if filters else format_count(merged, "merge")
    return f"{of}{f', {truncate_text(collapse_lines(filters), 200)}' if filters else ''}"


def format_more_rows(count: int) -> str:
    """Return how many rows of a class are left out."""
    return f"and {count:,} more"


def format_hidden_rows(count: int) -> str:
    """Return how many rows the message leaves out, and how to see them."""
    return f"{format_count(count, 'row')} left out: ask for fewer days, or filter with path:."


def format_unread(unread: tuple[UnreadFile, ...]) -> str:
    """Return which files could not be read, and why."""
    shown = ", ".join(f"{collapse_lines(file.path)} ({file.reason})" for file in unread[:_MAX_UNREAD])
    more = f", {format_more_rows(len(unread) - _MAX_UNREAD)}" if len(unread) > _MAX_UNREAD else ""
    return truncate_text(f"Could not be read: {shown}{more}", _MAX_NOTE_LENGTH)
