"""The judgement of merges by the profile of a downstream tree, as a replay makes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from impact.checker.diagnostics import Witness
from impact.clones.clone_contracts import ContractExtractor
from impact.clones.replay_cache import FileCache
from impact.clones.upstream_line import CloneMerge, is_relevant
from impact.contract.models import ContractChange
from impact.git.clone_trees import CloneTrees
from impact.profile.file_uses import scan_file
from impact.profile.linking import link_profile
from impact.profile.models import Use
from impact.profile.scan import build_profile
from impact.profile.scanned import FileUses
from impact.profile.upstream.index import UpstreamIndex
from impact.source.models import SourceFile
from impact.source.trees import BlobVersion
from impact.touches.judgement import judge_merge
from impact.touches.models import MergeTouches, Touch, TouchLevel
from impact.touches.profile_index import ProfileIndex


@dataclass(frozen=True, slots=True)
class DownstreamCommit:
    """A downstream tree: the hash of each file by its path, at a commit of an instant (UTC)."""

    sha: str
    committed_at: datetime
    files: Mapping[str, str]


class ProfileJudge:
    """Judge of upstream merges by downstream trees. What was read of a content is kept."""

    def __init__(self, upstream: CloneTrees, downstream: CloneTrees, name: str, packages: Sequence[str]) -> None:
        self._extractor = ContractExtractor(upstream)
        self._name = name
        self._packages = tuple(packages)
        self._scans = FileCache(downstream, self._scan)

    def build_index(self, downstream: DownstreamCommit, upstream: str) -> ProfileIndex:
        """Return the uses of a downstream tree, linked to what upstream defines at a commit."""
        self._extractor.tree.move_to(upstream)
        versions = [BlobVersion(path, blob) for path, blob in downstream.files.items() if is_relevant(path)]
        profile = build_profile(
            self._name,
            self._name,
            downstream.sha,
            downstream.committed_at,
            self._packages,
            map(self._scans.get_value, versions),
        )
        return ProfileIndex(link_profile(profile, UpstreamIndex(self._extractor.tree.load_outline)))

    def judge(self, merge: CloneMerge, index: ProfileIndex, witness: Witness | None = None) -> MergeTouches:
        """Return what a merge means for a profile. It is the next one on its line, or reading it takes longer."""
        return judge_merge(self._extractor.extract(merge), index, witness)

    def _scan(self, file: SourceFile) -> FileUses:
        if file.problem:
            return FileUses(file.path, problem=str(file.problem))
        return scan_file(file.path, file.text, self._packages)


def list_hit_uses(touches: MergeTouches) -> Iterator[Use]:
    """Yield the uses behind the level BREAKS."""
    for touch in touches.touches:
        if touch.level is TouchLevel.BREAKS:
            yield from touch.uses


def describe_change(change: ContractChange) -> str:
    """Return a change in one line."""
    target = f" -> {change.new_name}" if change.new_name else ""
    return f"{change.kind} {change.subject} {change.name}{target}"


def describe_use(touch: Touch) -> str:
    """Return a use with its place in one line."""
    use = touch.use
    return f"{use.path}:{use.line} {use.kind} {use.name}"
