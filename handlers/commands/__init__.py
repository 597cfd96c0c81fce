"""The slash commands, one file each."""
