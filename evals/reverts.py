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
from bot.domain.history.revert_index import RevertIndex
from bot.domain.pull_requests.models import GHOST, PullRequest, Repository
from bot.domain.text.strings import collapse_lines

HISTORY, LABELS = "history-2025.jsonl.gz", "labels-2025.csv"
_REPOSITORY = Repository("vllm-project", "vllm")
Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Found:
    """Pairs of a pull request and what took it back: those known, and those the bot finds."""

    known: frozenset[Pair]
    found: frozenset[Pair]

    @property
    def right(self) -> frozenset[Pair]:
        return self.known & self.found

    @property
    def false(self) -> tuple[Pair, ...]:
        return tuple(sorted(self.found - self.known))

    @property
    def missed(self) -> tuple[Pair, ...]:
        """The pairs of pull requests of which no revert was found: one of several says enough."""
        seen = {number for number, _ in self.right}
        return tuple(sorted(pair for pair in self.known if pair[0] not in seen))

    @property
    def counts(self) -> str:
        """Pull requests, then pairs."""
        all_, seen = ({number for number, _ in pairs} for pairs in (self.known, self.right))
        pairs = f"pairs: {len(self.known)} known, {len(self.right)} found, {len(self.false)} false"
        return f"{len(seen)} of {len(all_)} pull requests; {pairs}"


@dataclass(frozen=True, slots=True)
class Pack:
    """The merges of a year and what is known of them, from the data pack."""

    pulls: tuple[PullRequest, ...]
    reverts: Found
    repairs: Found

    def table(self) -> Iterator[str]:
        """The figures, then what was found though it is not so, then what was missed."""
        titles = {pull.number: collapse_lines(pull.title) for pull in self.pulls}
        yield f"reverted: {self.reverts.counts}"
        yield f"named fix: {self.repairs.counts}"
        found = (self.reverts, self.repairs)
        for heading, pairs in (
            ("false", [pair for each in found for pair in each.false]),
            ("missed", [pair for each in found for pair in each.missed]),
        ):
            yield f"\n{heading:>6}      by  title of what took it back or repaired it"
            yield from (f"{number:>6}  {by:>6}  {titles.get(by, '(not in the pack)')}" for number, by in pairs)


def load(folder: Path) -> Pack:
    """Read the pack and look for reverts and repairs in it.

    Raises:
        UsageError: the folder holds no such pack.
    """
    try:
        lines = gzip.decompress((folder / HISTORY).read_bytes()).decode().splitlines()
        labels = list(csv.DictReader((folder / LABELS).read_text(encoding="utf-8").splitlines()))
    except FileNotFoundError as error:
        raise UsageError(f"{folder} is no data pack: it needs {HISTORY} and {LABELS}.") from error
    pulls = tuple(_pull(json.loads(line)) for line in lines)
    index = RevertIndex(pulls)
    reverts = frozenset((found.number, found.by) for found in index.reverts)
    repairs = frozenset((found.number, found.by) for found in find_repairs(index))
    return Pack(pulls, Found(_pairs(labels, "reverted_by"), reverts), Found(_pairs(labels, "fixed_by"), repairs))


def _pull(row: Mapping[str, Any]) -> PullRequest:
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


def _pairs(labels: Iterable[Mapping[str, str]], column: str) -> frozenset[Pair]:
    return frozenset((int(row["pr"]), int(by)) for row in labels for by in row[column].split(";") if by)
