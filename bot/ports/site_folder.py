"""Interface to the folder of a static site."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class SiteFolder(Protocol):
    """Files of a site by their paths, such as ``days/2026-02-28.html``. Every method may raise UsageError.

    Nobody else writes into the folder at the same time. A file is there as a whole or not at all.
    """

    def read_file(self, path: str) -> bytes | None:
        """Return the content of a file, None if there is none."""

    def write_file(self, path: str, content: bytes) -> bool:
        """Write a file unless it has this content; return whether it was written."""

    def list_names(self, folder: str) -> Sequence[str]:
        """List the names in a folder, sorted; none if it is missing."""
