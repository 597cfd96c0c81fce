"""The record of a repository's merges and their outcomes, in two files."""

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
from bot.domain.pull_requests.models import GHOST, Account, ChangedFile, PullRequest, Repository
from bot.domain.pull_requests.path_classes import DEFAULT_PATH_CLASSES
from bot.services.risk.evaluation import MergeHistory

# H, or a fix that deletes lines of it within two weeks
REPAIRED_LABEL = "Y"
LABELS = (REVERTED_LABEL, HARM_LABEL, REPAIRED_LABEL)
REPOSITORY = Repository("vllm-project", "vllm")
# label columns, with their labels and the column of their time; szz_fix_by has no time
_COLUMNS = {
    "reverted_by": ({REVERTED_LABEL, HARM_LABEL, REPAIRED_LABEL}, "reverted_at"),
    "fixed_by": ({HARM_LABEL, REPAIRED_LABEL}, "fixed_at"),
    "szz_fix_by": ({REPAIRED_LABEL}, ""),
}


def read_history(folder: Path, *, by_titles: bool = False) -> MergeHistory:
    """Read the record in a folder. The rules know its labelled reverts, or with ``by_titles`` those in titles.

    Raises:
        UsageError: the record is not there.
    """
    try:
        pulls, outcomes = read_pulls(folder), read_outcomes(folder)
    except FileNotFoundError as error:
        raise UsageError(f"{error.filename} is not there: give --pack the folder of the record.") from error
    source = EvaluationSource(str(REPOSITORY), "main", pulls[0].merge_time.date())
    # all labels were mature when they were made
    last = datetime.max.replace(tzinfo=UTC)
    reverts = find_outcomes(pulls) if by_titles else tuple(_iterate_first_reverts(pulls, folder))
    return MergeHistory(source, pulls, FileHistory(pulls, reverts, DEFAULT_PATH_CLASSES), outcomes, LABELS, last)


def read_pulls(folder: Path) -> tuple[PullRequest, ...]:
    """Read the merges, oldest first."""
    with gzip.open(folder / "history-2025.jsonl.gz", "rt", encoding="utf-8") as lines:
        return tuple(_make_pull(json.loads(line)) for line in lines)


def read_outcomes(folder: Path) -> dict[int, LabelledOutcome]:
    """Read the outcomes by number; pull requests without one are absent."""
    return dict(_iterate_outcomes(_iterate_rows(folder)))


def _iterate_first_reverts(pulls: Iterable[PullRequest], folder: Path) -> Iterator[MergeOutcome]:
    """Yield the first revert of each; all that is known of it is when it was merged."""
    by_number = {pull.number: pull for pull in pulls}
    for row in _iterate_rows(folder):
        if row["reverted_at"]:
            pull = by_number[int(row["pr"])]
            at = datetime.fromisoformat(row["reverted_at"])
            yield MergeOutcome(pull, replace(pull, number=0, merged_at=at))


def _iterate_rows(folder: Path) -> Iterator[Mapping[str, str]]:
    with (folder / "labels-2025.csv").open(encoding="utf-8", newline="") as lines:
        yield from csv.DictReader(lines)


def _make_pull(row: Mapping[str, Any]) -> PullRequest:
    files = tuple(
        ChangedFile(
            file["path"], file["status"], file["additions"], file["deletions"], None, file.get("previous_path")
        )
        for file in row["files"]
    )
    return PullRequest(
        repository=REPOSITORY,
        number=row["number"],
        title=row["title"],
        body="",
        author=Account(row["author"]),
        merged_by=GHOST,
        merged_at=datetime.fromisoformat(row["merged_at"]),
        merge_commit=row["sha"],
        head_commit=row["sha"],
        additions=sum(file.additions for file in files),
        deletions=sum(file.deletions for file in files),
        changed_files=len(files),
        base="main",
        files=files,
    )


def _iterate_outcomes(rows: Iterable[Mapping[str, str]]) -> Iterator[tuple[int, LabelledOutcome]]:
    for row in rows:
        entries = [_COLUMNS[column] for column in _COLUMNS if row[column]]
        labels = frozenset(label for labels, _ in entries for label in labels)
        times = [datetime.fromisoformat(row[at]) for _, at in entries if at]
        if labels:
            yield int(row["pr"]), LabelledOutcome(labels, min(times, default=None))
