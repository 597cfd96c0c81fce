"""The record of a repository's merges and of what became of them, in two files."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bot.domain.errors import UsageError
from bot.domain.evaluation.labels import HARM_LABEL, REVERTED_LABEL, LabelledOutcome
from bot.domain.evaluation.models import EvaluationSource
from bot.domain.history.file_history import FileHistory
from bot.domain.history.outcomes import MergeOutcome, find_outcomes
from bot.domain.history.revert_index import RevertIndex
from bot.domain.pull_requests.models import GHOST, Account, ChangedFile, PullRequest, Repository
from bot.domain.pull_requests.path_classes import DEFAULT_PATH_CLASSES
from bot.services.risk.evaluation import MergeHistory

# H, or a fix that deletes lines of it within two weeks
REPAIRED = "Y"
LABELS = (REVERTED_LABEL, HARM_LABEL, REPAIRED)
REPOSITORY = Repository("vllm-project", "vllm")
# each label column with what it says, and the column that says since when; what a fix deletes says no time
_COLUMNS = {
    "reverted_by": ({REVERTED_LABEL, HARM_LABEL, REPAIRED}, "reverted_at"),
    "fixed_by": ({HARM_LABEL, REPAIRED}, "fixed_at"),
    "szz_fix_by": ({REPAIRED}, ""),
}


def history_in(folder: Path, *, by_titles: bool = False) -> MergeHistory:
    """The record in a folder. What the rules look back at are its reverts, or those that titles name.

    Raises:
        UsageError: the record is not there.
    """
    try:
        pulls, outcomes = pulls_in(folder), outcomes_in(folder)
    except FileNotFoundError as error:
        raise UsageError(f"{error.filename} is not there: give --pack the folder of the record.") from error
    source = EvaluationSource(str(REPOSITORY), "main", pulls[0].merge_time.date())
    # the labels were made when the last of them was mature
    last = datetime.max.replace(tzinfo=UTC)
    known = find_outcomes(RevertIndex(pulls)) if by_titles else tuple(_reverts(pulls, folder))
    return MergeHistory(source, pulls, FileHistory(pulls, known, DEFAULT_PATH_CLASSES), outcomes, LABELS, last)


def pulls_in(folder: Path) -> tuple[PullRequest, ...]:
    """The merges, oldest first."""
    with gzip.open(folder / "history-2025.jsonl.gz", "rt", encoding="utf-8") as lines:
        return tuple(_pull(json.loads(line)) for line in lines)


def outcomes_in(folder: Path) -> dict[int, LabelledOutcome]:
    """What happened to them, by number; nothing of those to which nothing did."""
    return dict(_outcomes(_rows(folder)))


def _reverts(pulls: Iterable[PullRequest], folder: Path) -> Iterator[MergeOutcome]:
    """The first revert of each; of it no more is known than when it was merged."""
    by_number = {pull.number: pull for pull in pulls}
    for row in _rows(folder):
        if row["reverted_at"]:
            pull = by_number[int(row["pr"])]
            at = datetime.fromisoformat(row["reverted_at"])
            yield MergeOutcome(pull, replace(pull, number=0, merged_at=at))


def _rows(folder: Path) -> Iterator[Mapping[str, str]]:
    with (folder / "labels-2025.csv").open(encoding="utf-8", newline="") as lines:
        yield from csv.DictReader(lines)


def _pull(said: Mapping[str, Any]) -> PullRequest:
    files = tuple(
        ChangedFile(
            file["path"], file["status"], file["additions"], file["deletions"], None, file.get("previous_path")
        )
        for file in said["files"]
    )
    return PullRequest(
        repository=REPOSITORY,
        number=said["number"],
        title=said["title"],
        body="",
        author=Account(said["author"]),
        merged_by=GHOST,
        merged_at=datetime.fromisoformat(said["merged_at"]),
        merge_commit=said["sha"],
        head_commit=said["sha"],
        additions=sum(file.additions for file in files),
        deletions=sum(file.deletions for file in files),
        changed_files=len(files),
        base="main",
        files=files,
    )


def _outcomes(rows: Iterable[Mapping[str, str]]) -> Iterator[tuple[int, LabelledOutcome]]:
    for row in rows:
        said = [_COLUMNS[column] for column in _COLUMNS if row[column]]
        labels = frozenset(label for labels, _ in said for label in labels)
        times = [datetime.fromisoformat(row[at]) for _, at in said if at]
        if labels:
            yield int(row["pr"]), LabelledOutcome(labels, min(times, default=None))
