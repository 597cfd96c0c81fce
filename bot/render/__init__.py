"""Turns values into text: the Markdown report, Block Kit, the terminal."""
