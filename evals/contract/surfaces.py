"""``python -m evals.contract.surfaces CLONE``: flags, fields, metrics and the like, by class.

``surfaces.csv`` has what some merges of vLLM change, read from their diffs by hand, before and apart from what the
code finds. A merge without a class changes nothing of the kind. The set ``replay`` are all merges of three days;
``development`` are others that were drawn by the files they touch, for classes that those days lack.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import click

from bot.platform.git.reading import open_clone_trees
from impact.contract.models import ContractClass, FileVersions
from impact.contract.surfaces.comparison import list_surface_changes
from impact.git.clone_trees import CloneTrees
from impact.source.models import BlobChange

FACTS = Path(__file__).parent / "surfaces.csv"
# what the rows about Python measure
_OTHERS = frozenset(
    (
        ContractClass.MODULE,
        ContractClass.FUNCTION,
        ContractClass.CLASS,
        ContractClass.METHOD,
        ContractClass.ATTRIBUTE,
        ContractClass.CONSTANT,
    )
)


@dataclass(frozen=True, slots=True, order=True)
class SurfaceFact:
    subject: str
    kind: str
    name: str


@dataclass(slots=True)
class CheckedMerge:
    sample: str
    number: int
    commit: str
    facts: set[SurfaceFact] = field(default_factory=set)


@dataclass(slots=True)
class ClassFigures:
    sample: str
    subject: str
    right: int = 0
    false: int = 0
    missed: int = 0

    @property
    def precision(self) -> float:
        """The share of rows that are right; 1 if there are none."""
        return self.right / (self.right + self.false) if self.right + self.false else 1.0

    @property
    def recall(self) -> float:
        """The share of facts that have a row; 1 if there are none."""
        return self.right / (self.right + self.missed) if self.right + self.missed else 1.0


def read_merges(path: Path = FACTS) -> list[CheckedMerge]:
    merges: dict[int, CheckedMerge] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            number = int(row["pr"])
            merge = merges.setdefault(number, CheckedMerge(row["set"], number, row["commit"]))
            if row["class"]:
                merge.facts.add(SurfaceFact(row["class"], row["kind"], row["name"]))
    return list(merges.values())


def measure_surfaces(trees: CloneTrees, merges: Iterable[CheckedMerge]) -> tuple[list[ClassFigures], list[str]]:
    """Compare the rows of each merge with the list; return figures by sample and class, and each difference."""
    figures: dict[tuple[str, str], ClassFigures] = {}
    differences: list[str] = []
    checked = {merge.commit: merge for merge in merges}
    line = [commit for commit in trees.list_line() if commit.sha in checked]
    for commit in trees.iterate_commits(line):
        merge = checked[commit.sha]
        versions = [_read_versions(trees, change) for change in commit.changes]
        rows = {
            SurfaceFact(str(row.subject), str(row.kind), row.name)
            for row in list_surface_changes(versions)
            if row.subject not in _OTHERS
        }
        for fact in sorted(rows | merge.facts):
            cell = figures.setdefault((merge.sample, fact.subject), ClassFigures(merge.sample, fact.subject))
            if fact in rows and fact in merge.facts:
                cell.right += 1
                continue
            cell.false += fact in rows
            cell.missed += fact not in rows
            word = "false" if fact in rows else "missed"
            differences.append(f"{word}: {merge.number} {fact.subject} {fact.kind} {fact.name}")
    return [figures[key] for key in sorted(figures)], differences


def _read_versions(trees: CloneTrees, change: BlobChange) -> FileVersions:
    old = trees.read_file(change.old) if change.old else None
    new = trees.read_file(change.new) if change.new else None
    return FileVersions(old, new)


def show_figures(figures: Iterable[ClassFigures], merges: Iterable[CheckedMerge]) -> Iterator[str]:
    counts: dict[str, int] = defaultdict(int)
    for merge in merges:
        counts[merge.sample] += 1
    yield "merges: " + ", ".join(f"{count} {sample}" for sample, count in sorted(counts.items()))
    yield f"{'set':<12} {'class':<27} right false missed precision recall"
    for cell in figures:
        numbers = f"{cell.right:>5} {cell.false:>5} {cell.missed:>6}"
        yield f"{cell.sample:<12} {cell.subject:<27} {numbers} {cell.precision:>9.2f} {cell.recall:>6.2f}"


@click.command()
@click.argument("clone", type=click.Path(exists=True, file_okay=False, path_type=Path))
def main(clone: Path) -> None:
    merges = read_merges()
    with open_clone_trees(clone) as trees:
        figures, differences = measure_surfaces(trees, merges)
    for line in [*differences, *show_figures(figures, merges)]:
        click.echo(line)


if __name__ == "__main__":
    main()
