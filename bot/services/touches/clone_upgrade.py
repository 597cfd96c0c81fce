"""The way from a pin to a later commit, read from a local clone of the upstream repository."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache

from bot.domain.contract.deprecations import DeprecationLedger, update_ledger
from bot.domain.contract.extraction import MergeFacts, extract_contract
from bot.domain.contract.models import FileVersions, MergeContract
from bot.domain.errors import UsageError
from bot.domain.history.commits import Commit, sort_commits
from bot.domain.history.outcomes import MergeOutcome, find_outcomes
from bot.domain.history.revert_index import RevertIndex
from bot.domain.history.reverts import Revert, list_reverted_numbers, select_standing
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.domain.python.models import ModuleOutline
from bot.domain.python.outline import build_outline
from bot.domain.source.models import SourceFile
from bot.domain.source.trees import BlobVersion, LineCommit, TreeCommit
from bot.domain.text.strings import quote_input
from bot.domain.touches.upgrade import UpgradeRange
from bot.ports.clone_trees import CloneTrees

ProgressCallback = Callable[[int, int], None]
HEAD = "HEAD"
# outlines of modules that did not change; those of a busy repository take some 50 KB each
_MAX_OUTLINES = 400
# where packages of a repository stand
_SOURCE_FOLDERS = ("", "src/", "lib/", "python/")


class CloneUpgradeReader:
    """Reads what is between two commits of a clone."""

    def __init__(self, trees: CloneTrees, repository: Repository, progress: ProgressCallback) -> None:
        self._trees = trees
        self._repository = repository
        self._progress = progress

    def read_range(self, start: str, end: str = HEAD) -> UpgradeRange:
        """Read the merges after ``start`` up to ``end``.

        Raises:
            UsageError: the clone can't be read, or a commit is not on its branch, or they are in the other order.
        """
        line = self._trees.list_line()
        first, last = self._find_position(line, start), self._find_position(line, end)
        if last < first:
            raise UsageError(f"{quote_input(end)} is before {quote_input(start)}: exchange the commits.")
        on_the_way, later = line[first + 1 : last + 1], line[last + 1 :]
        commits = list(self._trees.iterate_commits(on_the_way))
        pulls = self._sort_pulls([*commits, *self._trees.iterate_commits(later)])
        by_commit = {pull.merge_commit: pull for pull in pulls}
        contracts = tuple(self._read_contracts(line[first].sha, commits, by_commit))
        numbers = frozenset(contract.number for contract in contracts)
        outcomes = find_outcomes(RevertIndex(pulls))
        reverts = _select_reverts(pulls, numbers)
        ledger = update_ledger(DeprecationLedger(), contracts, list_reverted_numbers(reverts))
        return UpgradeRange(
            line[first].sha,
            line[last].sha,
            contracts,
            {each.sha: each.parent for each in on_the_way},
            reverts,
            tuple(_select_regressions(outcomes, numbers)),
            tuple(entry for entry in ledger.entries if not entry.removed_by),
        )

    def _find_position(self, line: Sequence[LineCommit], revision: str) -> int:
        if not line:
            raise UsageError("The clone has no commits.")
        sha = line[-1].sha if revision.upper() == HEAD else self._trees.find_commit(revision)
        positions = {each.sha: at for at, each in enumerate(line)}
        if sha not in positions:
            branch = self._trees.read_facts().branch
            reason = f"not on the branch {branch} of the clone" if sha else "no commit of the clone"
            raise UsageError(f"{quote_input(revision)} is {reason}: take the hash of one that is.")
        return positions[sha]

    def _sort_pulls(self, commits: Sequence[TreeCommit]) -> tuple[PullRequest, ...]:
        plain = (Commit(each.sha, each.committed_at, "", each.message, ()) for each in commits)
        merges = sort_commits(plain, self._repository, self._trees.read_facts().branch)
        return (*merges.pulls, *merges.direct)

    def _read_contracts(
        self, start: str, commits: Sequence[TreeCommit], by_commit: dict[str | None, PullRequest]
    ) -> Iterator[MergeContract]:
        tree = dict(self._trees.list_files(start))
        outlines = OutlineCache(self._trees.read_file)
        for done, commit in enumerate(commits, 1):
            _apply_changes(tree, commit)
            pull = by_commit[commit.sha]
            versions = [
                FileVersions(self._read_side(change.old), self._read_side(change.new)) for change in commit.changes
            ]
            facts = MergeFacts(pull.number, commit.sha, commit.committed_at, pull.title)
            yield extract_contract(facts, versions, outlines.make_loader(tree))
            self._progress(done, len(commits))

    def _read_side(self, version: BlobVersion | None) -> SourceFile | None:
        return self._trees.read_file(version) if version else None


class OutlineCache:
    """Outlines of modules by the hash of their content."""

    def __init__(self, read_file: Callable[[BlobVersion], SourceFile]) -> None:
        self._build = lru_cache(maxsize=_MAX_OUTLINES)(lambda version: _build_outline(read_file(version)))

    def make_loader(self, tree: dict[str, str]) -> Callable[[str], ModuleOutline | None]:
        """Return a function that gives the outline of a module in a tree, None if there is none."""

        def load(module: str) -> ModuleOutline | None:
            for path in _list_paths(module):
                if blob := tree.get(path):
                    outline: ModuleOutline | None = self._build(BlobVersion(path, blob))
                    return outline
            return None

        return load


def _build_outline(file: SourceFile) -> ModuleOutline | None:
    return None if file.problem else build_outline(file.path, file.text)


def _list_paths(module: str) -> Iterator[str]:
    name = module.replace(".", "/")
    for folder in _SOURCE_FOLDERS:
        yield f"{folder}{name}.py"
        yield f"{folder}{name}/__init__.py"


def _apply_changes(tree: dict[str, str], commit: TreeCommit) -> None:
    for change in commit.changes:
        if change.old:
            with suppress(KeyError):
                del tree[change.old.path]
    for change in commit.changes:
        if change.new:
            tree[change.new.path] = change.new.blob


def _select_reverts(pulls: Sequence[PullRequest], numbers: frozenset[int]) -> tuple[Revert, ...]:
    """Return the reverts among the merges on the way that hold at its end."""
    index = RevertIndex(pulls).select(pull.number for pull in pulls if pull.number in numbers)
    return select_standing(index.reverts, index.merges.by_number.values())


def _select_regressions(outcomes: Sequence[MergeOutcome], numbers: frozenset[int]) -> Iterator[MergeOutcome]:
    """Yield what was repaired or reverted only after the end of the way."""
    for outcome in outcomes:
        if outcome.stands and outcome.pull.number in numbers and outcome.by.number not in numbers:
            yield outcome
