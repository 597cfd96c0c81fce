"""Results of a search over the files of a repository at a commit."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class SourceUse:
    """A line of a file with a name in it. ``line`` counts from 1; a long ``text`` is cut."""

    path: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class SourceUses:
    """The lines that were found. Without ``is_complete`` there may be more: a limit ended the search."""

    uses: tuple[SourceUse, ...]
    is_complete: bool


@dataclass(frozen=True, slots=True)
class SourceChange:
    """A commit that changed a path, with the first line of its message. ``committed_at`` is in UTC."""

    commit: str
    committed_at: datetime
    title: str
