"""Which changed files of a merge are read for what they change for others, most telling first."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from bot.domain.pull_requests.models import ChangedFile

_PYTHON = frozenset({".py", ".pyi"})
_BUILD_NAMES = frozenset({"pyproject.toml", "setup.py", "setup.cfg", "CMakeLists.txt"})
_BUILD_SUFFIXES = frozenset({".toml", ".cfg", ".txt", ".in", ".cmake", ".dockerfile"})
_IMAGES = ("Dockerfile", "Containerfile")
_CODE = frozenset({".cpp", ".cc", ".cxx", ".cu", ".cuh", ".h", ".hpp", ".hip", ".mm"})
_TEXTS = frozenset({".yaml", ".yml", ".proto", ".sh", ".tpl", ".md"})
# upstream's own users: they say how callers were changed, and define nothing
_USERS = frozenset({"tests", "test", "benchmarks", "examples", "docs", "doc", ".buildkite", ".github"})
# each level of packages above a file may re-export what is in it
_PACKAGE_FILE = "__init__.py"


def select_files(files: Iterable[ChangedFile]) -> list[ChangedFile]:
    """Return the files that may change something for others, most telling first, then by path."""
    ranked = [(rank, file.path, file) for file in files if (rank := _rank_path(file.path)) is not None]
    return [file for _, _, file in sorted(ranked, key=lambda each: each[:2])]


def list_package_files(files: Iterable[ChangedFile]) -> list[str]:
    """Return the paths of the package files above changed Python files, nearest first.

    Names that a merge moves are often still importable from there.
    """
    changed = {path for file in files for path in (file.path, file.previous_path) if path}
    parents: dict[str, int] = {}
    for path in changed:
        if PurePosixPath(path).suffix in _PYTHON and not _is_user(path):
            for level, folder in enumerate(PurePosixPath(path).parents[:-1]):
                place = str(folder / _PACKAGE_FILE)
                parents[place] = min(level, parents.get(place, level))
    nearest = sorted(parents.items(), key=lambda each: (each[1], each[0]))
    return [path for path, _ in nearest if path not in changed]


def _rank_path(path: str) -> int | None:
    """Return the rank of a path, less for more; None for what says nothing to others."""
    file = PurePosixPath(path)
    suffix = file.suffix.lower()
    if suffix in _PYTHON:
        return 4 if _is_user(path) else 0
    if file.name in _BUILD_NAMES or suffix in _BUILD_SUFFIXES or file.name.startswith(_IMAGES):
        return 1
    if suffix in _CODE:
        return 2
    return 3 if suffix in _TEXTS and not _is_user(path) else None


def _is_user(path: str) -> bool:
    return not _USERS.isdisjoint(PurePosixPath(path).parts[:-1])
