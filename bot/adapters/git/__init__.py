"""Adapter for local clones and for mirrors that the bot keeps, both by the ``git`` program."""

from __future__ import annotations

from bot.adapters.git.mirror import GitMirror, MirrorLimits, is_own_address
from bot.adapters.git.mirror_files import GitMirrorFiles
from bot.adapters.git.mirror_probe import GitMirrorProbe
from bot.adapters.git.mirror_reader import MirrorReader
from bot.adapters.git.mirror_search import GitMirrorSearch
from impact.git.clone import GitClone
from impact.git.clone_trees import CloneTrees, open_clone_trees
from impact.git.working_tree import find_head, read_working_tree

__all__ = [
    "GitClone",
    "CloneTrees",
    "GitMirror",
    "GitMirrorFiles",
    "GitMirrorProbe",
    "GitMirrorSearch",
    "MirrorLimits",
    "MirrorReader",
    "find_head",
    "is_own_address",
    "open_clone_trees",
    "read_working_tree",
]
