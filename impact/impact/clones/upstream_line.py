"""The merges of an upstream clone, with both versions of each file that they changed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from pathlib import PurePosixPath

from impact.contract.models import FileVersions
from impact.errors import UsageError
from impact.evaluation.window import EvaluationWindow
from impact.git.clone_trees import CloneTrees
from impact.history.merges import ClonedMerge, detect_reference, detect_repository, sort_merges
from impact.repository import Repository
from impact.source.models import LineCommit, TreeCommit
from impact.text.strings import collapse_lines, parse_date, quote_input

HEAD = "HEAD"
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
# stands for the repository of a clone that does not say where it comes from
UNKNOWN_REPOSITORY = Repository("local", "clone")
# files that hold what others depend on: code, settings, interfaces, images, lists of dependencies
_SUFFIXES = frozenset(
    ".py .pyi .toml .cfg .ini .txt .in .yaml .yml .json .proto .tpl .sh .md".split()
    + ".c .cc .cpp .cu .cuh .h .hpp .hip .rs".split()
)
_NAMES = ("Dockerfile", "Containerfile", "Makefile", "CMakeLists.txt")
# files of one merge: a reformatting of everything changes no contract that would be read one by one
_MAX_FILES = 1_500


@dataclass(frozen=True, slots=True)
class CloneMerge:
    """A merge of the line of an upstream clone. ``parent`` is the commit before it."""

    number: int
    title: str
    commit: TreeCommit
    parent: str


@dataclass(frozen=True, slots=True)
class UpstreamCommits:
    """Commits of the line of a clone with what they changed, and the same as merges of pull requests.

    Those that name no pull request have negative numbers.
    """

    repository: Repository
    every: Sequence[CloneMerge]
    named: Sequence[ClonedMerge]

    @property
    def merges(self) -> list[CloneMerge]:
        """The commits that name a pull request."""
        return [replace(each, title=collapse_lines(each.title)) for each in self.every if each.number > 0]

    @property
    def title(self) -> str:
        """The name of the repository; empty if nothing says it."""
        return "" if self.repository == UNKNOWN_REPOSITORY else str(self.repository)


def read_upstream(
    trees: CloneTrees,
    line: Sequence[LineCommit],
    repository: Repository | None = None,
    *,
    counts_lines: bool = True,
) -> UpstreamCommits:
    """Read commits of a line.

    Without ``repository``, use the one that merges and reverts name, or that of the origin.
    """
    commits = list(trees.iterate_commits(line, counts_lines=counts_lines))
    repository = repository or detect_upstream(trees, commits)
    sorted_ = sort_merges(commits, repository)
    named = (*sorted_.merges, *sorted_.direct)
    by_commit = {merge.merge_commit: merge for merge in named}
    pairs = ((each, by_commit[each.sha], parent.parent) for each, parent in zip(commits, line, strict=True))
    every = [CloneMerge(merge.number, merge.title, each, parent) for each, merge, parent in pairs]
    return UpstreamCommits(repository, every, named)


def detect_upstream(trees: CloneTrees, commits: Iterable[TreeCommit]) -> Repository:
    """Return the repository whose pull requests the commits merge: a fork has another origin."""
    messages = [commit.message for commit in commits]
    named = detect_repository(messages) or detect_reference(messages)
    return named or trees.read_facts().repository or UNKNOWN_REPOSITORY


def select_dates(line: Iterable[LineCommit], window: EvaluationWindow) -> list[LineCommit]:
    """Return the commits of a line within dates (UTC, both included)."""
    return [commit for commit in line if commit.committed_at in window]


def select_range(line: Sequence[LineCommit], old: str, new: str) -> list[LineCommit]:
    """Return the commits of a line after ``old`` up to ``new``; none if one of them is not on it."""
    places = {commit.sha: place for place, commit in enumerate(line)}
    if old not in places or new not in places:
        return []
    return list(line[places[old] + 1 : places[new] + 1])


def read_versions(trees: CloneTrees, commit: TreeCommit) -> Iterator[FileVersions]:
    """Yield both versions of each changed file that may hold what others depend on."""
    changes = [change for change in commit.changes if is_relevant(change.path)]
    for change in changes[:_MAX_FILES]:
        old, new = (trees.read_file(side) if side else None for side in (change.old, change.new))
        yield FileVersions(old, new)


def is_relevant(path: str) -> bool:
    """Return whether a file may hold what others depend on, by its name."""
    name = PurePosixPath(path)
    return name.suffix in _SUFFIXES or name.name.startswith(_NAMES)


# --- places on the line


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
