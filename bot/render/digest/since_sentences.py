"""The sentences of the page for somebody who was away."""

from __future__ import annotations

from bot.domain.text.strings import format_count

RISKS_TITLE = "Deserves a second look"
ACTIONS_TITLE = "To do for some"
SERIES_TITLE = "In several steps"
BUMPS_TITLE = "Bumped more than once"
TITLES_TITLE = "Not summarised yet"
AREAS_TITLE = "The rest by area: "
AFTER = ", after "
NO_NEW_WORK = "made of what was read before, without a call to a model"


def format_more(count: int, singular: str, many: str = "") -> str:
    """Say how many more there are: ``and 3 more titles``."""
    return f"and {format_count(count, f'more {singular}', f'more {many or singular + chr(115)}')}"


def format_superseded(count: int) -> str:
    """Say how many earlier bumps one stands for."""
    return f" (replaces {format_count(count, 'earlier one')})"


def format_taken_back(count: int) -> str:
    """Say how many merges were reverted and left out."""
    return f"{format_count(count, 'merge')} and what reverted {'it' if count == 1 else 'them'} left out"


def format_not_summarised(count: int) -> str:
    """Say how many merges have no summary."""
    return f"{format_count(count, 'merge')} shown by title alone"


def format_unread(count: int) -> str:
    """Say of how many merges nobody knows what they change for others."""
    return f"{format_count(count, 'merge')} not compared with the profile yet"
