"""Which files define what others depend on."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

# upstream's own tests and samples use the contract; they don't define it
_OUTSIDE = frozenset(
    ("tests", "test", "benchmarks", "examples", "docs", "doc", "testing", "tools", ".buildkite", ".github")
)
_TOP_ONLY = frozenset(("benchmarks", "tools", "doc", "docs", "testing", "examples"))
_DEVELOPMENT = frozenset(("test", "tests", "dev", "lint", "docs", "benchmarks", "examples"))
_WORD = re.compile(r"[a-z0-9]+")
_CPP = frozenset((".cpp", ".cc", ".cxx", ".cu", ".cuh", ".h", ".hpp", ".hip", ".mm"))


def is_outside(path: str) -> bool:
    """Return whether a file is a test, a sample or documentation, which define no contract."""
    parts = PurePosixPath(path).parts[:-1]
    if any(part in _OUTSIDE - _TOP_ONLY for part in parts):
        return True
    return bool(parts) and parts[0] in _OUTSIDE


def is_cpp(path: str) -> bool:
    return PurePosixPath(path).suffix in _CPP


def is_dockerfile(path: str) -> bool:
    name = PurePosixPath(path).name
    return name.startswith(("Dockerfile", "Containerfile")) or name.endswith((".Dockerfile", ".dockerfile"))


def is_cmake(path: str) -> bool:
    return path.endswith(".cmake") or PurePosixPath(path).name == "CMakeLists.txt"


def is_requirements(path: str) -> bool:
    file = PurePosixPath(path)
    if file.suffix not in {".txt", ".in"}:
        return False
    return "requirements" in file.name or "constraints" in file.name or file.parent.name == "requirements"


def is_for_development(path: str) -> bool:
    """Return whether a list of requirements is one of tests, documentation or tools, by its path."""
    words = _WORD.findall(path.lower())
    return any(word in _DEVELOPMENT for word in words)
