"""Whole files for recorded days: the recorded patches, laid over the files of a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from bot.domain.errors import SourceUnavailable
from bot.domain.pull_requests.diff import DiffSide, split_hunks
from bot.domain.pull_requests.models import ChangedFile, Repository
from bot.domain.source.models import SourceFile, SourceProblem
from evals.context import apply_hunks
from evals.trial.records import RecordedDays


class TreeFiles:
    """``SourceFiles`` of recorded merges: changed files to which every hunk of the record fits, no others.

    ``tree`` is a folder with the files of a release, None if there is none.
    """

    def __init__(self, records: RecordedDays, tree: Path | None) -> None:
        self._records = records
        self._tree = tree

    def read_files(
        self, repository: Repository, commit: str, paths: Sequence[str], side: DiffSide = DiffSide.NEW
    ) -> Mapping[str, SourceFile]:
        """Return the files after a recorded merge. Raise SourceUnavailable without a tree or a record."""
        merge = self._records.find_merge(commit)
        if self._tree is None or merge is None or side is DiffSide.OLD:
            raise SourceUnavailable(f"There are no files of {repository} at {commit} in the records.")
        changes = {file.path: file for file in self._records.load_files(merge).files or ()}
        return {path: _build_file(path, changes.get(path), self._tree) for path in paths}


def _build_file(path: str, change: ChangedFile | None, tree: Path) -> SourceFile:
    before = tree / path
    if change is None or not change.patch or not before.is_file():
        return SourceFile(path, problem=SourceProblem.UNAVAILABLE)
    hunks = list(split_hunks(change.patch))
    after, fitting = apply_hunks(before.read_text(encoding="utf-8").split("\n"), hunks)
    if len(fitting) < len(hunks):
        return SourceFile(path, problem=SourceProblem.UNAVAILABLE)
    return SourceFile(path, "\n".join(after))
