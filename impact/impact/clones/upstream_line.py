"""The merges of an upstream clone, with both versions of each file that they changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from impact.contract.models import FileVersions
from impact.evaluation.window import EvaluationWindow
from impact.git.clone_trees import CloneTrees
from impact.history.merge_messages import detect_reference, detect_repository, parse_merge_message
from impact.repository import Repository
from impact.source.models import LineCommit, TreeCommit
from impact.text.strings import collapse_lines

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
class UpstreamLine:
    """The line of an upstream clone: all its commits, and by hash the merges that were asked for."""

    repository: Repository
    line: tuple[LineCommit, ...]
    merges: Mapping[str, CloneMerge]

    @property
    def title(self) -> str:
        """The name of the repository; empty if nothing says it."""
        return "" if self.repository == UNKNOWN_REPOSITORY else str(self.repository)


def read_upstream(
    trees: CloneTrees,
    line: Sequence[LineCommit],
    commit_hashes: Iterable[str],
    repository: Repository | None = None,
) -> UpstreamLine:
    """Read the merges among the ``commit_hashes`` commits of a line, by hash.

    Without ``repository``, use the one that merges and reverts name, or that of the origin.
    """
    hashes = set(commit_hashes)
    parents = {commit.sha: commit.parent for commit in line}
    commits = list(trees.iterate_commits([commit for commit in line if commit.sha in hashes]))
    named = repository or detect_upstream(trees, commits)
    merges: dict[str, CloneMerge] = {}
    numbers: set[int] = set()
    for commit in commits:
        reference = parse_merge_message(commit.message, named)
        if reference and reference.number not in numbers:
            numbers.add(reference.number)
            title = collapse_lines(reference.title)
            merges[commit.sha] = CloneMerge(reference.number, title, commit, parents[commit.sha])
    return UpstreamLine(named, tuple(line), merges)


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
