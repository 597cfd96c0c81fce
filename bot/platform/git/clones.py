"""Local clones whose messages are cleaned as those of GitHub are."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from bot.platform.cleaning import clean_text
from impact.git import clone_trees


def open_clone_trees(path: Path, branch: str | None = None) -> AbstractContextManager[clone_trees.CloneTrees]:
    """Open a clone, and end the process that reads it at the end of the block. Credentials are removed."""
    return clone_trees.open_clone_trees(path, branch, clean_text)
