"""What the merges of a local clone change for others."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from impact.clones.replay_cache import UpstreamTree
from impact.clones.upstream_line import UNKNOWN_REPOSITORY, CloneMerge, read_upstream, read_versions, select_dates
from impact.contract.extraction import MergeFacts, extract_contract
from impact.contract.models import MergeContract
from impact.contract.python.python_changes import OutlineReader
from impact.contract.table import CloneContract, CloneContracts
from impact.errors import UsageError
from impact.evaluation.window import EvaluationWindow
from impact.git.clone_trees import CloneTrees
from impact.history.merge_messages import sort_merges
from impact.history.revert_index import RevertIndex
from impact.history.reverts import Revert, select_standing
from impact.python.models import ModuleOutline
from impact.python.module_names import is_python
from impact.python.outline import build_outline
from impact.repository import Repository
from impact.source.trees import TreeCommit


class ContractExtractor:
    """Extractor of contract changes, which keeps what it read between merges. ``tree`` is upstream's at one."""

    def __init__(self, trees: CloneTrees) -> None:
        self._trees = trees
        self.tree = UpstreamTree(trees)

    def extract(self, merge: CloneMerge) -> MergeContract:
        """Return what a merge changes. If it is not the next one on its line, this takes a moment longer."""
        commit = merge.commit
        self.tree.advance(commit, merge.parent)
        facts = MergeFacts(merge.number, commit.sha, commit.committed_at, merge.title)
        versions = tuple(read_versions(self._trees, commit))
        return extract_contract(facts, versions, self.tree.load_outline, self._build_reader(commit))

    def _build_reader(self, commit: TreeCommit) -> OutlineReader:
        """Return the function that gives outlines of the changed files from what is kept."""
        known = {
            (version.path, self._trees.read_file(version).text): version
            for change in commit.changes
            for version in (change.old, change.new)
            if version and is_python(version.path)
        }

        def read(path: str, text: str) -> ModuleOutline | None:
            version = known.get((path, text))
            return self.tree.read_outline(version) if version else build_outline(path, text)

        return read


def read_clone_contracts(
    trees: CloneTrees,
    dates: EvaluationWindow,
    repository: Repository | None,
    progress: Callable[[int, int], None],
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
    extractor = ContractExtractor(trees)
    contracts = []
    for merge in upstream.merges.values():
        contracts.append(CloneContract(extractor.extract(merge), merge.parent))
        progress(len(contracts), len(upstream.merges))
    known = None if upstream.repository == UNKNOWN_REPOSITORY else upstream.repository
    reverts = _find_reverts([merge.commit for merge in upstream.merges.values()], upstream.repository)
    return CloneContracts(known, tuple(contracts), reverts)


def _find_reverts(commits: Iterable[TreeCommit], repository: Repository) -> tuple[Revert, ...]:
    """Return the reverts among merges that hold, by what their messages say."""
    merges = sort_merges(commits, repository).merges
    return select_standing(RevertIndex(merges).reverts, merges)
