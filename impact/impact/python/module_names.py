from __future__ import annotations

from pathlib import PurePosixPath

_SUFFIXES = frozenset({".py", ".pyi"})
# folders that hold packages and are none
_SOURCE_FOLDERS = frozenset({"src", "lib", "python"})
_PACKAGE_FILE = "__init__"


def is_python(path: str) -> bool:
    return PurePosixPath(path).suffix in _SUFFIXES


def name_module(path: str) -> tuple[str, bool] | None:
    """Return the name of the module in a file, and whether it is a package; None for what can't be imported."""
    if not is_python(path):
        return None
    parts = list(PurePosixPath(path).with_suffix("").parts)
    if parts[0] in _SOURCE_FOLDERS and len(parts) > 1:
        parts = parts[1:]
    is_package = parts[-1] == _PACKAGE_FILE
    if is_package:
        parts.pop()
    if not parts or not all(part.isidentifier() for part in parts):
        return None
    return ".".join(parts), is_package


def resolve_relative(module: str, level: int, target: str, *, is_package: bool) -> str:
    """Return the full name of ``from ..target import``; empty for more dots than packages."""
    if not level:
        return target
    parts = module.split(".")
    drop = level - 1 if is_package else level
    if drop >= len(parts) + (not target):
        return ""
    return ".".join([*parts[: len(parts) - drop], *([target] if target else [])])


def get_owner(name: str) -> str:
    """Return what precedes the last dot of a dotted name; empty if there is none."""
    return name.rpartition(".")[0]
