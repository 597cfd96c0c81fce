"""Labels that stand below messages of every capability, and the sentence for a button that nobody knows."""

from __future__ import annotations

DETAILS_LABEL = "Details"
DETAILS_MENU_LABEL = "Details of …"
ASK_LABEL = "Ask about this"
SHARE_LABEL = "Share in channel"
REPEAT_LABEL = "Post it again"

# in place of a name of which nothing is visible: Slack refuses an empty text
UNNAMED = "(no name)"
UNKNOWN_BUTTON = "That button no longer works: use a command instead."


def format_asker(name: str) -> str:
    """Return who asked for a message."""
    return f"Asked for by {name}"
