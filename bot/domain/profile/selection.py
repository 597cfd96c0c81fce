"""Which files of a team's tree are scanned."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from bot.domain.source.listing import TreeFile
from impact.profile.file_uses import is_scanned
from impact.source.models import MAX_SOURCE_BYTES

# what a team adds and ignores by hand, reviewed as its other files are
MANUAL_FILE = ".prdigest-profile.yaml"
# of others, and not the team's to change
_FOREIGN = frozenset({"node_modules", "third_party", "third-party", "vendor", ".git"})
# dashboards are JSON and have some 200 KB; larger data files use nothing
_MAX_DATA_BYTES = 300_000


def select_scanned(files: Iterable[TreeFile]) -> list[TreeFile]:
    """Return the files that may use an upstream repository, Python first, then by path."""
    chosen = (file for file in files if _is_scanned(file))
    return sorted(chosen, key=lambda file: (not file.path.endswith((".py", ".pyi")), file.path))


def _is_scanned(file: TreeFile) -> bool:
    path = PurePosixPath(file.path)
    if not _FOREIGN.isdisjoint(path.parts[:-1]) or file.size > MAX_SOURCE_BYTES:
        return False
    suffix = path.suffix.lower()
    if suffix == ".json" and file.size > _MAX_DATA_BYTES:
        return False
    return is_scanned(file.path)
