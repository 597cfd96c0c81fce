"""The files of a folder as they are on disk: a working tree, or any other tree."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from impact.errors import ImpactError, UsageError
from impact.git.clone_trees import CloneTrees
from impact.source.models import MAX_SOURCE_BYTES, SourceFile, SourceProblem
from impact.source.reading import build_source_file, replace_controls

# of a file that somebody names: a list of windows or of truth, or a profile
_MAX_BYTES = 20_000_000
_SKIPPED = frozenset(".git .hg .svn node_modules __pycache__ .venv venv .tox .mypy_cache".split())


def read_working_tree(root: Path, clean: Callable[[str], str] = replace_controls) -> Iterator[SourceFile]:
    """Yield the files of a folder with texts or problems, without links. Raises UsageError if it can't be read."""
    if not root.is_dir():
        raise UsageError(f"{root} is no folder: give the folder of the tree.")
    # a walk of the library goes down by calls of itself, which end at a thousand folders
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        names, files = _list_folder(root / folder)
        waiting += (f"{folder}{name}/" for name in sorted(names - _SKIPPED, reverse=True))
        for name in sorted(files):
            yield _read_file(root / folder / name, f"{folder}{name}", clean)


def _list_folder(folder: Path) -> tuple[set[str], set[str]]:
    """Return the names of the folders in a folder, and of all else; nothing of one that can't be read."""
    folders, others = set[str](), set[str]()
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                (folders if entry.is_dir() and not entry.is_symlink() else others).add(entry.name)
    except OSError:
        pass
    return folders, others


def find_head(root: Path) -> str:
    """Return the full hash of the commit that a working tree is at; empty if it is none."""
    try:
        return CloneTrees(root).find_head() if (root / ".git").exists() else ""
    except ImpactError:
        return ""


def read_text(path: Path) -> str:
    """Return the text of a file that somebody names. Raises UsageError if it can't be read."""
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path} can't be read ({error.strerror}): choose another file.") from error
    if len(data) > _MAX_BYTES:
        raise UsageError(f"{path} is too large: choose another file.")
    return data.decode("utf-8-sig", "replace")


def _read_file(file: Path, path: str, clean: Callable[[str], str]) -> SourceFile:
    try:
        if file.is_symlink() or not file.is_file():
            return SourceFile(path, problem=SourceProblem.SYMLINK)
        if file.stat().st_size > MAX_SOURCE_BYTES:
            return SourceFile(path, problem=SourceProblem.TOO_LARGE)
        return build_source_file(path, file.read_bytes(), clean)
    except OSError:
        return SourceFile(path, problem=SourceProblem.UNAVAILABLE)
