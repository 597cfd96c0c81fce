"""The slash commands, one module each."""
