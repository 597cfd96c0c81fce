"""Adapter for local clones, which it reads with the ``git`` program."""

from __future__ import annotations

from bot.adapters.git.clone import GitClone

__all__ = [
    "GitClone",
]
