"""``python -m evals reverts``: how many of a year's known reverts and fixes the bot finds, by titles alone.

The record holds no descriptions.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from bot.features.merges.outcomes import RevertIndex
from bot.platform.pulls.models import PullRequest
from evals.merges import PACK, read_labels, read_pulls
from impact.history.outcomes import find_repairs
from impact.text.strings import collapse_lines

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class RevertDetection:
    """Pairs of a pull request and its revert or fix: those in the labels, and those that the bot finds."""

    expected: frozenset[Pair]
    detected: frozenset[Pair]

    @property
    def correct(self) -> frozenset[Pair]:
        return self.expected & self.detected

    @property
    def false_positives(self) -> tuple[Pair, ...]:
        return tuple(sorted(self.detected - self.expected))

    @property
    def missed(self) -> tuple[Pair, ...]:
        """The pairs of pull requests without a correct pair: one of several reverts is enough."""
        seen = {number for number, _ in self.correct}
        return tuple(sorted(pair for pair in self.expected if pair[0] not in seen))

    @property
    def counts(self) -> str:
        all_, seen = ({number for number, _ in pairs} for pairs in (self.expected, self.correct))
        pairs = f"pairs: {len(self.expected)} known, {len(self.correct)} found, {len(self.false_positives)} false"
        return f"{len(seen)} of {len(all_)} pull requests; {pairs}"


@dataclass(frozen=True, slots=True)
class Pack:
    pulls: tuple[PullRequest, ...]
    reverts: RevertDetection
    repairs: RevertDetection


@click.command("reverts")
@click.argument("folder", default=PACK, type=click.Path(path_type=Path))
def reverts(folder: Path) -> None:
    """Look for the known reverts and fixes of the record in FOLDER; exit 1 where one was found that is none."""
    pack = load_pack(folder)
    click.echo("\n".join(format_table(pack)))
    sys.exit(1 if pack.reverts.false_positives else 0)


def load_pack(folder: Path) -> Pack:
    """Read a record and look for reverts and repairs in it. Raises UsageError."""
    pulls, rows = read_pulls(folder), read_labels(folder)
    index = RevertIndex(pulls)
    reverted = frozenset((pair.number, pair.by) for pair in index.reverts)
    repaired = frozenset((pair.number, pair.by) for pair in find_repairs(index))
    return Pack(
        pulls,
        RevertDetection(_read_pairs(rows, "reverted_by"), reverted),
        RevertDetection(_read_pairs(rows, "fixed_by"), repaired),
    )


def _read_pairs(rows: Sequence[Mapping[str, str]], column: str) -> frozenset[Pair]:
    return frozenset((int(row["pr"]), int(by)) for row in rows for by in row[column].split(";") if by)


def format_table(pack: Pack) -> Iterator[str]:
    """Yield the lines of the table: the figures, then the false positives, then the missed pairs."""
    titles = {pull.number: collapse_lines(pull.title) for pull in pack.pulls}
    yield f"reverted: {pack.reverts.counts}"
    yield f"named fix: {pack.repairs.counts}"
    for heading, pairs in (
        ("false", (*pack.reverts.false_positives, *pack.repairs.false_positives)),
        ("missed", (*pack.reverts.missed, *pack.repairs.missed)),
    ):
        yield f"\n{heading:>6}      by  title of what took it back or repaired it"
        yield from (f"{number:>6}  {by:>6}  {titles.get(by, '(not in the pack)')}" for number, by in pairs)
