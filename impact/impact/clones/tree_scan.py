"""The scan of a tree on this machine, linked to a clone of upstream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from impact.clones.replay_cache import UpstreamTree
from impact.errors import UsageError
from impact.git.clone_trees import CloneTrees
from impact.profile.file_uses import FileUses, is_scanned, scan_file
from impact.profile.linking import link_profile
from impact.profile.manual import ManualFile, apply_manual
from impact.profile.models import Profile
from impact.profile.scan import build_profile
from impact.profile.upstream.index import UpstreamIndex
from impact.source.models import SourceFile, SourceProblem

# what a tree may hold beside its text, and uses nothing of upstream
_SILENT = frozenset({SourceProblem.BINARY, SourceProblem.SYMLINK, SourceProblem.SUBMODULE, SourceProblem.FOLDER})


@dataclass(frozen=True, slots=True)
class ScanSource:
    """What is scanned: its name, where it is, its commit if it has one, and the packages of upstream."""

    name: str
    place: str
    commit: str
    packages: Sequence[str]


def scan_tree(
    source: ScanSource,
    files: Iterable[SourceFile],
    scanned_at: datetime,
    *,
    upstream: CloneTrees | None = None,
    manual: ManualFile | None = None,
) -> Profile:
    """Return the profile of the files of a tree, linked to the head of a clone if there is one.

    Raises:
        UsageError: the clone has no commits.
    """
    scans = _scan_files(files, source.packages)
    profile = build_profile(source.name, source.place, source.commit, scanned_at, source.packages, scans)
    if upstream is not None:
        profile = link_profile(profile, UpstreamIndex(_open_head(upstream).load_outline))
    return apply_manual(profile, manual) if manual else profile


def _scan_files(files: Iterable[SourceFile], packages: Sequence[str]) -> Iterator[FileUses]:
    for file in files:
        if not is_scanned(file.path) or file.problem in _SILENT:
            continue
        if file.problem:
            yield FileUses(file.path, problem=str(file.problem))
        else:
            yield scan_file(file.path, file.text, packages)


def _open_head(upstream: CloneTrees) -> UpstreamTree:
    line = upstream.list_line()
    if not line:
        raise UsageError("The clone of upstream has no commits: give another one.")
    tree = UpstreamTree(upstream)
    tree.move_to(line[-1].sha)
    return tree
