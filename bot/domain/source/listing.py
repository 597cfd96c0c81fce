"""The files of a whole repository at a commit, without their texts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TreeFile:
    """A file of a tree. ``content`` is git's hash of its bytes: the same content has the same hash anywhere."""

    path: str
    content: str
    size: int


@dataclass(frozen=True, slots=True)
class RepositoryTree:
    """The files of a repository at a commit, by path. ``is_partial``: there are more than could be listed."""

    commit: str
    files: tuple[TreeFile, ...]
    is_partial: bool = False
