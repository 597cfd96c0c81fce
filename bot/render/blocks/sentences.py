"""What messages of every capability share: labels below them, and sentences about buttons and windows."""

from __future__ import annotations

DETAILS_LABEL = "Details"
DETAILS_MENU_LABEL = "Details of …"
ASK_LABEL = "Ask about this"
SHARE_LABEL = "Share in channel"
REPEAT_LABEL = "Post it again"

# in place of a name of which nothing is visible: Slack refuses an empty text
UNNAMED = "(no name)"
WINDOW_TOO_LATE = "The window did not open in time: try again."
UNKNOWN_BUTTON = "That button no longer works: use a command instead."


def format_asker(name: str) -> str:
    """Return who asked for a message."""
    return f"Asked for by {name}"
