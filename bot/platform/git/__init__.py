"""Mirrors that the bot keeps by the ``git`` program, and local clones."""
