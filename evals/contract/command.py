"""``python -m evals contract``: contract changes of Python code, measured on the merges of a clone."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import click

from bot.platform.git.reading import open_clone_trees
from evals.contract.facts import PYTHON, Fact, MergeScore, format_scores, read_facts, score_merge, sum_scores
from evals.contract.tree_names import TreeNames
from impact.clones.replay_cache import UpstreamTree
from impact.clones.upstream_line import CloneMerge, read_upstream, read_versions, select_dates
from impact.contract.extraction import extract_contract
from impact.contract.models import ChangeKind, ContractChange, ContractClass, MergeContract
from impact.evaluation.window import EvaluationWindow
from impact.git.clone_trees import CloneTrees
from impact.source.models import BlobVersion
from impact.text.strings import parse_date

_FACTS = Path(__file__).parent / "python.csv"
_FRESH = Path(__file__).parent / "fresh.csv"
_ALL = tuple(ContractClass)
_FRESH_DATES = ("2025-10-01", "2026-01-31")
_LEAST_PRECISION, _LEAST_RECALL = 0.95, 0.85


@click.group("contract")
def contract() -> None:
    """Measure the contract changes that the bot finds in the Python code of a clone."""


@contract.command("facts")
@click.option("--clone", required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--facts", "path", default=_FACTS, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--since", default="2026-02-20", show_default=True, help="First date (UTC) of the merges.")
@click.option("--until", default="2026-03-02", show_default=True, help="Last date (UTC) of the merges.")
def facts(clone: Path, path: Path, since: str, until: str) -> None:
    """Compare the rows of merges with facts that were read by hand; exit 1 below 0.95 or 0.85.

    Then do so for the fresh list, whose figures decide nothing.
    """
    known, fresh = read_facts(path), read_facts(_FRESH)
    with open_clone_trees(clone) as trees:
        scores = _score(trees, (since, until), known, PYTHON)
        fresh_scores = _score(trees, _FRESH_DATES, fresh, _ALL)
    for line in (*format_scores("known", scores), "", *format_scores("fresh", fresh_scores, _ALL)):
        click.echo(line)
    held = all(
        each.precision >= _LEAST_PRECISION and each.recall >= _LEAST_RECALL
        for each in sum_scores(scores.values())
        if each.matched or each.missed or each.extra
    )
    is_whole = len(scores) == len(known) and len(fresh_scores) == len(fresh)
    raise SystemExit(0 if held and is_whole else 1)


@contract.command("removed")
@click.option("--clone", required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--since", default="2025-10-01", show_default=True, help="First date (UTC) of the merges.")
@click.option("--until", default="2026-01-31", show_default=True, help="Last date (UTC) of the merges.")
@click.option("--sample", default=300, show_default=True, help="How many merges are looked at.")
def removed(clone: Path, since: str, until: str, sample: int) -> None:
    """Look up each name that is said to be removed in the tree after the merge; exit 1 if one is there."""
    count, still_there = 0, []
    with open_clone_trees(clone) as trees:
        merges = _read_merges(trees, since, until)
        # the same ones each time
        merges = random.Random(19).sample(merges, min(sample, len(merges)))  # noqa: S311
        for each in _extract(trees, merges):
            names = _list_removed(each)
            names_after = TreeNames(_TextReader(trees, each.commit, is_needed=bool(names)).read)
            still_there += [f"{each.number} {row.name}" for row in names if names_after.has_name(row)]
            count += len(names)
    click.echo(f"{len(merges)} merges, {count} names removed, {len(still_there)} of them still there")
    for line in still_there:
        click.echo(line)
    raise SystemExit(1 if still_there else 0)


class _TextReader:
    def __init__(self, trees: CloneTrees, commit: str, *, is_needed: bool) -> None:
        self._trees = trees
        self._files = trees.list_files(commit) if is_needed else {}

    def read(self, path: str) -> str | None:
        """Return the text of a file, or None if there is none."""
        blob = self._files.get(path)
        return self._trees.read_file(BlobVersion(path, blob)).text if blob else None


def _read_merges(trees: CloneTrees, since: str, until: str) -> list[CloneMerge]:
    window = EvaluationWindow(parse_date(since), parse_date(until))
    return read_upstream(trees, select_dates(trees.list_line(), window)).merges


def _score(
    trees: CloneTrees,
    dates: tuple[str, str],
    known: Mapping[int, tuple[Fact, ...]],
    subjects: Collection[ContractClass],
) -> dict[int, MergeScore]:
    merges = [each for each in _read_merges(trees, *dates) if each.number in known]
    contracts = _extract(trees, merges)
    return {
        each.number: score_merge(each.number, known[each.number], each.changes, subjects) for each in contracts
    }


def _extract(trees: CloneTrees, merges: Collection[CloneMerge]) -> Iterator[MergeContract]:
    tree = UpstreamTree(trees)
    for merge in merges:
        tree.move_to(merge.commit.sha)
        known = MergeContract(merge.number, merge.commit.sha, merge.commit.committed_at, merge.title)
        yield extract_contract(known, list(read_versions(trees, merge.commit)), tree.load_outline)


def _list_removed(contract_: MergeContract) -> list[ContractChange]:
    return [each for each in contract_.changes if each.kind is ChangeKind.REMOVED and each.subject in PYTHON]
