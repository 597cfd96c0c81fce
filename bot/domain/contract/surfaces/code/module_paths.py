"""The module that a path holds."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

_PART = re.compile(r"[A-Za-z_]\w*", re.A)


def name_python_module(path: str) -> str:
    """Return the dotted name of a Python file's module; empty if it can't be imported."""
    parts = list(PurePosixPath(path).with_suffix("").parts)
    if parts and parts[0] == "src":
        parts = parts[1:]
    if parts and parts[-1] == "__init__":
        parts = parts[:-1]
    return ".".join(parts) if parts and all(map(_PART.fullmatch, parts)) else ""
