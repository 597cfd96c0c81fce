"""How many of a year's known reverts and fixes the bot finds, by titles alone: the pack holds no descriptions."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from bot.domain.errors import UsageError
from bot.domain.history.repairs import find_repairs
from bot.domain.history.reverts import find_reverts
from bot.domain.pull_requests.models import GHOST, PullRequest, Repository
from bot.domain.text.strings import collapse_lines

HISTORY, LABELS = "history-2025.jsonl.gz", "labels-2025.csv"
_REPOSITORY = Repository("vllm-project", "vllm")
Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class RevertDetection:
    """Pairs of a pull request and its revert or fix: those in the labels, and those that the bot finds."""

    expected: frozenset[Pair]
    detected: frozenset[Pair]

    @property
    def correct(self) -> frozenset[Pair]:
        """The pairs that are in the labels and found."""
        return self.expected & self.detected

    @property
    def false_positives(self) -> tuple[Pair, ...]:
        """The pairs that are found and not in the labels."""
        return tuple(sorted(self.detected - self.expected))

    @property
    def missed(self) -> tuple[Pair, ...]:
        """The pairs of pull requests without a correct pair: one of several reverts is enough."""
        seen = {number for number, _ in self.correct}
        return tuple(sorted(pair for pair in self.expected if pair[0] not in seen))

    @property
    def counts(self) -> str:
        """The numbers of pull requests, then of pairs, as text."""
        all_, seen = ({number for number, _ in pairs} for pairs in (self.expected, self.correct))
        pairs = f"pairs: {len(self.expected)} known, {len(self.correct)} found, {len(self.false_positives)} false"
        return f"{len(seen)} of {len(all_)} pull requests; {pairs}"


@dataclass(frozen=True, slots=True)
class Pack:
    """The merges of a year and the detection of their reverts and repairs, from the data pack."""

    pulls: tuple[PullRequest, ...]
    reverts: RevertDetection
    repairs: RevertDetection

    def format_table(self) -> Iterator[str]:
        """Yield the lines of the table: the figures, then the false positives, then the missed pairs."""
        titles = {pull.number: collapse_lines(pull.title) for pull in self.pulls}
        yield f"reverted: {self.reverts.counts}"
        yield f"named fix: {self.repairs.counts}"
        detections = (self.reverts, self.repairs)
        for heading, pairs in (
            ("false", [pair for each in detections for pair in each.false_positives]),
            ("missed", [pair for each in detections for pair in each.missed]),
        ):
            yield f"\n{heading:>6}      by  title of what took it back or repaired it"
            yield from (f"{number:>6}  {by:>6}  {titles.get(by, '(not in the pack)')}" for number, by in pairs)


def load_pack(folder: Path) -> Pack:
    """Read the pack and look for reverts and repairs in it.

    Raises:
        UsageError: the folder holds no such pack.
    """
    try:
        lines = gzip.decompress((folder / HISTORY).read_bytes()).decode().splitlines()
        labels = list(csv.DictReader((folder / LABELS).read_text(encoding="utf-8").splitlines()))
    except FileNotFoundError as error:
        raise UsageError(f"{folder} is no data pack: it needs {HISTORY} and {LABELS}.") from error
    pulls = tuple(_make_pull(json.loads(line)) for line in lines)
    reverts = frozenset((pair.number, pair.by) for pair in find_reverts(pulls))
    repairs = frozenset((pair.number, pair.by) for pair in find_repairs(pulls))
    return Pack(
        pulls,
        RevertDetection(_read_pairs(labels, "reverted_by"), reverts),
        RevertDetection(_read_pairs(labels, "fixed_by"), repairs),
    )


def _make_pull(row: Mapping[str, Any]) -> PullRequest:
    return PullRequest(
        repository=_REPOSITORY,
        number=row["number"],
        title=row["title"],
        body="",
        author=GHOST,
        merged_by=GHOST,
        merged_at=datetime.fromisoformat(row["merged_at"]),
        merge_commit=row["sha"],
        head_commit="",
        additions=sum(file["additions"] for file in row["files"]),
        deletions=sum(file["deletions"] for file in row["files"]),
        changed_files=len(row["files"]),
    )


def _read_pairs(labels: Iterable[Mapping[str, str]], column: str) -> frozenset[Pair]:
    return frozenset((int(row["pr"]), int(by)) for row in labels for by in row[column].split(";") if by)
