"""What the merges of a local clone change for others."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial

from impact.clones.kept_readings import KeptReadings
from impact.clones.processes import divide, map_apart
from impact.clones.replay_cache import MAX_OUTLINES, UpstreamTree
from impact.clones.tree_scan import ProgressCallback
from impact.clones.upstream_line import (
    UNKNOWN_REPOSITORY,
    CloneMerge,
    is_relevant,
    read_upstream,
    read_versions,
    select_dates,
    select_line,
)
from impact.contract.extraction import extract_contract, list_unread
from impact.contract.models import MergeContract
from impact.contract.python.python_changes import OutlineReader
from impact.contract.surfaces.comparison import FactsReader, read_file_facts
from impact.contract.surfaces.facts import FileFacts
from impact.contract.table import CloneContract, CloneContracts
from impact.errors import UsageError
from impact.evaluation.window import EvaluationWindow
from impact.git.clone_trees import CloneTrees
from impact.history.merges import ClonedMerge
from impact.history.reverts import RevertIndex, select_standing
from impact.python.models import ModuleOutline
from impact.python.outline import build_outline
from impact.repository import Repository
from impact.source.models import LineCommit, SourceFile, TreeCommit
from impact.touches.breakage.suspects import RelevanceFilter, SuspectRange

# merges that are worth another process, which takes half a second to start
_LEAST_SHARE = 25
_MAX_PROCESSES = 4
# merges of one task: after each it is known how far the work is, and what was read is kept
_STEP = 10


class ContractExtractor:
    """Extractor of contract changes, which keeps what it read between merges. ``tree`` is upstream's at one."""

    def __init__(self, trees: CloneTrees) -> None:
        self._trees = trees
        self.tree = UpstreamTree(trees)
        self._read_facts = lru_cache(MAX_OUTLINES)(lambda version: read_file_facts(trees.read_file(version)))

    def extract(self, merge: CloneMerge) -> MergeContract:
        """Return what a merge changes. If it is not the next one on its line, this takes a moment longer."""
        commit = merge.commit
        self.tree.advance(commit, merge.parent)
        facts = MergeContract(merge.number, commit.sha, commit.committed_at, merge.title)
        versions = tuple(read_versions(self._trees, commit))
        read, read_facts = self._build_readers(commit)
        find = partial(self._trees.find_lines, commit.sha)
        return extract_contract(facts, versions, self.tree.load_outline, read, read_facts, find)

    def extract_all(self, merges: Iterable[CloneMerge]) -> list[MergeContract]:
        return [*map(self.extract, merges)]

    def _build_readers(self, commit: TreeCommit) -> tuple[OutlineReader, FactsReader]:
        """Return the functions that give outlines and facts of the changed files from what is kept."""
        known = {
            (version.path, file.text): version
            for change in commit.changes
            for version in (change.old, change.new)
            if version and is_relevant(version.path) and not (file := self._trees.read_file(version)).problem
        }

        def read(path: str, text: str) -> ModuleOutline | None:
            version = known.get((path, text))
            if version is None:
                return build_outline(path, text)
            outline = self.tree.read_outline(version)
            # at once, as long as the syntax tree is there
            self._read_facts(version)
            return outline

        def read_facts(file: SourceFile | None) -> FileFacts:
            version = known.get((file.path, file.text)) if file and not file.problem else None
            return self._read_facts(version) if version else read_file_facts(file)

        return read, read_facts


# --- many merges


def extract_contracts(
    trees: CloneTrees,
    merges: Sequence[CloneMerge],
    progress: ProgressCallback,
    kept: KeptReadings | None = None,
) -> list[MergeContract]:
    """Return what each of some merges of a line changes: from what is kept, or from as many processes as pay off.

    Raises:
        ImpactError: the clone can't be read, or a process ended.
    """
    contracts = kept.contracts.load([merge.commit.sha for merge in merges]) if kept else {}
    missing = [merge for merge in merges if merge.commit.sha not in contracts]
    is_long = len(merges) >= 2 * _LEAST_SHARE
    progress(len(contracts), len(merges))
    for some in _extract_missing(trees, missing):
        fresh = {each.commit: each for each in some}
        contracts |= fresh
        if kept and is_long:
            # at once: who gives up has the time back at the next attempt
            kept.contracts.keep(fresh)
        progress(len(contracts), len(merges))
    # the number and title are what the messages say now
    return [replace(contracts[each.commit.sha], number=each.number, title=each.title) for each in merges]


def _extract_missing(trees: CloneTrees, merges: Sequence[CloneMerge]) -> Iterator[list[MergeContract]]:
    count = min(_MAX_PROCESSES, os.cpu_count() or 1, len(merges) // _LEAST_SHARE)
    # each process goes along its own part of the line: the version before a merge is often that after another one
    parts = divide(merges, [1 + len(merge.commit.changes) for merge in merges], max(count, 1))
    steps = [[part[start : start + _STEP] for start in range(0, len(part), _STEP)] for part in parts]
    if count < 2:
        yield from map(ContractExtractor(trees).extract_all, steps[0])
    else:
        yield from map_apart(_start_extractor, (trees,), steps)


def _start_extractor(trees: CloneTrees) -> Callable[[Sequence[CloneMerge]], list[MergeContract]]:
    # no value that is kept in such a process is part of a cycle
    gc.disable()
    return ContractExtractor(trees).extract_all


def read_clone_contracts(
    trees: CloneTrees,
    dates: EvaluationWindow,
    repository: Repository | None,
    progress: ProgressCallback,
    kept: KeptReadings | None = None,
) -> CloneContracts:
    """Return what each merge of some dates (UTC) changes for others.

    Raises:
        UsageError: the clone can't be read, or has no merge of these dates.
    """
    upstream = read_upstream(trees, select_dates(trees.list_line(), dates), repository)
    merges = upstream.merges
    if not merges:
        raise UsageError(
            f"No pull request was merged from {dates.since} to {dates.until}: choose other "
            "dates or another --branch."
        )
    contracts = [
        CloneContract(contract, merge.parent)
        for contract, merge in zip(extract_contracts(trees, merges, progress, kept), merges, strict=True)
    ]
    known = None if upstream.repository == UNKNOWN_REPOSITORY else upstream.repository
    named = [merge for merge in upstream.named if merge.number > 0]
    return CloneContracts(known, tuple(contracts), select_standing(RevertIndex(named).reverts, named))


# --- what may explain an error


def read_clone_range(
    trees: CloneTrees, since: str, until: str, relevance: RelevanceFilter, progress: ProgressCallback
) -> SuspectRange:
    """Read the contracts of the merges after ``since`` until ``until``: hashes, dates in UTC, or HEAD.

    Raises UsageError: the clone can't be read, or an end isn't in it.
    """
    return read_contracts(trees, select_line(trees, since, until), relevance, progress)


def read_contracts(
    trees: CloneTrees,
    line: Sequence[LineCommit],
    relevance: RelevanceFilter,
    progress: ProgressCallback,
    is_wanted: Callable[[ClonedMerge], bool] = lambda merge: True,
) -> SuspectRange:
    """Read the contracts of commits of a line.

    Those of merges that can't have to do with the error stay empty: to read one takes as long as to filter fifty.
    """
    upstream = read_upstream(trees, line, counts_lines=False)
    merges = {merge.merge_commit: merge for merge in upstream.named if is_wanted(merge)}
    tree = UpstreamTree(trees)
    contracts = []
    for done, each in enumerate(upstream.every, 1):
        commit = each.commit
        tree.advance(commit, each.parent)
        if commit.sha in merges:
            facts = MergeContract(each.number, commit.sha, commit.committed_at, each.title)
            versions = list(read_versions(trees, commit))
            if relevance.is_relevant(versions):
                contracts.append(extract_contract(facts, versions, tree.load_outline))
            else:
                unread = tuple(dict.fromkeys(list_unread(versions)))
                contracts.append(replace(facts, files=commit.paths, unread=unread))
        progress(done, len(upstream.every))
    return SuspectRange.build(contracts, [*merges.values()])
