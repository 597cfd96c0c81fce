"""Where code is read at a commit."""

from __future__ import annotations

from dataclasses import dataclass

from bot.ports import SourceFiles, SourceSearch


@dataclass(frozen=True, slots=True)
class CodeSources:
    """Where code is read: whole files at a commit, and a search over all of them. Either may be missing."""

    files: SourceFiles | None = None
    search: SourceSearch | None = None


NO_CODE = CodeSources()
