"""Adapter for mirrors that the bot keeps by the ``git`` program, and for local clones."""

from __future__ import annotations

from bot.adapters.git.clones import open_clone_trees
from bot.adapters.git.mirror import GitMirror, MirrorLimits, is_own_address
from bot.adapters.git.mirror_files import GitMirrorFiles
from bot.adapters.git.mirror_reader import MirrorReader
from bot.adapters.git.mirror_search import GitMirrorSearch

__all__ = [
    "GitMirror",
    "GitMirrorFiles",
    "GitMirrorSearch",
    "MirrorLimits",
    "MirrorReader",
    "is_own_address",
    "open_clone_trees",
]
