"""What the merges of a local clone change for others."""

from __future__ import annotations

import gc
import os
import signal
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from functools import partial
from itertools import accumulate, pairwise
from multiprocessing import get_context

from impact.clones.kept_readings import KeptReadings
from impact.clones.replay_cache import MAX_OUTLINES, FileCache, UpstreamTree
from impact.clones.upstream_line import (
    UNKNOWN_REPOSITORY,
    CloneMerge,
    is_relevant,
    read_upstream,
    read_versions,
    select_dates,
)
from impact.contract.extraction import extract_contract
from impact.contract.models import MergeContract
from impact.contract.python.python_changes import OutlineReader
from impact.contract.surfaces.comparison import FactsReader
from impact.contract.surfaces.facts import FileFacts
from impact.contract.surfaces.file_facts import read_file_facts
from impact.contract.table import CloneContract, CloneContracts
from impact.errors import ImpactError, UsageError
from impact.evaluation.window import EvaluationWindow
from impact.git.clone_trees import CloneTrees
from impact.history.merge_messages import sort_merges
from impact.history.revert_index import RevertIndex
from impact.history.reverts import select_standing
from impact.python.models import ModuleOutline
from impact.python.outline import build_outline
from impact.repository import Repository
from impact.source.models import SourceFile, TreeCommit

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
        self._facts = FileCache(trees, read_file_facts, MAX_OUTLINES)

    def extract(self, merge: CloneMerge) -> MergeContract:
        """Return what a merge changes. If it is not the next one on its line, this takes a moment longer."""
        commit = merge.commit
        self.tree.advance(commit, merge.parent)
        facts = MergeContract(merge.number, commit.sha, commit.committed_at, merge.title)
        versions = tuple(read_versions(self._trees, commit))
        read, read_facts = self._build_readers(commit)
        find = partial(self._trees.find_lines, commit.sha)
        return extract_contract(facts, versions, self.tree.load_outline, read, read_facts, find)

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
            self._facts.get_value(version)
            return outline

        def read_facts(file: SourceFile | None) -> FileFacts:
            version = known.get((file.path, file.text)) if file and not file.problem else None
            return self._facts.get_value(version) if version else read_file_facts(file)

        return read, read_facts


# --- many merges


def extract_contracts(
    trees: CloneTrees,
    merges: Sequence[CloneMerge],
    progress: Callable[[int, int], None],
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


def _extract_missing(trees: CloneTrees, merges: Sequence[CloneMerge]) -> Iterator[Sequence[MergeContract]]:
    count = min(_MAX_PROCESSES, os.cpu_count() or 1, len(merges) // _LEAST_SHARE)
    if count < 2:
        extractor = ContractExtractor(trees)
        for start in range(0, len(merges), _STEP):
            yield [*map(extractor.extract, merges[start : start + _STEP])]
        return
    # each process goes along its own part of the line: the version before a merge is often that after another one.
    # A fork would share the pipes and threads of this process
    pools = [ProcessPoolExecutor(1, get_context("spawn"), _start_process, (trees,)) for _ in range(count)]
    try:
        futures = [
            pool.submit(_extract_in_process, part[start : start + _STEP])
            for pool, part in zip(pools, _divide_merges(merges, count), strict=True)
            for start in range(0, len(part), _STEP)
        ]
        for future in as_completed(futures):
            yield future.result()
    except BrokenProcessPool as error:
        raise ImpactError("A process that reads merges was ended: is there enough memory?") from error
    finally:
        for pool in pools:
            pool.shutdown(wait=False, cancel_futures=True)


def _divide_merges(merges: Sequence[CloneMerge], count: int) -> list[Sequence[CloneMerge]]:
    """Divide merges into parts of about as many changed files."""
    sums = list(accumulate(1 + len(merge.commit.changes) for merge in merges))
    ends = [bisect_left(sums, sums[-1] * part / count) for part in range(count + 1)]
    return [merges[start:end] for start, end in pairwise([*ends[:-1], len(merges)])]


# the extractor of this process, if it is one of several
_OWN_EXTRACTOR: list[ContractExtractor] = []


def _start_process(trees: CloneTrees) -> None:
    # the process that it works for ends it
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # no value that is kept here is part of a cycle
    gc.disable()
    _OWN_EXTRACTOR.append(ContractExtractor(trees))


def _extract_in_process(merges: Sequence[CloneMerge]) -> list[MergeContract]:
    return list(map(_OWN_EXTRACTOR[0].extract, merges))


def read_clone_contracts(
    trees: CloneTrees,
    dates: EvaluationWindow,
    repository: Repository | None,
    progress: Callable[[int, int], None],
    kept: KeptReadings | None = None,
) -> CloneContracts:
    """Return what each merge of some dates (UTC) changes for others.

    Raises:
        UsageError: the clone can't be read, or has no merge of these dates.
    """
    line = trees.list_line()
    hashes = [commit.sha for commit in select_dates(line, dates)]
    upstream = read_upstream(trees, line, hashes, repository)
    if not upstream.merges:
        raise UsageError(
            f"No pull request was merged from {dates.since} to {dates.until}: choose other "
            "dates or another --branch."
        )
    merges = tuple(upstream.merges.values())
    contracts = [
        CloneContract(contract, merge.parent)
        for contract, merge in zip(extract_contracts(trees, merges, progress, kept), merges, strict=True)
    ]
    known = None if upstream.repository == UNKNOWN_REPOSITORY else upstream.repository
    named = sort_merges((merge.commit for merge in merges), upstream.repository).merges
    return CloneContracts(known, tuple(contracts), select_standing(RevertIndex(named).reverts, named))
