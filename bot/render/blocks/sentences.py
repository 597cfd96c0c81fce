"""Sentences about buttons, windows and names that messages of every capability share."""

from __future__ import annotations

# in place of a name of which nothing is visible: Slack refuses an empty text
UNNAMED = "(no name)"
WINDOW_TOO_LATE = "The window did not open in time: try again."
UNKNOWN_BUTTON = "That button no longer works: use a command instead."
CLOSE_LABEL = "Close"
