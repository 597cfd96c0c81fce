"""The digest as messages and as a file."""
