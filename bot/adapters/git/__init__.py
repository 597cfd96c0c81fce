"""Local clones, read with the ``git`` program."""

from __future__ import annotations

from bot.adapters.git.clone import GitClone

__all__ = [
    "GitClone",
]
