"""The contracts of the merges between two commits of a local clone."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta

from impact.clones.replay_cache import UpstreamTree
from impact.clones.tree_scan import ProgressCallback
from impact.clones.upstream_line import detect_upstream, read_versions
from impact.contract.extraction import extract_contract, list_unread
from impact.contract.models import MergeContract
from impact.contract.python.snapshots import OutlineLoader
from impact.errors import UsageError
from impact.git.clone_trees import CloneTrees
from impact.history.merge_messages import sort_merges
from impact.history.merges import ClonedMerge
from impact.source.models import LineCommit, TreeCommit
from impact.text.strings import parse_date, quote_input
from impact.touches.breakage.suspects import RelevanceFilter, SuspectRange

HEAD = "HEAD"
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


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
    commits = list(trees.iterate_commits(line))
    named = sort_merges(commits, detect_upstream(trees, commits))
    # direct commits have negative numbers
    merges = {merge.merge_commit: merge for merge in (*named.merges, *named.direct)}
    parents = {commit.sha: commit.parent for commit in line}
    tree = UpstreamTree(trees)
    contracts = []
    for done, commit in enumerate(commits, 1):
        tree.advance(commit, parents[commit.sha])
        if is_wanted(merges[commit.sha]):
            contracts.append(_read_contract(trees, commit, merges[commit.sha], relevance, tree.load_outline))
        progress(done, len(commits))
    selected = [merge for merge in merges.values() if is_wanted(merge)]
    return SuspectRange.build(contracts, selected)


def select_line(trees: CloneTrees, since: str, until: str) -> tuple[LineCommit, ...]:
    """Return the commits of the branch after ``since`` until ``until``, oldest first. Raises UsageError."""
    first, last = find_places(trees, since, until)
    return trees.list_line()[first:last]


def find_places(trees: CloneTrees, since: str, until: str) -> tuple[int, int]:
    """Return how many commits of the branch come up to each of two ends. Raises UsageError."""
    first, last = find_place(trees, since), find_place(trees, until)
    if first > last:
        raise UsageError(f"{quote_input(since)} comes after {quote_input(until)}: exchange them.")
    return first, last


def find_place(trees: CloneTrees, end: str) -> int:
    """Return how many commits of the branch come up to a hash, a tag, HEAD, or a date (UTC) with its whole day."""
    line = trees.list_line()
    if end.upper() == HEAD:
        return len(line)
    if _DATE.fullmatch(end):
        instant = datetime.combine(parse_date(end) + timedelta(days=1), time(), UTC)
        return sum(commit.committed_at < instant for commit in line)
    sha = trees.find_commit(end) or trees.find_tag(end)
    for place, commit in enumerate(line, 1):
        if commit.sha == sha:
            return place
    branch = trees.read_facts().branch
    reason = f"not on the branch {branch} of the clone" if sha else "no commit and no tag of the clone"
    raise UsageError(f"{quote_input(end)} is {reason}: take the hash of one that is.")


def _read_contract(
    trees: CloneTrees, commit: TreeCommit, merge: ClonedMerge, relevance: RelevanceFilter, load: OutlineLoader
) -> MergeContract:
    """Return what a merge changes for others; only its files if it isn't relevant."""
    versions = list(read_versions(trees, commit))
    facts = MergeContract(merge.number, commit.sha, commit.committed_at, merge.title)
    if relevance.is_relevant(versions):
        return extract_contract(facts, versions, load)
    return replace(facts, files=commit.paths, unread=tuple(dict.fromkeys(list_unread(versions))))
