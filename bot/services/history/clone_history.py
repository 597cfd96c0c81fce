"""History of a repository from a local clone: its merges, what was known before each, and what became of them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, time

from bot.domain.evaluation import caveats
from bot.domain.evaluation.labels import HARM_LABEL, REVERTED_LABEL, EvaluationWindow, label_outcomes
from bot.domain.evaluation.models import EvaluationSource
from bot.domain.history.claim_memory import ClaimMemory
from bot.domain.history.commits import BranchCommits, Commit, detect_repository, sort_commits
from bot.domain.history.file_history import FileHistory
from bot.domain.history.repairs import find_repairs
from bot.domain.history.revert_index import RevertIndex
from bot.domain.history.reverts import Revert
from bot.domain.pull_requests.models import Repository, remove_duplicates
from bot.domain.pull_requests.path_classes import PathClasses, PathClassesLookup, get_default_classes
from bot.ports.source.clone import Clone, CloneFacts
from bot.services.history.merge_timeline import build_past
from bot.services.risk.evaluation import MergeHistory

ProgressCallback = Callable[[int, int], None]
# stands for the repository of a clone that does not come from GitHub
_UNKNOWN_REPOSITORY = Repository("local", "clone")


def read_clone_history(
    clone: Clone,
    repository: Repository | None,
    window: EvaluationWindow,
    history_from: dt.date,
    progress: ProgressCallback,
    classes_of: PathClassesLookup = get_default_classes,
) -> MergeHistory:
    """Read the history of a clone.

    Without ``repository``, use that of the clone's origin on GitHub, or else the one that its reverts name.

    Raises:
        UsageError: the clone can't be read.
    """
    facts, since = clone.read_facts(), datetime.combine(history_from, time(), UTC)
    commits = list(clone.iterate_commits(since, progress))
    origin = repository or facts.repository or detect_repository(commits) or _UNKNOWN_REPOSITORY
    merges, classes = sort_commits(commits, origin, facts.branch), classes_of(origin)
    everything = (*merges.pulls, *merges.direct)
    memory = ClaimMemory()
    index = memory.index_pulls(everything)
    return MergeHistory(
        EvaluationSource(str(origin), facts.branch, history_from),
        merges.pulls,
        _build_past(merges, index, memory, classes),
        label_outcomes(everything, index.reverts, find_repairs(index)),
        (REVERTED_LABEL, HARM_LABEL),
        max((commit.committed_at for commit in commits), default=since),
        classes,
        tuple(_list_caveats(facts, commits, merges, index.reverts, window)),
    )


def _list_caveats(
    facts: CloneFacts,
    commits: list[Commit],
    merges: BranchCommits,
    reverts: tuple[Revert, ...],
    window: EvaluationWindow,
) -> Iterator[str]:
    """Yield the caveats about the depth of the clone, its numbered merges, and its reverts."""
    numbered = sum(pull.merge_time in window for pull in merges.pulls)
    yield from caveats.check_clone_depth(is_shallow=facts.is_shallow)
    yield from caveats.check_merge_names(numbered, sum(commit.committed_at in window for commit in commits))
    # if nothing was merged, a lack of reverts explains nothing
    yield from caveats.check_reverts(len(reverts)) if numbered else ()


def _build_past(
    merges: BranchCommits, index: RevertIndex, memory: ClaimMemory, classes: PathClasses
) -> FileHistory:
    """Return the history that a bot would have recorded, and the reverts made without a pull request."""
    direct = (commit for commit in merges.direct if index.is_revert(commit.number))
    return build_past(memory.index_pulls(remove_duplicates([*merges.pulls, *direct])), classes)
