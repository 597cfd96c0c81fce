"""One pull request: as a message, a window and JSON."""
