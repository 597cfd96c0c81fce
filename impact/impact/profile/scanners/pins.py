"""Versions that a file pins: of upstream everywhere, of other packages in lists of requirements."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from impact.profile.scanned import FileText
from impact.profile.scanners.patterns import get_patterns

_MAX_LINE = 1000
_REQUIREMENT = re.compile(
    r"^[\s\"'-]{0,20}([A-Za-z0-9][A-Za-z0-9._-]{0,80})(?:\[[\w,. -]{0,80}\])?"
    r"\s{0,3}(?:===?|>=|<=|~=|!=|<|>)\s{0,3}\d",
    re.A,
)
_SEPARATORS = re.compile(r"[-_.]+", re.A)


def list_pins(file: FileText) -> Iterator[tuple[str, int]]:
    """Yield the names of the packages that a file pins, with their lines."""
    pattern = get_patterns(file.packages).pin
    is_list = _lists_requirements(file.path)
    for number, line in enumerate(file.lines, 1):
        if len(line) > _MAX_LINE or line.lstrip().startswith("#"):
            continue
        match = pattern.search(line)
        requirement = _REQUIREMENT.match(line) if is_list else None
        if match:
            text = match[0].lower()
            yield next((each for each in file.packages if text.startswith(each.lower())), file.packages[0]), number
        elif requirement:
            yield _SEPARATORS.sub("-", requirement[1]).lower(), number


def _lists_requirements(path: str) -> bool:
    name = PurePosixPath(path).name.lower()
    is_text = name.endswith((".txt", ".in")) and ("requirements" in path.lower() or "constraints" in name)
    return is_text or name in {"pyproject.toml", "setup.cfg"}
