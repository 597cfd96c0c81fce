"""Deadlines, costs and health of the bot itself."""
