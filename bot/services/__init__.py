"""One file for each thing the bot does for someone."""
